// A module to build patterns in, with what was reported about them, and operands for wrong calls.
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

/// Common operands of wrong calls.
class BuilderErrorsTest : public BuilderTest {
protected:
  using Value = mlir::Value;
  using Element = ir::Element;
  using Axes = ir::Axes;

  BuilderErrorsTest() : b(*module, loc, "wrong") {}

  Value input(Element element, Axes axes) {
    return b.input(loc, "i" + std::to_string(inputs++), element, axes);
  }
  Value f32(Axes axes) { return input(Element::F32, axes); }
  Value queries() { return b.operand(loc, ir::OperandKind::Query); }
  Value keys() { return b.operand(loc, ir::OperandKind::Key); }
  Value q() { return b.queryPosition(loc); }
  Value k() { return b.keyPosition(loc); }
  Value index(int64_t value) { return b.indexConstant(loc, value); }
  Value real(double value) { return b.f32Constant(loc, value); }
  Value window() { return b.parameter(loc, "window", Element::Index); }
  Value near() { return b.compare(loc, ir::Comparison::Lt, b.sub(loc, q(), k()), index(64)); }

  /// `result` is null, `expected` was reported, and the pattern does not finish.
  void expectError(Value result, const std::string &expected) {
    EXPECT_FALSE(result);
    expectReports(expected);
  }
  void expectReports(const std::string &expected) {
    EXPECT_EQ(reports, expected);
    EXPECT_TRUE(failed(b.finish(loc)));
  }

  PatternBuilder b;
  int inputs = 0;
};

} // namespace skim

#endif // SKIM_TEST_DIALECT_BUILDERTESTSUPPORT_H
