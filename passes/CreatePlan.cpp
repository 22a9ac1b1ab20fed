#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "passes/MapAnalysis.h"
#include "passes/Passes.h"
#include "passes/PatternSlice.h"
#include "passes/ScalarEmitter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSet.h"

namespace skim {
#define GEN_PASS_DEF_CREATEPLAN
#include "passes/Passes.h.inc"

namespace {

using Labels = std::optional<llvm::SmallVector<int64_t>>;

/// The labels that every `match` without default on this selector lists; none when there is no
/// such match.
Labels listedLabels(llvm::function_ref<bool(mlir::Value)> isSelector, ir::PatternOp pattern) {
  Labels listed;
  for (auto match : pattern.getBody().getOps<ir::MatchOp>()) {
    if (match.getOtherwise() || !isSelector(match.getSelector()))
      continue;
    if (!listed)
      listed.emplace(match.getLabels().begin(), match.getLabels().end());
    else
      llvm::erase_if(*listed,
                     [&](int64_t label) { return !llvm::is_contained(match.getLabels(), label); });
  }
  return listed;
}

Labels listedLabels(ir::UniformKind kind, ir::PatternOp pattern) {
  return listedLabels(
      [kind](mlir::Value selector) {
        auto uniform = selector.getDefiningOp<ir::UniformOp>();
        return uniform && uniform.getKind() == kind;
      },
      pattern);
}

/// What a launch may give for a parameter.
struct Bounds {
  std::optional<double> least, most;

  void add(double atLeast, std::optional<double> atMost) {
    least = std::max(least.value_or(atLeast), atLeast);
    if (atMost)
      most = std::min(most.value_or(*atMost), *atMost);
  }
};

/// Rule 15 for shares of `top_p` and thresholds of `skip` that are parameters themselves, as a
/// number of either type.
Bounds boundsOf(mlir::Value parameter) {
  Bounds bounds;
  for (mlir::OpOperand &use : parameter.getUses()) {
    if (auto convert = llvm::dyn_cast<ir::ConvertOp>(use.getOwner())) {
      Bounds converted = boundsOf(convert.getResult());
      if (converted.least)
        bounds.add(*converted.least, converted.most);
    } else if (auto topP = llvm::dyn_cast<ir::TopPOp>(use.getOwner())) {
      if (use.get() == topP.getMass())
        bounds.add(0, 1);
    } else if (llvm::isa<ir::SkipOp>(use.getOwner())) {
      bounds.add(0, std::nullopt);
    }
  }
  return bounds;
}

tile::InputElement elementOf(ir::MapType type) {
  if (type.isBool())
    return tile::InputElement::Bool;
  return type.isIndex() ? tile::InputElement::Index : tile::InputElement::F32;
}

double numberOf(mlir::TypedAttr attribute) {
  if (auto real = llvm::dyn_cast<mlir::FloatAttr>(attribute))
    return real.getValueAsDouble();
  auto integer = llvm::cast<mlir::IntegerAttr>(attribute);
  if (integer.getType().isInteger(1))
    return integer.getValue().isZero() ? 0 : 1;
  return static_cast<double>(integer.getInt());
}

struct CreatePlanPass : impl::CreatePlanBase<CreatePlanPass> {
  void runOnOperation() override {
    llvm::StringSet<> planned;
    for (auto attend : llvm::make_early_inc_range(getOperation().getOps<ir::AttendOp>())) {
      if (!planned.insert(attend.getPattern()).second) {
        attend.emitError("expected one 'skim.attend' of '")
            << attend.getPattern() << "' but got a second";
        return signalPassFailure();
      }
      ir::PatternOp pattern = lookupPattern(attend);
      if (failed(checkHeads(attend, pattern)))
        return signalPassFailure();
      create(attend, pattern);
    }
  }

  /// Rule 14 for selectors that the compiler itself knows.
  mlir::LogicalResult checkHeads(ir::AttendOp attend, ir::PatternOp pattern) {
    for (auto match : pattern.getBody().getOps<ir::MatchOp>()) {
      auto uniform = match.getSelector().getDefiningOp<ir::UniformOp>();
      if (!uniform || match.getOtherwise())
        continue;
      int64_t heads = uniform.getKind() == ir::UniformKind::Head     ? attend.getQueryHeads()
                      : uniform.getKind() == ir::UniformKind::KvHead ? attend.getKvHeads()
                                                                     : 0;
      for (int64_t head = 0; head != heads; ++head)
        if (!llvm::is_contained(match.getLabels(), head))
          return match.emitError("expected an arm for each of the ")
                 << heads << " heads or a '_' arm, but got none for " << head;
    }
    return mlir::success();
  }

