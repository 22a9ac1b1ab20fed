#include "passes/Visits.h"

#include "mlir/IR/Diagnostics.h"

using mlir::failed;
using mlir::failure;
using mlir::FailureOr;
using mlir::Value;

namespace skim {

bool succeedsQuietly(mlir::MLIRContext *context, llvm::function_ref<mlir::LogicalResult()> action) {
  mlir::ScopedDiagnosticHandler quiet(context, [](mlir::Diagnostic &) { return mlir::success(); });
  return succeeded(action());
}

FailureOr<VisitedSet> visitSet(mlir::Location loc, PatternFormula &formulas, Value set,
                               TileShape shape) {
  FailureOr<Formula> formula = formulas.convert(set);
  if (failed(formula))
    return failure();
  auto visit = [&](const Formula &whole) -> FailureOr<TileVisits> {
    return computeTileVisits(loc, formulas.visible(whole), shape, formulas.symbols());
  };
  std::optional<TileVisits> visits;
  if (succeedsQuietly(loc.getContext(), [&] {
        FailureOr<TileVisits> found = visit(*formula);
        if (succeeded(found))
          visits = std::move(*found);
        return found;
      }))
    return VisitedSet{formulas.causal(*formula), std::move(*visits), false};
  Formula literal = formulas.literalFor(set);
  FailureOr<TileVisits> every = visit(literal);
  if (failed(every))
    return failure();
  return VisitedSet{formulas.causal(literal), std::move(*every), true};
}

} // namespace skim
