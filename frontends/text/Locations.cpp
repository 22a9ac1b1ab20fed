#include "frontends/text/Locations.h"

#include "mlir/IR/BuiltinAttributes.h"

#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

namespace skim::text {

namespace {

/// The buffer that a location names; 0 when none.
unsigned bufferNamed(llvm::StringRef path, const Diagnostics &diagnostics) {
  const llvm::SourceMgr &sources = diagnostics.sources();
  for (unsigned buffer = 1; buffer <= sources.getNumBuffers(); ++buffer)
    if (sources.getMemoryBuffer(buffer)->getBufferIdentifier() == path)
      return buffer;
  return 0;
}

llvm::SMLoc pointAt(unsigned buffer, unsigned line, unsigned column,
                    const Diagnostics &diagnostics) {
  const llvm::SourceMgr &sources = diagnostics.sources();
  const char *start = sources.getBufferInfo(buffer).getPointerForLineNumber(line);
  if (start == nullptr || column == 0)
    return {};
  const char *end = sources.getMemoryBuffer(buffer)->getBufferEnd();
  return llvm::SMLoc::getFromPointer(
      start + std::min<size_t>(column - 1, static_cast<size_t>(end - start)));
}

/// Collects the calls through which `location` was reached, innermost first.
void collectCalls(mlir::Location location, llvm::SmallVectorImpl<mlir::Location> &calls) {
  while (auto callSite = llvm::dyn_cast<mlir::CallSiteLoc>(location)) {
    calls.push_back(callSite.getCaller());
    location = callSite.getCallee();
  }
}

Severity severityOf(mlir::DiagnosticSeverity severity) {
  switch (severity) {
  case mlir::DiagnosticSeverity::Error:
    return Severity::Error;
  case mlir::DiagnosticSeverity::Warning:
    return Severity::Warning;
  case mlir::DiagnosticSeverity::Note:
  case mlir::DiagnosticSeverity::Remark:
    break;
  }
  return Severity::Note;
}

} // namespace

mlir::Location locationOf(llvm::SMRange range, mlir::MLIRContext &context,
                          const Diagnostics &diagnostics) {
  Diagnostics::Place start = diagnostics.place(range.Start);
  Diagnostics::Place end = diagnostics.place(range.End);
  if (start.line == 0 || end.line == 0)
    return mlir::UnknownLoc::get(&context);
  return mlir::FileLineColRange::get(&context, start.path, start.line, start.column, end.line,
                                     end.column);
}

llvm::SMRange rangeOf(mlir::Location location, const Diagnostics &diagnostics) {
  llvm::SMRange found;
  location->walk([&](mlir::Location inner) {
    auto file = llvm::dyn_cast<mlir::FileLineColRange>(inner);
    unsigned buffer = file ? bufferNamed(file.getFilename().getValue(), diagnostics) : 0;
    if (buffer == 0)
      return mlir::WalkResult::advance();
    llvm::SMLoc start = pointAt(buffer, file.getStartLine(), file.getStartColumn(), diagnostics);
    llvm::SMLoc end = pointAt(buffer, file.getEndLine(), file.getEndColumn(), diagnostics);
    if (!start.isValid() || !end.isValid())
      return mlir::WalkResult::advance();
    found = {start, std::max(start, end, [](llvm::SMLoc a, llvm::SMLoc b) {
               return a.getPointer() < b.getPointer();
             })};
    return mlir::WalkResult::interrupt();
  });
  return found;
}

DiagnosticsFromMlir::DiagnosticsFromMlir(mlir::MLIRContext &context, Diagnostics &diagnostics)
    : ScopedDiagnosticHandler(&context) {
  setHandler([&diagnostics](mlir::Diagnostic &mlirDiagnostic) {
    Diagnostic diagnostic{
        severityOf(mlirDiagnostic.getSeverity()),           "Builder", mlirDiagnostic.str(),
        rangeOf(mlirDiagnostic.getLocation(), diagnostics), {},        {}};
    for (mlir::Diagnostic &note : mlirDiagnostic.getNotes()) {
      llvm::SMRange range = rangeOf(note.getLocation(), diagnostics);
      diagnostic.notes.push_back({Severity::Note, "Builder", note.str(), range, {}, {}});
    }
    llvm::SmallVector<mlir::Location, 4> calls;
    collectCalls(mlirDiagnostic.getLocation(), calls);
    for (mlir::Location call : calls)
      diagnostic.note(Message::CalledHere, rangeOf(call, diagnostics));
    diagnostics.add(std::move(diagnostic));
    return mlir::success();
  });
}

} // namespace skim::text