  void create(ir::AttendOp attend, ir::PatternOp pattern) {
    mlir::OpBuilder builder(attend);
    auto problem = tile::ProblemAttr::get(
        &getContext(), attend.getQueryHeads(), attend.getKvHeads(), attend.getHeadDim(),
        attend.getValueDim(), attend.getOperand(), attend.getOut());
    mlir::DenseI64ArrayAttr layers;
    if (Labels labels = listedLabels(ir::UniformKind::Layer, pattern))
      layers = builder.getDenseI64ArrayAttr(*labels);
    auto plan = tile::PlanOp::create(
        builder, attend.getLoc(), (attend.getPattern() + "_plan").str(), attend.getPattern(),
        problem, pattern.getNoncausal(), attend.getWritesKept(),
        /*compact_heads=*/tile::HeadKindAttr(), attend.getPageSizeAttr(), layers);
    builder.setInsertionPointToEnd(&plan.getBody().emplaceBlock());
    declareParameters(builder, pattern);
    declareInputs(builder, attend, pattern, plan);
  }

  void declareParameters(mlir::OpBuilder &builder, ir::PatternOp pattern) {
    for (unsigned slot = 0; slot != pattern.getNumParameters(); ++slot) {
      ir::MapType type = pattern.getParameterType(slot);
      mlir::Value parameter = pattern.getParameter(slot);
      mlir::DenseF64ArrayAttr value;
      if (mlir::TypedAttr given = pattern.getParameterDefault(slot))
        value = builder.getDenseF64ArrayAttr({numberOf(given)});
      mlir::DenseI64ArrayAttr allowed;
      if (Labels labels =
              listedLabels([&](mlir::Value selector) { return selector == parameter; }, pattern))
        allowed = builder.getDenseI64ArrayAttr(*labels);
      Bounds bounds = boundsOf(parameter);
      auto bound = [&](std::optional<double> value) {
        return value ? builder.getF64FloatAttr(*value) : mlir::FloatAttr();
      };
      tile::PlanParameterOp::create(
          builder, parameter.getLoc(), builder.getI64IntegerAttr(slot),
          builder.getStringAttr(pattern.getParameterName(slot)),
          type.getAxes().head != ir::HeadAxis::None ? builder.getUnitAttr() : mlir::UnitAttr(),
          mlir::TypeAttr::get(scalarTypeOf(type)), value, allowed, bound(bounds.least),
          bound(bounds.most));
    }
  }

  void declareInputs(mlir::OpBuilder &builder, ir::AttendOp attend, ir::PatternOp pattern,
                     tile::PlanOp plan) {
    llvm::StringSet<> declared;
    int64_t slot = 0;
    auto declare = [&](mlir::Location loc, llvm::Twine name, tile::InputElement element,
                       const ir::Axes &axes) {
      return tile::PlanInputOp::create(builder, loc, slot++, name.str(), element,
                                       headKind(axes.head), axes.query,
                                       axes.diagonal ? 1 : axes.key, axes.diagonal);
    };
    auto declareVectors = [&](ir::InputOp input, int64_t elements, std::optional<int64_t> rows) {
      ir::Axes axes = axesOf(input);
      if (rows)
        axes.key = 1;
      tile::PlanInputOp::create(
          builder, input.getLoc(), builder.getI64IntegerAttr(slot++), input.getNameAttr(),
          tile::InputElementAttr::get(&getContext(), tile::InputElement::Vector),
          tile::HeadKindAttr::get(&getContext(), headKind(axes.head)),
          builder.getI64IntegerAttr(axes.query), builder.getI64IntegerAttr(axes.key),
          mlir::UnitAttr(), builder.getI64IntegerAttr(elements),
          rows ? builder.getI64IntegerAttr(*rows) : mlir::IntegerAttr());
    };
    for (mlir::Operation &op : pattern.getBody().front()) {
      if (auto input = llvm::dyn_cast<ir::InputOp>(op)) {
        auto type = llvm::cast<ir::MapType>(input.getType());
        // A vector that nobody uses may be a weight: how it lies is not known.
        if (isWeight(input) || (type.isVec() && input.use_empty()) ||
            !declared.insert(input.getName()).second)
          continue;
        if (type.isVec())
          declareVectors(input, vectorLength(attend, input), std::nullopt);
        else
          declare(input.getLoc(), input.getName(), elementOf(type), type.getAxes());
      } else if (auto linear = llvm::dyn_cast<ir::LinearOp>(op)) {
        // What it multiplies is declared by here, and tells how long its rows are.
        auto weight = linear.getWeight().getDefiningOp<ir::InputOp>();
        if (declared.insert(weight.getName()).second)
          declareVectors(weight, elementsOf(linear.getInput(), plan), vectorLength(attend, weight));
      } else if (auto list = llvm::dyn_cast<ir::InputListOp>(op)) {
        ir::Axes axes = axesOf(list);
        if (!declared.insert(list.getName()).second)
          continue;
        declare(list.getLoc(), list.getName(), tile::InputElement::List, axes);
        // One count for all of a list's key blocks.
        axes.key = 0;
        axes.diagonal = false;
        declare(list.getLoc(), list.getName() + "_counts", tile::InputElement::ListCounts, axes);
      }
    }
  }

  static int64_t vectorLength(ir::AttendOp attend, ir::InputOp input) {
    if (mlir::DictionaryAttr lengths = attend.getVectorLengthsAttr())
      if (auto length = lengths.getAs<mlir::IntegerAttr>(input.getName()))
        return length.getInt();
    return static_cast<int64_t>(attend.getHeadDim());
  }
};

} // namespace
} // namespace skim
