// What the clauses of a pattern need.
#ifndef SKIM_PASSES_PATTERNSLICE_H
#define SKIM_PASSES_PATTERNSLICE_H

#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "passes/algebra/TileVisits.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

namespace skim {

/// The attribute of a `skim.attend` that holds the schedule of its attention program.
inline constexpr llvm::StringLiteral kScheduleAttr = "tile.schedule";
/// The attribute of a `skim.attend` whose attention program has work items of KV heads: a tile
/// holds the rows of all query heads of a group, which the pattern must treat alike.
inline constexpr llvm::StringLiteral kPacksHeadsAttr = "tile.packs_heads";

/// The operations that the clauses of a pattern reach, and the clauses, in order.
llvm::SmallVector<mlir::Operation *> neededOperations(ir::PatternOp pattern);

/// The covers that `set` is made of, except those inside other covers and those that are decided
/// row by row, in order.
llvm::SmallVector<ir::CoverOp> coversWithin(mlir::Value set);

/// The pattern that `attend` names, which its verifier found.
ir::PatternOp lookupPattern(ir::AttendOp attend);

/// What stages after `skim-create-plan` and `skim-choose-schedule` plan.
struct PlannedPattern {
  ir::PatternOp pattern;
  tile::PlanOp plan;
  tile::ScheduleAttr schedule; ///< of the attention program
  bool packsHeads;             ///< its work items are KV heads

  TileShape shape() { return {schedule.getRows(), schedule.getKeys()}; }
};

/// The pattern, plan and schedule of `attend`; fails with a diagnostic that names the pass that
/// is missing.
mlir::FailureOr<PlannedPattern> lookupPlanned(ir::AttendOp attend);

} // namespace skim

#endif // SKIM_PASSES_PATTERNSLICE_H
