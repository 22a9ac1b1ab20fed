#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "passes/Passes.h"
#include "passes/PatternSlice.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseSet.h"

namespace skim {
#define GEN_PASS_DEF_MERGEEQUAL
#include "passes/Passes.h.inc"

namespace {

using mlir::OperationEquivalence;

/// Operations are equal when they do the same to the same operands, wherever they were written.
struct SameValue : llvm::DenseMapInfo<mlir::Operation *> {
  static unsigned getHashValue(mlir::Operation *op) {
    return OperationEquivalence::computeHash(op, OperationEquivalence::directHashValue,
                                             OperationEquivalence::ignoreHashValue,
                                             OperationEquivalence::IgnoreLocations);
  }
  static bool isEqual(mlir::Operation *a, mlir::Operation *b) {
    auto isKey = [](mlir::Operation *op) { return op == getEmptyKey() || op == getTombstoneKey(); };
    if (a == b || isKey(a) || isKey(b))
      return a == b;
    return OperationEquivalence::isEquivalentTo(a, b, OperationEquivalence::IgnoreLocations);
  }
};

struct MergeEqualPass : impl::MergeEqualBase<MergeEqualPass> {
  void runOnOperation() override {
    for (auto attend : getOperation().getOps<ir::AttendOp>())
      merge(lookupPattern(attend));
  }

  static void merge(ir::PatternOp pattern) {
    llvm::DenseSet<mlir::Operation *, SameValue> seen;
    for (mlir::Operation &op : llvm::make_early_inc_range(pattern.getBody().front())) {
      if (op.getNumResults() == 0)
        continue;
      auto [first, isNew] = seen.insert(&op);
      if (isNew)
        continue;
      op.replaceAllUsesWith(*first);
      op.erase();
    }
  }
};

} // namespace
} // namespace skim
