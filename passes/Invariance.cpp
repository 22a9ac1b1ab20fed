#include "passes/Invariance.h"

#include "dialect/Skim/IndexBounds.h"
#include "passes/MapAnalysis.h"
#include "passes/PatternSlice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using mlir::Operation;
using mlir::Value;

namespace skim {
namespace {

class Analysis {
public:
  explicit Analysis(ir::PatternOp pattern) : pattern(pattern) {}

  ChunkInvariance run();

private:
  void visit(Operation *op);
  void visitReduction(ir::ReduceOp reduce);
  /// `name`, along `axis`, takes in all cells of `map` that there are.
  void visitWholeAxis(Operation *op, llvm::StringRef name, Value map, const std::string &axis);
  void addBlocks(Operation *op);

  void broken(mlir::Location loc, const llvm::Twine &reason) {
    std::string text = reason.str();
    auto known = [&](const InvarianceBreaker &other) {
      return other.loc == loc && other.reason == text;
    };
    if (llvm::none_of(result.breakers, known))
      result.breakers.push_back({loc, std::move(text)});
  }
  void addBlock(int64_t block) {
    if (block > 1 && result.multiple <= ir::kLargestIndex)
      result.multiple = std::lcm(result.multiple, block);
  }

  ir::PatternOp pattern;
  ChunkInvariance result;
};

/// The axis along which selections, `softmax` and `smooth` run.
std::string alongAxis(const ir::Axes &axes) {
  return axes.key != 0 ? ir::keyAxisName(axes.key) : "q - k";
}

} // namespace

void Analysis::visitWholeAxis(Operation *op, llvm::StringRef name, Value map,
                              const std::string &axis) {
  bool decides = llvm::isa<ir::TopKOp, ir::TopPOp>(op);
  if (axesOf(map).query == 0)
    return broken(op->getLoc(),
                  decides
                      ? "'" + name + "' over '" + axis + "' is decided once over the call"
                      : "'" + name + "' over '" + axis + "' takes in all that the call has of it");
  // A noncausal pattern is broken as a whole.
  if (!pattern.getNoncausal() && !isCausal(map))
    broken(op->getLoc(),
           "'" + name + "' over '" + axis + "' takes in keys that a row does not see");
}

void Analysis::visitReduction(ir::ReduceOp reduce) {
  ir::Axes from = axesOf(reduce.getInput()), to = axesOf(reduce.getResult());
  std::string name = ir::stringifyReduceKind(reduce.getKind()).str();
  if (from.query != 0 && to.query == 0)
    return broken(reduce.getLoc(), "'" + name + "' removes the query axis");
  bool joinsAxis = (from.key != 0 && to.key == 0) || (from.diagonal && !to.diagonal);
  if (joinsAxis)
    visitWholeAxis(reduce, name, reduce.getInput(), alongAxis(from));
}

void Analysis::visit(Operation *op) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ir::ReduceOp reduce) { visitReduction(reduce); })
      .Case([&](ir::TopKOp select) {
        visitWholeAxis(op, "top_k", select.getInput(), alongAxis(axesOf(select.getInput())));
      })
      .Case([&](ir::TopPOp select) {
        visitWholeAxis(op, "top_p", select.getInput(), alongAxis(axesOf(select.getInput())));
      })
      .Case([&](ir::SmoothOp smooth) {
        visitWholeAxis(op, "smooth", smooth.getInput(), alongAxis(axesOf(smooth.getInput())));
      })
      .Case([&](ir::SoftmaxOp softmax) {
        ir::Axes axes = axesOf(softmax.getInput());
        if (softmax.getAxis() == ir::PositionAxis::Query)
          broken(op->getLoc(), "'softmax' over '" + ir::queryAxisName(axes.query) +
                                   "' takes in all rows of the call");
        else
          visitWholeAxis(op, "softmax", softmax.getInput(), alongAxis(axes));
      })
      .Case([&](ir::LastOp) { broken(op->getLoc(), "'last' depends on where the call ends"); })
      .Case([&](ir::UniformOp uniform) {
        if (uniform.getKind() == ir::UniformKind::QueryLength ||
            uniform.getKind() == ir::UniformKind::KeyLength)
          broken(op->getLoc(), "mentions '" + ir::stringifyUniformKind(uniform.getKind()) + "'");
      });
}

void Analysis::addBlocks(Operation *op) {
  if (auto rest = llvm::dyn_cast<ir::RestMeanOp>(op)) {
    addBlock(static_cast<int64_t>(rest.getQuery()));
    addBlock(static_cast<int64_t>(rest.getKey()));
  } else if (llvm::isa<ir::InputOp, ir::InputListOp, ir::ReduceOp, ir::CoverOp>(op)) {
    ir::Axes axes = axesOf(op->getResult(0));
    addBlock(axes.query);
    addBlock(axes.key);
  }
}

ChunkInvariance Analysis::run() {
  if (pattern.getNoncausal())
    broken(pattern.getLoc(), "in a 'noncausal' pattern rows see all keys that the call has");
  for (Operation *op : neededOperations(pattern)) {
    visit(op);
    addBlocks(op);
  }
  if (result.multiple > ir::kLargestIndex)
    broken(pattern.getLoc(), "the blocks have no common multiple up to 2^31");
  return std::move(result);
}

ChunkInvariance analyzeChunkInvariance(ir::PatternOp pattern) { return Analysis(pattern).run(); }

} // namespace skim
