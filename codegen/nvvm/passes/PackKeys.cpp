// Buffers of bits for inputs in which attention programs search for keys.
#include "codegen/nvvm/HopperOps.h"
#include "codegen/nvvm/KernelFunction.h"
#include "codegen/nvvm/PackedKeys.h"
#include "codegen/nvvm/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace skim::nvvm {
#define GEN_PASS_DEF_PACKKEYS
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

/// The search loads the bits of every packed input a step ahead, and has registers for so many.
static constexpr size_t kMostPacked = 2;

static int64_t headsOf(tile::ProblemAttr problem, tile::HeadKind kind) {
  switch (kind) {
  case tile::HeadKind::Query:
    return problem.getQueryHeads();
  case tile::HeadKind::Kv:
    return problem.getKvHeads();
  case tile::HeadKind::None:
    break;
  }
  return 1;
}

static tile::BufferOp addBits(tile::PlanOp plan, tile::ProgramOp program, tile::HeadKind head) {
  Builder builder(plan.getContext());
  // [requests, heads, 1, blocks of keys]
  AffineExpr requests = builder.getAffineSymbolExpr(0);
  AffineExpr blocks = builder.getAffineSymbolExpr(2).ceilDiv(kPackedKeys);
  AffineExpr heads = builder.getAffineConstantExpr(headsOf(program.getProblem(), head));
  AffineExpr one = builder.getAffineConstantExpr(1);
  auto extents = AffineMap::get(0, 3, {requests, heads, one, blocks}, plan.getContext());
  return plan.addBuffer(program.getLoc(), "packed_keys",
                        builder.getIntegerType(8, /*isSigned=*/false),
                        /*cellElements=*/kPackedKeys / 8, extents, /*zeroed=*/false);
}

static void packKeys(tile::PlanOp plan, tile::ProgramOp program) {
  llvm::SmallMapVector<uint64_t, uint64_t, 4> buffers; // by input
  program.walk([&](tile::ForEachVisitOp visits) {
    if (visits.getSource().getPooled())
      return;
    for (Value value : visits.getLiterals()) {
      auto literal = value.getDefiningOp<tile::LiteralOp>();
      auto load =
          literal ? byteOfKey(literal, program.getSchedule().getRows()) : tile::LoadCellOp();
      // Bits are those of all rows.
      if (!load || load.getSpace() != tile::Space::Input || load.getQueryCell() != 0)
        continue;
      if (!buffers.contains(load.getSlot())) {
        if (buffers.size() == kMostPacked)
          continue;
        buffers[load.getSlot()] = addBits(plan, program, load.getHead()).getSlot();
      }
      load->setAttr(kPackedKeysAttr,
                    Builder(plan.getContext())
                        .getI64IntegerAttr(static_cast<int64_t>(buffers[load.getSlot()])));
    }
  });
}

namespace {

struct PackKeysPass : skim::nvvm::impl::PackKeysBase<PackKeysPass> {
  void runOnOperation() override {
    for (auto plan : getOperation().getOps<tile::PlanOp>())
      for (auto launch : llvm::to_vector(plan.getBody().getOps<tile::LaunchOp>())) {
        auto program =
            SymbolTable::lookupNearestSymbolFrom<tile::ProgramOp>(plan, launch.getProgramAttr());
        if (program && isAttention(program) && program.getSchedule().getGatherKeys())
          packKeys(plan, program);
      }
  }
};

} // namespace
