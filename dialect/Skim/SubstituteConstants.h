// Symbols of affine maps and sets that are constants, repeated or unused. For the operation sources
// of this folder.
#ifndef SKIM_DIALECT_SKIM_SUBSTITUTECONSTANTS_H
#define SKIM_DIALECT_SKIM_SUBSTITUTECONSTANTS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace skim::ir {

/// For each of `symbols` the expression that replaces it: its value when it is a `skim.constant`,
/// else a symbol of the shorter list that is left in `symbols`, in which no value is repeated.
llvm::SmallVector<mlir::AffineExpr>
substituteConstants(mlir::MLIRContext *context, llvm::SmallVectorImpl<mlir::Value> &symbols);

/// Drops from `symbols` those that the map or set does not mention.
mlir::AffineMap dropUnusedSymbols(mlir::AffineMap map, llvm::SmallVectorImpl<mlir::Value> &symbols);
mlir::IntegerSet dropUnusedSymbols(mlir::IntegerSet set,
                                   llvm::SmallVectorImpl<mlir::Value> &symbols);

/// Whether all pairs satisfy the constraints, or none; nothing when it depends.
std::optional<bool> evaluateConstant(mlir::IntegerSet set);

} // namespace skim::ir

#endif // SKIM_DIALECT_SKIM_SUBSTITUTECONSTANTS_H
