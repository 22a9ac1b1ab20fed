// How large index values can become.
#ifndef SKIM_DIALECT_SKIM_INDEXBOUNDS_H
#define SKIM_DIALECT_SKIM_INDEXBOUNDS_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseMap.h"

namespace skim::ir {

/// The largest magnitude of a position, a length, an entry of an index input or an index
/// parameter, and of a product of two indices neither of which is a constant, which saturates.
inline constexpr int64_t kLargestIndex = int64_t(1) << 31;

/// Upper bounds of |x|, in floating point so that they cannot overflow themselves. Keeps what it
/// found: values must outlive it.
class IndexBounds {
public:
  /// Of a map of index.
  double of(mlir::Value map);
  /// Of an expression of (q, k) and symbols.
  double of(mlir::AffineExpr expr, mlir::ValueRange symbols);

private:
  double ofResult(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, double> known;
};

} // namespace skim::ir

#endif // SKIM_DIALECT_SKIM_INDEXBOUNDS_H
