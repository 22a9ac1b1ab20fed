#include "passes/Visits.h"

#include "mlir/IR/Diagnostics.h"

using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::Value;

namespace skim {

bool succeedsQuietly(mlir::MLIRContext *context, llvm::function_ref<mlir::LogicalResult()> action,
                     std::string *reason) {
  mlir::ScopedDiagnosticHandler quiet(context, [&](mlir::Diagnostic &diagnostic) {
    if (reason && reason->empty())
      *reason = diagnostic.str();
    return mlir::success();
  });
  return succeeded(action());
}

void warnOfFallback(mlir::Location loc, llvm::StringRef consequence, llvm::StringRef reason) {
  mlir::InFlightDiagnostic warning = mlir::emitWarning(loc) << consequence;
  if (!reason.empty())
    warning.attachNote(loc) << reason;
}

FailureOr<VisitedSet> visitSet(mlir::Location loc, PatternFormula &formulas, Value set,
                               TileShape shape, bool warns) {
  FailureOr<Formula> formula = formulas.convert(set);
  if (failed(formula))
    return failure();
  auto visit = [&](const Formula &whole) -> FailureOr<TileVisits> {
    return computeTileVisits(loc, formulas.visible(whole), shape, formulas.symbols());
  };
  std::optional<TileVisits> visits;
  std::string reason;
  auto find = [&]() -> mlir::LogicalResult {
    FailureOr<TileVisits> found = visit(*formula);
    if (succeeded(found))
      visits = std::move(*found);
    return found;
  };
  if (succeedsQuietly(loc.getContext(), find, &reason))
    return VisitedSet{formulas.causal(*formula), std::move(*visits), false};
  if (warns)
    warnOfFallback(loc,
                   "the set has no closed form of bearable size; each visible pair is tested, at a "
                   "cost that grows with the square of the length",
                   reason);
  Formula literal = formulas.literalFor(set);
  FailureOr<TileVisits> every = visit(literal);
  if (failed(every))
    return failure();
  return VisitedSet{formulas.causal(literal), std::move(*every), true};
}

} // namespace skim
