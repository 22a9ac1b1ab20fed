#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "passes/Passes.h"
#include "passes/PatternSlice.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace skim {
#define GEN_PASS_DEF_CHOOSESCHEDULE
#include "passes/Passes.h.inc"

namespace {

/// The first size that most of the blocks divide or are divided by.
int64_t chooseSize(llvm::ArrayRef<int64_t> blocks) {
  int64_t best = 0, bestFit = -1;
  for (int64_t size : {64, 96, 80, 48, 32}) {
    int64_t fit = llvm::count_if(
        blocks, [size](int64_t block) { return size % block == 0 || block % size == 0; });
    if (fit > bestFit) {
      best = size;
      bestFit = fit;
    }
  }
  return best;
}

/// Sizes of the blocks of a pattern along either axis.
struct Blocks {
  llvm::SmallVector<int64_t> rows, keys;
};
Blocks blocksOf(ir::PatternOp pattern) {
  Blocks blocks;
  for (mlir::Operation *op : neededOperations(pattern)) {
    if (auto rest = llvm::dyn_cast<ir::RestMeanOp>(op)) {
      blocks.rows.push_back(rest.getQuery());
      blocks.keys.push_back(rest.getKey());
    }
    for (mlir::Type type : op->getResultTypes())
      if (auto set = llvm::dyn_cast<ir::SetType>(type)) {
        if (set.getAxes().query > 1)
          blocks.rows.push_back(set.getAxes().query);
        if (set.getAxes().key > 1)
          blocks.keys.push_back(set.getAxes().key);
      }
  }
  return blocks;
}

tile::ScheduleAttr scheduleForCpu(mlir::MLIRContext *context, const Blocks &blocks) {
  return tile::ScheduleAttr::get(context, chooseSize(blocks.rows), chooseSize(blocks.keys),
                                 /*stages=*/1, /*consumers=*/1);
}

tile::ScheduleAttr scheduleForHopper(mlir::MLIRContext *context, const Blocks &blocks,
                                     int64_t largestDim) {
  auto allMultiplesOf = [](llvm::ArrayRef<int64_t> sizes, int64_t size) {
    return llvm::all_of(sizes, [size](int64_t block) { return block % size == 0; });
  };
  if (largestDim <= 128 && allMultiplesOf(blocks.rows, 192))
    return tile::ScheduleAttr::get(context, 192, 64, /*stages=*/2, /*consumers=*/3);
  bool wide = largestDim <= 128 && allMultiplesOf(blocks.keys, 128);
  return tile::ScheduleAttr::get(context, 128, wide ? 128 : 64, /*stages=*/2, /*consumers=*/2);
}

struct ChooseSchedulePass : impl::ChooseScheduleBase<ChooseSchedulePass> {
  using ChooseScheduleBase::ChooseScheduleBase;

  void runOnOperation() override {
    for (auto attend : getOperation().getOps<ir::AttendOp>()) {
      if (attend->hasAttr(kScheduleAttr))
        continue;
      Blocks blocks = blocksOf(lookupPattern(attend));
      auto largestDim = std::max<int64_t>(attend.getHeadDim(), attend.getValueDim());
      attend->setAttr(kScheduleAttr, target == "sm_90a"
                                         ? scheduleForHopper(&getContext(), blocks, largestDim)
                                         : scheduleForCpu(&getContext(), blocks));
    }
  }
};

} // namespace
} // namespace skim
