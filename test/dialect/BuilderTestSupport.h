// A module to build patterns in, with what was reported about them.
#ifndef SKIM_TEST_DIALECT_BUILDERTESTSUPPORT_H
#define SKIM_TEST_DIALECT_BUILDERTESTSUPPORT_H

#include "frontends/cpp/Builder.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

namespace skim {

class BuilderTest : public ::testing::Test {
protected:
  BuilderTest()
      : loc(mlir::UnknownLoc::get(&context)), module(mlir::ModuleOp::create(loc)),
        handler(&context, [this](mlir::Diagnostic &diagnostic) {
          llvm::raw_string_ostream os(reports);
          os << (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning ? "warning: "
                                                                               : "error: ")
             << diagnostic << '\n';
          for (mlir::Diagnostic &note : diagnostic.getNotes())
            os << "note: " << note << '\n';
        }) {
    context.loadDialect<ir::SkimDialect>();
  }

  /// The pattern as it is printed, or the reports when it failed.
  std::string finish(PatternBuilder &builder) {
    mlir::FailureOr<ir::PatternOp> pattern = builder.finish(loc);
    if (failed(pattern))
      return reports;
    std::string text = "\n";
    llvm::raw_string_ostream os(text);
    mlir::OpPrintingFlags flags;
    (*pattern)->print(os, flags.useLocalScope());
    return text + "\n";
  }

  mlir::MLIRContext context;
  mlir::Location loc;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string reports;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace skim

#endif // SKIM_TEST_DIALECT_BUILDERTESTSUPPORT_H
