// From syntax tree to `skim` IR: names are looked up, parameters given their values, calls of
// other patterns replaced by what they keep. The C++ builder checks the types.
#ifndef SKIM_FRONTENDS_TEXT_CHECK_H
#define SKIM_FRONTENDS_TEXT_CHECK_H

#include "frontends/text/Diagnostics.h"
#include "frontends/text/Loader.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>

namespace skim::text {

/// What declared names are, by where the name stands in the text: for those who show patterns.
using DeclaredTypes = std::map<const char *, std::string>;

struct BuildOptions {
  /// The pattern to build; empty: the last one of the file that was loaded.
  std::string pattern;
  /// Values of `constexpr` parameters, a bool as 0 or 1; those left out take their defaults.
  std::map<std::string, double> constants;
  /// Where not null, takes the types of the names that the pattern declares.
  DeclaredTypes *types = nullptr;
};

/// A module with one `skim.pattern`. Null after errors, which stand in `diagnostics`; warnings
/// stand there in either case. Locations in the module lead back to the text (Locations.h).
mlir::OwningOpRef<mlir::ModuleOp> buildModule(const Program &program, const BuildOptions &options,
                                              mlir::MLIRContext &context, Diagnostics &diagnostics);

/// The same for one pattern of the program, also where `diagnostics` hold errors before.
mlir::OwningOpRef<mlir::ModuleOp> buildPattern(const Program &program, const Pattern &pattern,
                                               const BuildOptions &options,
                                               mlir::MLIRContext &context,
                                               Diagnostics &diagnostics);

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_CHECK_H
