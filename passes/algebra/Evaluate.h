#ifndef SKIM_PASSES_ALGEBRA_EVALUATE_H
#define SKIM_PASSES_ALGEBRA_EVALUATE_H

#include "passes/algebra/Formula.h"
#include "passes/algebra/TileVisits.h"

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <vector>

namespace skim {

/// Key tiles [begin, end) that are visited alike.
struct Stretch {
  int64_t begin;
  int64_t end;
  /// Some existing row may not see some key: the mask must be applied.
  bool masked;

  bool operator==(const Stretch &) const = default;
};

/// Tells whether a literal (or its negation) holds somewhere on the key tile.
using LiteralOnTile = llvm::function_ref<bool(const LiteralRef &literal, int64_t keyTile)>;

/// The visits of one query tile: what generated code does, in plain C++. Stretches are disjoint,
/// not empty, in visiting order (descending key tiles); neighbours that are visited alike are
/// joined.
std::vector<Stretch> evaluateVisits(const TileVisits &visits, int64_t queryTile,
                                    mlir::ArrayRef<int64_t> symbols, LiteralOnTile literalOnTile);

/// The same for visits without literals.
std::vector<Stretch> evaluateVisits(const TileVisits &visits, int64_t queryTile,
                                    mlir::ArrayRef<int64_t> symbols);

/// Value of a formula at one pair.
bool evaluateFormula(const Formula &formula, int64_t query, int64_t key,
                     mlir::ArrayRef<int64_t> symbols,
                     llvm::function_ref<bool(unsigned literal)> literalHolds);

} // namespace skim

#endif // SKIM_PASSES_ALGEBRA_EVALUATE_H
