#include "frontends/text/Check.h"

#include "frontends/text/Checker.h"
#include "frontends/text/Locations.h"

namespace skim::text {

mlir::OwningOpRef<mlir::ModuleOp> buildModule(const Program &program, const BuildOptions &options,
                                              mlir::MLIRContext &context,
                                              Diagnostics &diagnostics) {
  // A tree with holes would only give errors that follow from those already reported.
  if (diagnostics.hasErrors())
    return {};
  const Pattern *pattern = findEntry(program, options.pattern, diagnostics);
  if (pattern == nullptr)
    return {};
  return buildPattern(program, *pattern, options, context, diagnostics);
}

mlir::OwningOpRef<mlir::ModuleOp> buildPattern(const Program &program, const Pattern &pattern,
                                               const BuildOptions &options,
                                               mlir::MLIRContext &context,
                                               Diagnostics &diagnostics) {
  unsigned errorsBefore = diagnostics.errorCount();
  context.getOrLoadDialect<ir::SkimDialect>();
  DiagnosticsFromMlir handler(context, diagnostics);
  mlir::Location loc = locationOf(pattern.nameRange, context, diagnostics);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
  PatternBuilder builder(*module, loc, pattern.name);
  Checker(program, builder, context, diagnostics).checkEntry(pattern, options);
  if (diagnostics.errorCount() != errorsBefore || mlir::failed(builder.finish(loc)))
    return {};
  return module;
}

} // namespace skim::text
