// What the clauses of a pattern need.
#ifndef SKIM_PASSES_PATTERNSLICE_H
#define SKIM_PASSES_PATTERNSLICE_H

#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"
#include "passes/algebra/TileVisits.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"

namespace skim {

/// The operations that the clauses of a pattern reach, and the clauses, in order.
llvm::SmallVector<mlir::Operation *> neededOperations(ir::PatternOp pattern);

/// The covers that `set` is made of, except those inside other covers, in order.
llvm::SmallVector<ir::CoverOp> coversWithin(mlir::Value set);

/// The pattern that `attend` names, which its verifier found.
ir::PatternOp lookupPattern(ir::AttendOp attend);

/// The launch plan that `skim-create-plan` made for `attend`; fails with a diagnostic without one.
mlir::FailureOr<tile::PlanOp> lookupPlan(ir::AttendOp attend);

/// The tile shape that `skim-choose-schedule` wrote on `attend`, or 64 by 64.
TileShape scheduleOf(ir::AttendOp attend);

} // namespace skim

#endif // SKIM_PASSES_PATTERNSLICE_H
