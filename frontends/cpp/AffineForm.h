// Index values as quasi-affine expressions of q, k and symbols. For the sources of this folder.
#ifndef SKIM_FRONTENDS_CPP_AFFINEFORM_H
#define SKIM_FRONTENDS_CPP_AFFINEFORM_H

#include "dialect/Skim/IndexBounds.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace skim {

/// A list of distinct symbol values, shared by the expressions that are compared or combined.
using Symbols = llvm::SmallVector<mlir::Value>;

/// `value` as a quasi-affine expression of dimensions (q, k) and `symbols`, to which it appends
/// those that it needs; nothing when it is not one. Arithmetic on uniform values is looked through;
/// what is left is a symbol.
std::optional<mlir::AffineExpr> getAffineForm(mlir::Value value, Symbols &symbols,
                                              ir::IndexBounds &bounds);

/// Whether two expressions, written out, are short enough to be combined.
bool isBearable(mlir::AffineExpr lhs, mlir::AffineExpr rhs);

/// What an index may reach, so that sums of two stay within 64 bits.
inline constexpr double kLargestBound = 0x1p62;

/// Whether `lhs kind rhs` stays within that.
bool fitsIn64Bits(mlir::AffineExprKind kind, mlir::AffineExpr lhs, mlir::AffineExpr rhs,
                  mlir::ValueRange symbols, ir::IndexBounds &bounds);

} // namespace skim

#endif // SKIM_FRONTENDS_CPP_AFFINEFORM_H
