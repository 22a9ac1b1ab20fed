#ifndef SKIM_TEST_PASSES_ALGEBRA_TEST_SUPPORT_H
#define SKIM_TEST_PASSES_ALGEBRA_TEST_SUPPORT_H

#include "passes/algebra/Formula.h"
#include "passes/algebra/TileVisits.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace skim::test {

/// Symbols of all formulas of these tests: base, kv_len, then parameters a, b, c.
constexpr FormulaSymbols kSymbols{.count = 5, .base = 0, .kvLength = 1};

/// Parses the constraints of a set, `q - k >= 0, k - a >= 0`, over the symbols above.
Formula affine(mlir::MLIRContext &context, llvm::StringRef constraints);

/// `keep` as it reaches the algebra: causality and length intersected.
Formula causal(mlir::MLIRContext &context, const Formula &keep);
Formula noncausal(mlir::MLIRContext &context, const Formula &keep);

/// The lengths and parameters of one call, as values of kSymbols.
struct Call {
  int64_t queryLength;
  int64_t kvLength;
  int64_t a = 0;
  int64_t b = 0;
  int64_t c = 0;

  int64_t base() const { return kvLength - queryLength; }
  std::vector<int64_t> symbols() const { return {base(), kvLength, a, b, c}; }
};

using SeesPair = llvm::function_ref<bool(int64_t query, int64_t key)>;
using LiteralOnPair =
    llvm::function_ref<bool(const LiteralRef &literal, int64_t query, int64_t key)>;
using LiteralOnTiles =
    llvm::function_ref<bool(const LiteralRef &literal, int64_t queryTile, int64_t keyTile)>;

/// Compares the intervals, tile by tile, with all pairs of the call; query tiles beside the
/// existing ones are included. Returns a description of the first difference, or nothing.
std::string findDifference(const TileVisits &visits, TileShape shape, const Call &call,
                           SeesPair sees, LiteralOnTiles literalOnTiles);
std::string findDifference(const TileVisits &visits, TileShape shape, const Call &call,
                           SeesPair sees);

/// Looks for a seen pair outside the visits, or for a hidden pair on an unmasked tile. Literals
/// vary from pair to pair.
std::string findLoss(const TileVisits &visits, TileShape shape, const Call &call, SeesPair sees,
                     LiteralOnPair literalOnPair);

} // namespace skim::test

#endif // SKIM_TEST_PASSES_ALGEBRA_TEST_SUPPORT_H
