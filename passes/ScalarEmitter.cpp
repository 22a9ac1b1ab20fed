#include "passes/ScalarEmitter.h"

#include "passes/MapAnalysis.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace arith = mlir::arith;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

namespace skim {
namespace {

Value constantIndex(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value truth(OpBuilder &builder, Location loc, const Scalar &scalar) {
  return both(builder, loc, scalar.value, scalar.defined);
}

arith::CmpIPredicate integerPredicate(ir::Comparison comparison) {
  switch (comparison) {
  case ir::Comparison::Lt:
    return arith::CmpIPredicate::slt;
  case ir::Comparison::Le:
    return arith::CmpIPredicate::sle;
  case ir::Comparison::Gt:
    return arith::CmpIPredicate::sgt;
  case ir::Comparison::Ge:
    return arith::CmpIPredicate::sge;
  case ir::Comparison::Eq:
    return arith::CmpIPredicate::eq;
  case ir::Comparison::Ne:
    return arith::CmpIPredicate::ne;
  }
  return arith::CmpIPredicate::eq;
}

/// Ordered: false where a side is NaN (rule 3).
arith::CmpFPredicate floatPredicate(ir::Comparison comparison) {
  switch (comparison) {
  case ir::Comparison::Lt:
    return arith::CmpFPredicate::OLT;
  case ir::Comparison::Le:
    return arith::CmpFPredicate::OLE;
  case ir::Comparison::Gt:
    return arith::CmpFPredicate::OGT;
  case ir::Comparison::Ge:
    return arith::CmpFPredicate::OGE;
  case ir::Comparison::Eq:
    return arith::CmpFPredicate::OEQ;
  case ir::Comparison::Ne:
    return arith::CmpFPredicate::ONE;
  }
  return arith::CmpFPredicate::OEQ;
}

} // namespace

mlir::Type scalarTypeOf(ir::MapType map) {
  mlir::Builder builder(map.getContext());
  if (map.isIndex())
    return builder.getIndexType();
  return map.isF32() ? mlir::Type(builder.getF32Type()) : mlir::Type(builder.getI1Type());
}

std::array<Value, 2> positionsOf(ScalarEmitter::Place &place, Location loc) {
  if (place.query)
    return {place.query, place.key};
  Value zero = constantIndex(place.builder, loc, 0);
  return {zero, zero};
}

tile::HeadKind headKind(ir::HeadAxis head) {
  switch (head) {
  case ir::HeadAxis::None:
    return tile::HeadKind::None;
  case ir::HeadAxis::KvHead:
    return tile::HeadKind::Kv;
  case ir::HeadAxis::Head:
    return tile::HeadKind::Query;
  }
  return tile::HeadKind::None;
}

Value both(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!a || !b || a == b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}

std::optional<int64_t> constantIndexOf(Value map) {
  if (auto constant = map.getDefiningOp<ir::ConstantOp>())
    if (auto integer = llvm::dyn_cast<mlir::IntegerAttr>(constant.getValue()))
      return integer.getInt();
  return std::nullopt;
}

bool mayBeUndefined(Value map) {
  llvm::SetVector<mlir::Operation *> reached;
  auto reach = [&](Value value) {
    if (mlir::Operation *op = value.getDefiningOp())
      reached.insert(op);
  };
  reach(map);
  for (size_t next = 0; next != reached.size(); ++next) {
    mlir::Operation *op = reached[next];
    if (llvm::isa<ir::WhereOp, ir::LastOp, tile::StoredMapOp>(op))
      return true;
    if (llvm::isa<ir::DivOp, ir::ModOp>(op) &&
        llvm::cast<ir::MapType>(op->getResult(0).getType()).isIndex() &&
        constantIndexOf(op->getOperand(1)).value_or(0) <= 0)
      return true;
    llvm::for_each(op->getOperands(), reach);
  }
  return false;
}

Scalar ScalarEmitter::uniform(Value source) {
  if (auto known = uniforms.find(source); known != uniforms.end())
    return known->second;
  Scalar scalar;
  if (auto parameter = llvm::dyn_cast<mlir::BlockArgument>(source)) {
    scalar = emitParameter(parameter);
  } else {
    Place place(itemBuilder, {}, {});
    scalar = emitOperation(source.getDefiningOp(), place);
  }
  uniforms[source] = scalar;
  return scalar;
}

Scalar ScalarEmitter::emit(Value source, Place &place) {
  auto map = llvm::dyn_cast<ir::MapType>(source.getType());
  if (!axesOf(source).hasPositions() && !(map && map.isVec()))
    return uniform(source);
  if (auto known = place.known.find(source); known != place.known.end())
    return known->second;
  Value panel = panels.lookup(source);
  Scalar scalar =
      panel ? emitPanel(source, panel, place) : emitOperation(source.getDefiningOp(), place);
  place.known[source] = scalar;
  return scalar;
}

Value ScalarEmitter::holds(Value set, Place &place) {
  return truth(place.builder, set.getLoc(), emit(set, place));
}

Scalar ScalarEmitter::emitOperation(mlir::Operation *op, Place &place) {
  OpBuilder &builder = place.builder;
  Location loc = op->getLoc();
  return llvm::TypeSwitch<mlir::Operation *, Scalar>(op)
      .Case([&](ir::ConstantOp constant) { return emitConstant(constant, builder); })
      .Case([&](ir::UniformOp uniform) { return emitUniform(uniform); })
      .Case([&](ir::InputOp input) { return emitInput(input, place); })
      .Case([&](ir::PositionOp position) { return emitPosition(position, place); })
      .Case([&](ir::ScoreOp) { return Scalar{place.score, {}}; })
      .Case([&](ir::AffineSetOp set) { return emitAffineSet(set, place); })
      .Case([&](tile::StoredSetOp set) { return emitStoredSet(set, place); })
      .Case([&](tile::StoredMapOp map) { return emitStoredMap(map, place); })
      .Case([&](ir::OperandOp operand) { return emitOperand(operand, place); })
      .Case([&](ir::LastOp last) { return emitLast(last, place); })
      .Case([&](ir::CastOp cast) { return emitCast(cast, place); })
      .Case([&](ir::DotOp dot) { return emitDot(dot, place); })
      .Case([&](ir::LinearOp linear) { return emitLinear(linear, place); })
      .Case([&](ir::ReduceOp reduce) { return emitReduction(reduce, place); })
      .Case([&](ir::SmoothOp smooth) { return emitSmooth(smooth, place); })
      .Case([&](ir::CompareOp compare) { return emitCompare(compare, place); })
      .Case([&](ir::MatchOp match) { return emitMatch(match, place); })
      .Case([&](ir::AsSetOp set) {
        return Scalar{truth(builder, loc, emit(set.getInput(), place)), {}};
      })
      .Case([&](ir::NotOp complement) {
        Value truthValue = arith::ConstantIntOp::create(builder, loc, 1, 1);
        return Scalar{
            arith::XOrIOp::create(builder, loc, holds(complement.getSet(), place), truthValue), {}};
      })
      .Case<ir::AndOp, ir::OrOp>([&](auto) {
        Value result;
        for (Value set : op->getOperands()) {
          Value next = holds(set, place);
          if (!result)
            result = next;
          else if (llvm::isa<ir::AndOp>(op))
            result = arith::AndIOp::create(builder, loc, result, next);
          else
            result = arith::OrIOp::create(builder, loc, result, next);
        }
        return Scalar{result, {}};
      })
      .Case([&](ir::WhereOp where) {
        Scalar input = emit(where.getInput(), place);
        return Scalar{input.value, both(builder, loc, input.defined, holds(where.getSet(), place))};
      })
      .Default([&](mlir::Operation *) { return emitArithmetic(op, place); });
}

Scalar ScalarEmitter::emitParameter(mlir::BlockArgument parameter) {
  auto type = llvm::cast<ir::MapType>(parameter.getType());
  bool perHead = type.getAxes().head != ir::HeadAxis::None;
  return {tile::ParameterOp::create(itemBuilder, parameter.getLoc(), scalarTypeOf(type),
                                    parameter.getArgNumber(), perHead, item),
          {}};
}

Scalar ScalarEmitter::emitConstant(ir::ConstantOp constant, OpBuilder &builder) {
  mlir::TypedAttr value = constant.getValue();
  return {arith::ConstantOp::create(builder, constant.getLoc(), value), {}};
}

Scalar ScalarEmitter::emitUniform(ir::UniformOp uniform) {
  auto kind = [&] {
    switch (uniform.getKind()) {
    case ir::UniformKind::QueryLength:
      return tile::UniformKind::QLen;
    case ir::UniformKind::KeyLength:
      return tile::UniformKind::KvLen;
    case ir::UniformKind::Layer:
      return tile::UniformKind::Layer;
    case ir::UniformKind::Head:
      return tile::UniformKind::Head;
    case ir::UniformKind::KvHead:
      return tile::UniformKind::KvHead;
    }
    return tile::UniformKind::KvLen;
  }();
  return {tile::UniformOp::create(itemBuilder, uniform.getLoc(), itemBuilder.getIndexType(), kind,
                                  item),
          {}};
}

Scalar ScalarEmitter::emitInput(ir::InputOp input, Place &place) {
  OpBuilder &builder = place.builder;
  Location loc = input.getLoc();
  auto type = llvm::cast<ir::MapType>(input.getType());
  ir::Axes axes = type.getAxes();
  auto [query, key] = positionsOf(place, loc);
  Value value = tile::LoadCellOp::create(
      builder, loc, type.isVec() ? builder.getF32Type() : scalarTypeOf(type), tile::Space::Input,
      plan.getInput(input.getName()).getSlot(), headKind(axes.head), axes.query,
      axes.diagonal ? 1 : axes.key, axes.diagonal, /*noncausal=*/false, query, key,
      type.isVec() ? place.element : Value(), item);
  return {value, place.checksExistence ? existence(axes, loc, place) : Value()};
}

/// Rule 2: some pair of the cell is visible, that is, the cell's last row sees its first key.
Value ScalarEmitter::existence(ir::Axes axes, Location loc, Place &place) {
  if (pattern.getNoncausal() || (axes.query == 0 && !axes.diagonal))
    return {};
  OpBuilder &builder = place.builder;
  if (axes.diagonal)
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, place.query, place.key);
  Value kvLength =
      tile::UniformOp::create(builder, loc, builder.getIndexType(), tile::UniformKind::KvLen, item);
  mlir::AffineExpr q = builder.getAffineDimExpr(0), k = builder.getAffineDimExpr(1);
  mlir::AffineExpr length = builder.getAffineSymbolExpr(0);
  mlir::AffineExpr firstKey =
      axes.key ? k.floorDiv(axes.key) * axes.key : builder.getAffineConstantExpr(0);
  mlir::AffineExpr endRow = q.floorDiv(axes.query) * axes.query + axes.query;
  auto visible =
      mlir::IntegerSet::get(2, 1, {endRow - 1 - firstKey, length - 1 - firstKey}, {false, false});
  return tile::ContainsOp::create(builder, loc, visible, mlir::ValueRange{place.query, place.key},
                                  kvLength);
}

Scalar ScalarEmitter::emitPosition(ir::PositionOp position, Place &place) {
  llvm::SmallVector<Value> symbols;
  Value defined;
  for (Value symbol : position.getSymbols()) {
    Scalar scalar = uniform(symbol);
    symbols.push_back(scalar.value);
    defined = both(place.builder, position.getLoc(), defined, scalar.defined);
  }
  auto dims = positionsOf(place, position.getLoc());
  return {mlir::affine::expandAffineExpr(place.builder, position.getLoc(),
                                         position.getMap().getResult(0), dims, symbols),
          defined};
}

Scalar ScalarEmitter::emitAffineSet(ir::AffineSetOp set, Place &place) {
  OpBuilder &builder = place.builder;
  Location loc = set.getLoc();
  llvm::SmallVector<Value> symbols;
  Value defined;
  for (Value symbol : set.getSymbols()) {
    Scalar scalar = uniform(symbol);
    symbols.push_back(scalar.value);
    defined = both(builder, loc, defined, scalar.defined);
  }
  auto dims = positionsOf(place, loc);
  Value contains = tile::ContainsOp::create(builder, loc, set.getSet(), dims, symbols);
  return {both(builder, loc, contains, defined), {}};
}

Scalar ScalarEmitter::emitStoredSet(tile::StoredSetOp set, Place &place) {
  ir::Axes axes = axesOf(set);
  OpBuilder &builder = place.builder;
  auto [query, key] = positionsOf(place, set.getLoc());
  return {tile::LoadCellOp::create(builder, set.getLoc(), builder.getI1Type(), tile::Space::Buffer,
                                   set.getSlot(), headKind(axes.head), axes.query,
                                   axes.diagonal ? 1 : axes.key, axes.diagonal,
                                   axes.diagonal && pattern.getNoncausal(), query, key,
                                   /*element=*/Value(), item),
          {}};
}

Scalar ScalarEmitter::emitCompare(ir::CompareOp compare, Place &place) {
  OpBuilder &builder = place.builder;
  Location loc = compare.getLoc();
  Scalar lhs = emit(compare.getLhs(), place), rhs = emit(compare.getRhs(), place);
  Value result;
  if (llvm::isa<mlir::FloatType>(lhs.value.getType()))
    result = arith::CmpFOp::create(builder, loc, floatPredicate(compare.getPredicate()), lhs.value,
                                   rhs.value);
  else
    result = arith::CmpIOp::create(builder, loc, integerPredicate(compare.getPredicate()),
                                   lhs.value, rhs.value);
  return {both(builder, loc, both(builder, loc, result, lhs.defined), rhs.defined), {}};
}

Scalar ScalarEmitter::emitMatch(ir::MatchOp match, Place &place) {
  OpBuilder &builder = place.builder;
  Location loc = match.getLoc();
  Scalar selector = uniform(match.getSelector());
  Value result = match.getOtherwise() ? holds(match.getOtherwise(), place)
                                      : Value(arith::ConstantIntOp::create(builder, loc, 0, 1));
  for (auto [label, arm] : llvm::zip_equal(match.getLabels(), match.getArms())) {
    Value equal = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, selector.value,
                                        constantIndex(builder, loc, label));
    equal = both(builder, loc, equal, selector.defined);
    result = arith::SelectOp::create(builder, loc, equal, holds(arm, place), result);
  }
  return {result, {}};
}

} // namespace skim
