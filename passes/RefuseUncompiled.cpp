#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "passes/Passes.h"
#include "passes/PatternSlice.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace skim {
#define GEN_PASS_DEF_REFUSEUNCOMPILED
#include "passes/Passes.h.inc"

namespace {

/// How a pattern writes an operation that is not compiled; empty for one that is.
llvm::StringRef missing(mlir::Operation *op) {
  if (llvm::isa<ir::DotOp>(op))
    return "dot";
  if (llvm::isa<ir::SoftmaxOp>(op))
    return "softmax";
  if (llvm::isa<ir::LinearOp>(op))
    return "linear";
  if (llvm::isa<ir::SmoothOp>(op))
    return "smooth";
  if (llvm::isa<ir::LastOp>(op))
    return "last";
  if (llvm::isa<ir::CompactOp>(op))
    return "compact";
  if (auto cast = llvm::dyn_cast<ir::CastOp>(op))
    return ir::stringifyCastKind(cast.getKind());
  if (auto reduce = llvm::dyn_cast<ir::ReduceOp>(op))
    return ir::stringifyReduceKind(reduce.getKind());
  if (auto operand = llvm::dyn_cast<ir::OperandOp>(op))
    return ir::stringifyOperandKind(operand.getKind());
  if (auto input = llvm::dyn_cast<ir::InputOp>(op))
    if (llvm::cast<ir::MapType>(input.getType()).isVec())
      return input.getName();
  return {};
}

/// Why an operation over distances is not compiled; empty for one that is. Selections have one row
/// of distances from 0 on for all rows of the call.
std::string unservedDistances(mlir::Operation *op, bool noncausal) {
  ir::Axes axes;
  if (auto input = llvm::dyn_cast<ir::InputOp>(op))
    axes = llvm::cast<ir::MapType>(input.getType()).getAxes();
  else if (llvm::isa<ir::TopKOp, ir::TopPOp, ir::InputListOp>(op))
    axes = llvm::cast<ir::SetType>(op->getResult(0).getType()).getAxes();
  if (!axes.diagonal)
    return {};
  if (axes.query != 0)
    return llvm::isa<ir::InputOp>(op) ? "an input over '" + toString(axes) + "'"
                                      : "a selection over 'q - k' for each query block";
  if (noncausal && !llvm::isa<ir::InputOp>(op))
    return "a selection over 'q - k' in a noncausal pattern";
  return {};
}

struct RefuseUncompiledPass : impl::RefuseUncompiledBase<RefuseUncompiledPass> {
  void runOnOperation() override {
    for (auto attend : getOperation().getOps<ir::AttendOp>())
      if (failed(check(lookupPattern(attend))))
        signalPassFailure();
  }

  mlir::LogicalResult check(ir::PatternOp pattern) {
    // One error: the first product says most about a pattern, the operands it starts from least.
    auto weight = [](mlir::Operation *op) {
      return llvm::isa<ir::DotOp>(op) ? 2 : llvm::isa<ir::OperandOp, ir::InputOp>(op) ? 0 : 1;
    };
    mlir::Operation *found = nullptr;
    for (mlir::Operation *op : neededOperations(pattern)) {
      if (std::string distances = unservedDistances(op, pattern.getNoncausal()); !distances.empty())
        return op->emitError("the cpu target does not compile ")
               << distances << " yet; run the pattern with '--device reference'";
      if (!missing(op).empty() && (!found || weight(op) > weight(found)))
        found = op;
    }
    if (found)
      return found->emitError("the cpu target does not compile '")
             << missing(found) << "' yet; run the pattern with '--device reference'";
    return mlir::success();
  }
};

} // namespace
} // namespace skim
