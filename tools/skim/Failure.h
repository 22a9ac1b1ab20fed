// How a subcommand fails: a message for the standard error and an exit code.
#ifndef SKIM_TOOLS_SKIM_FAILURE_H
#define SKIM_TOOLS_SKIM_FAILURE_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace skim::tool {

/// The exit codes of `skim`; scripts depend on them.
enum class ExitCode { Fine = 0, WrongInput = 1, WrongUsage = 2, EnvironmentFailed = 3 };

class Failure : public llvm::ErrorInfo<Failure> {
public:
  static char ID;

  Failure(ExitCode code, std::string message) : code(code), message(std::move(message)) {}

  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  ExitCode exitCode() const { return code; }
  /// Empty when the reason was printed already, as diagnostics of a pattern are.
  llvm::StringRef text() const { return message; }

private:
  ExitCode code;
  std::string message;
};

llvm::Error wrongInput(const llvm::Twine &message);
llvm::Error wrongUsage(const llvm::Twine &message);
llvm::Error environmentFailed(const llvm::Twine &message);
/// The input is wrong and the diagnostics have been printed.
llvm::Error alreadyReported();

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_FAILURE_H
