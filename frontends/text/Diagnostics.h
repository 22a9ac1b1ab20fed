// Errors and warnings about `.skim` text: collected while a file is read and checked,
// printed with source line and caret when the tool asks for it.
#ifndef SKIM_FRONTENDS_TEXT_DIAGNOSTICS_H
#define SKIM_FRONTENDS_TEXT_DIAGNOSTICS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"

#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace skim::text {

enum class Severity { Error, Warning, Note };

/// `error`, `warning`, `note`.
llvm::StringRef severityName(Severity severity);

/// One message of Messages.def.
enum class Message {
#define MESSAGE(id, severity, text) id,
#include "frontends/text/Messages.def"
#undef MESSAGE
};

/// The number of messages in Messages.def.
unsigned messageCount();
llvm::StringRef messageName(Message message);
Severity messageSeverity(Message message);
const char *messageText(Message message);

/// A repair: the text that should stand in place of `range`.
struct FixIt {
  llvm::SMRange range;
  std::string text;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  /// The id in Messages.def, or `Builder` when a type rule of the builder was broken.
  llvm::StringRef id;
  std::string message;
  /// Where it points; the caret stands at its start. Invalid when it has no place.
  llvm::SMRange range;
  std::vector<FixIt> fixIts;
  std::vector<Diagnostic> notes;

  template <typename... Args>
  Diagnostic &note(Message message, llvm::SMRange range, Args &&...args) {
    return attach(message, range,
                  llvm::formatv(messageText(message), std::forward<Args>(args)...).str());
  }
  Diagnostic &fixIt(llvm::SMRange range, llvm::StringRef text);
  Diagnostic &fixIt(llvm::SMLoc insertAt, llvm::StringRef text);

private:
  Diagnostic &attach(Message message, llvm::SMRange range, std::string text);
};

/// Owns the text of all files read and the diagnostics about them. Syntax trees point into
/// that text, so this must outlive them.
class Diagnostics {
public:
  static constexpr unsigned defaultLimit = 20;

  /// Keeps at most `limit` errors, and as many warnings.
  explicit Diagnostics(unsigned limit = defaultLimit) : limit(limit) {}
  Diagnostics(const Diagnostics &) = delete;
  Diagnostics &operator=(const Diagnostics &) = delete;

  llvm::SourceMgr &sources() { return sourceMgr; }
  const llvm::SourceMgr &sources() const { return sourceMgr; }

  /// Adds a diagnostic of Messages.def; notes and repairs may be added to the result until the
  /// next report.
  template <typename... Args>
  Diagnostic &report(Message message, llvm::SMRange range, Args &&...args) {
    return add({messageSeverity(message),
                messageName(message),
                llvm::formatv(messageText(message), std::forward<Args>(args)...).str(),
                range,
                {},
                {}});
  }
  /// Errors and warnings past the limit are counted only; of two with one text at one place the
  /// first counts.
  Diagnostic &add(Diagnostic diagnostic);

  /// While muted, nothing that is reported is kept; errors are counted until it ends.
  void mute(bool isMuted);

  bool hasErrors() const { return errors != 0; }
  /// True once as many errors stand as a reader will look at: parsing may stop.
  bool limitReached() const { return errors >= limit; }
  /// All errors, those past the limit included.
  unsigned errorCount() const { return errors; }
  const std::deque<Diagnostic> &all() const { return diagnostics; }

  /// `path:line:column`, lines and columns from 1; empty path and zeros without a place.
  struct Place {
    llvm::StringRef path;
    unsigned line = 0, column = 0;
  };
  Place place(llvm::SMLoc location) const;

  /// Prints all, in the order they were found, each with its line, caret, repairs and notes.
  void print(llvm::raw_ostream &os, bool colors = false) const;

private:
  void printOne(llvm::raw_ostream &os, const Diagnostic &diagnostic, bool colors) const;

  llvm::SourceMgr sourceMgr;
  std::deque<Diagnostic> diagnostics;
  Diagnostic dropped;
  unsigned limit;
  unsigned errors = 0, warnings = 0;
  /// The errors before, while muted.
  std::optional<unsigned> mutedAt;
};

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_DIAGNOSTICS_H
