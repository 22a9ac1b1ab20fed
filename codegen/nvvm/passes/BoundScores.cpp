// A buffer of key norms for attention programs whose scores they bound.
#include "codegen/nvvm/HopperOps.h"
#include "codegen/nvvm/KernelFunction.h"
#include "codegen/nvvm/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace skim::nvvm {
#define GEN_PASS_DEF_BOUNDSCORES
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

/// Beside wider accumulators there are no registers left for the bound, and it gained nothing
/// there.
static constexpr int64_t kWidestValues = 192;

/// Whether all scores are products of queries and keys of bf16.
static bool scoresAreProducts(tile::ProgramOp program) {
  bool changed = false;
  program.walk([&](tile::MapScoresOp) { changed = true; });
  program.walk([&](tile::ForEachVisitOp visits) { changed |= visits.getSource().getPooled(); });
  tile::ProblemAttr problem = program.getProblem();
  return isAttention(program) && problem.getOperand().isBF16() &&
         problem.getValueDim() <= kWidestValues && !changed;
}

namespace {

struct BoundScoresPass : skim::nvvm::impl::BoundScoresBase<BoundScoresPass> {
  void runOnOperation() override {
    for (auto plan : getOperation().getOps<tile::PlanOp>())
      for (auto launch : llvm::to_vector(plan.getBody().getOps<tile::LaunchOp>())) {
        auto program =
            SymbolTable::lookupNearestSymbolFrom<tile::ProgramOp>(plan, launch.getProgramAttr());
        if (!program || !scoresAreProducts(program))
          continue;
        Builder builder(&getContext());
        // [requests, KV heads, 1, 1]
        AffineExpr requests = builder.getAffineSymbolExpr(0),
                   one = builder.getAffineConstantExpr(1);
        AffineExpr heads = builder.getAffineConstantExpr(program.getProblem().getKvHeads());
        auto extents = AffineMap::get(0, 3, {requests, heads, one, one}, &getContext());
        tile::BufferOp norms = plan.addBuffer(program.getLoc(), "key_norms", builder.getF32Type(),
                                              /*cellElements=*/1, extents, /*zeroed=*/true);
        program->setAttr(kKeyNormsAttr,
                         builder.getI64IntegerAttr(static_cast<int64_t>(norms.getSlot())));
      }
  }
};

} // namespace
