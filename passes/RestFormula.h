// Which block means enter a row's softmax (rule 11).
#ifndef SKIM_PASSES_RESTFORMULA_H
#define SKIM_PASSES_RESTFORMULA_H

#include "dialect/Skim/SkimOps.h"
#include "passes/PatternFormula.h"

namespace skim {

/// What `skim-plan-rest` notes on `skim.rest_mean`: the slots of the buffers of block means and,
/// where there is one, of the bytes of blocks that hold a kept pair.
inline constexpr llvm::StringLiteral kPooledKeysAttr = "tile.pooled_keys";
inline constexpr llvm::StringLiteral kPooledValuesAttr = "tile.pooled_values";
inline constexpr llvm::StringLiteral kCoveredAttr = "tile.covered";
/// What `skim-choose-schedule` notes on it: the element type of block means. f32 where it is
/// absent; products of sm_90a take no other than that of the operands.
inline constexpr llvm::StringLiteral kMeanTypeAttr = "tile.mean_type";

/// The entries of `rest` beside the set `kept`, over the query position and the number of a block
/// of keys in place of the key position. Says nothing about rows and blocks that do not exist.
mlir::FailureOr<Formula> restEntries(PatternFormula &formulas, ir::RestMeanOp rest,
                                     mlir::Value kept);

/// Their tiles, in closed form.
mlir::FailureOr<TileVisits> restVisits(PatternFormula &formulas, ir::RestMeanOp rest,
                                       const Formula &entries, TileShape shape);

} // namespace skim

#endif // SKIM_PASSES_RESTFORMULA_H
