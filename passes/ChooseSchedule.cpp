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

struct ChooseSchedulePass : impl::ChooseScheduleBase<ChooseSchedulePass> {
  void runOnOperation() override {
    for (auto attend : getOperation().getOps<ir::AttendOp>()) {
      if (attend->hasAttr(kScheduleAttr))
        continue;
      llvm::SmallVector<int64_t> rows, keys;
      for (mlir::Operation *op : neededOperations(lookupPattern(attend))) {
        if (auto rest = llvm::dyn_cast<ir::RestMeanOp>(op)) {
          rows.push_back(rest.getQuery());
          keys.push_back(rest.getKey());
        }
        for (mlir::Type type : op->getResultTypes())
          if (auto set = llvm::dyn_cast<ir::SetType>(type)) {
            if (set.getAxes().query > 1)
              rows.push_back(set.getAxes().query);
            if (set.getAxes().key > 1)
              keys.push_back(set.getAxes().key);
          }
      }
      attend->setAttr(kScheduleAttr,
                      tile::ScheduleAttr::get(&getContext(), chooseSize(rows), chooseSize(keys),
                                              /*stages=*/1, /*consumers=*/1));
    }
  }
};

} // namespace
} // namespace skim
