#include "frontends/text/Diagnostics.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace skim::text {

namespace {

struct MessageInfo {
  llvm::StringRef name;
  Severity severity;
  const char *text;
};

constexpr MessageInfo messages[] = {
#define MESSAGE(id, severity, text) {#id, Severity::severity, text},
#include "frontends/text/Messages.def"
#undef MESSAGE
};

const MessageInfo &info(Message message) { return messages[static_cast<unsigned>(message)]; }

llvm::SourceMgr::DiagKind kindOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return llvm::SourceMgr::DK_Error;
  case Severity::Warning:
    return llvm::SourceMgr::DK_Warning;
  case Severity::Note:
    break;
  }
  return llvm::SourceMgr::DK_Note;
}

} // namespace

llvm::StringRef severityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    break;
  }
  return "note";
}

unsigned messageCount() { return std::size(messages); }
llvm::StringRef messageName(Message message) { return info(message).name; }
Severity messageSeverity(Message message) { return info(message).severity; }
const char *messageText(Message message) { return info(message).text; }

Diagnostic &Diagnostic::attach(Message message, llvm::SMRange range, std::string text) {
  notes.push_back({messageSeverity(message), messageName(message), std::move(text), range, {}, {}});
  return *this;
}

Diagnostic &Diagnostic::fixIt(llvm::SMRange range, llvm::StringRef text) {
  fixIts.push_back({range, text.str()});
  return *this;
}

Diagnostic &Diagnostic::fixIt(llvm::SMLoc insertAt, llvm::StringRef text) {
  return fixIt(llvm::SMRange(insertAt, insertAt), text);
}

Diagnostic &Diagnostics::add(Diagnostic diagnostic) {
  if (mutedAt) {
    errors += diagnostic.severity == Severity::Error ? 1 : 0;
    return dropped = std::move(diagnostic);
  }
  for (const Diagnostic &earlier : diagnostics)
    if (earlier.range.Start == diagnostic.range.Start && diagnostic.range.isValid() &&
        earlier.message == diagnostic.message)
      return dropped = std::move(diagnostic);

  if (diagnostic.severity == Severity::Error && ++errors > limit)
    return dropped = std::move(diagnostic);
  if (diagnostic.severity == Severity::Warning && ++warnings > limit)
    return dropped = std::move(diagnostic);
  diagnostics.push_back(std::move(diagnostic));
  return diagnostics.back();
}

void Diagnostics::mute(bool isMuted) {
  if (mutedAt)
    errors = *mutedAt;
  mutedAt = isMuted ? std::optional(errors) : std::nullopt;
}

Diagnostics::Place Diagnostics::place(llvm::SMLoc location) const {
  unsigned buffer = location.isValid() ? sourceMgr.FindBufferContainingLoc(location) : 0;
  if (buffer == 0)
    return {};
  auto [line, column] = sourceMgr.getLineAndColumn(location, buffer);
  return {sourceMgr.getMemoryBuffer(buffer)->getBufferIdentifier(), line, column};
}

void Diagnostics::printOne(llvm::raw_ostream &os, const Diagnostic &diagnostic, bool colors) const {
  llvm::SmallVector<llvm::SMFixIt, 2> fixIts;
  for (const FixIt &fixIt : diagnostic.fixIts)
    fixIts.emplace_back(fixIt.range, fixIt.text);
  if (!diagnostic.range.isValid()) {
    os << severityName(diagnostic.severity) << ": " << diagnostic.message << "\n";
    return;
  }
  sourceMgr.PrintMessage(os, diagnostic.range.Start, kindOf(diagnostic.severity),
                         diagnostic.message, diagnostic.range, fixIts, colors);
  for (const Diagnostic &note : diagnostic.notes)
    printOne(os, note, colors);
}

void Diagnostics::print(llvm::raw_ostream &os, bool colors) const {
  for (const Diagnostic &diagnostic : diagnostics)
    printOne(os, diagnostic, colors);
  if (errors > limit)
    os << "error: too many errors; only the first " << limit << " are shown\n";
  if (warnings > limit)
    os << "warning: too many warnings; only the first " << limit << " are shown\n";
}

} // namespace skim::text
