// Source ranges as MLIR locations and back, so that errors of the builder, of verifiers and of
// passes are shown with the line of the pattern that caused them.
#ifndef SKIM_FRONTENDS_TEXT_LOCATIONS_H
#define SKIM_FRONTENDS_TEXT_LOCATIONS_H

#include "frontends/text/Diagnostics.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

namespace skim::text {

/// `range` as a file, line and column range of MLIR; unknown when it lies in no buffer of
/// `diagnostics`.
mlir::Location locationOf(llvm::SMRange range, mlir::MLIRContext &context,
                          const Diagnostics &diagnostics);

/// The first range inside `location` that lies in a buffer of `diagnostics`; invalid when none.
llvm::SMRange rangeOf(mlir::Location location, const Diagnostics &diagnostics);

/// While it lives, diagnostics that MLIR code emits in `context` go to `diagnostics`, those about
/// a called pattern with a note for each call.
class DiagnosticsFromMlir : public mlir::ScopedDiagnosticHandler {
public:
  DiagnosticsFromMlir(mlir::MLIRContext &context, Diagnostics &diagnostics);
};

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_LOCATIONS_H
