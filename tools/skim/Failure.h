// How a subcommand fails: a message for the standard error and an exit code.
#ifndef SKIM_TOOLS_SKIM_FAILURE_H
#define SKIM_TOOLS_SKIM_FAILURE_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace skim {
class Status;
} // namespace skim

namespace skim::tool {

/// The exit codes of `skim`; scripts depend on them.
enum class ExitCode { Fine = 0, WrongInput = 1, WrongUsage = 2, EnvironmentFailed = 3 };

class Failure : public llvm::ErrorInfo<Failure> {
public:
  static char ID;

  Failure(ExitCode code, std::string message, bool isDiagnostics = false)
      : code(code), message(std::move(message)), diagnostics(isDiagnostics) {}

  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  ExitCode exitCode() const { return code; }
  /// Empty when the reason was printed already, as diagnostics of a pattern are.
  llvm::StringRef text() const { return message; }
  /// The text consists of diagnostics of a pattern, which bring their own place and severity.
  bool isDiagnostics() const { return diagnostics; }

private:
  ExitCode code;
  std::string message;
  bool diagnostics;
};

llvm::Error wrongInput(const llvm::Twine &message);
llvm::Error wrongUsage(const llvm::Twine &message);
llvm::Error environmentFailed(const llvm::Twine &message);
/// A failure of the compiler or the runtime.
llvm::Error failureOf(const Status &status);
/// The input is wrong and the diagnostics have been printed.
llvm::Error alreadyReported();

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_FAILURE_H
