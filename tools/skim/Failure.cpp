#include "tools/skim/Failure.h"

#include <skim/Status.h>

#include "llvm/Support/raw_ostream.h"

namespace skim::tool {

char Failure::ID;

void Failure::log(llvm::raw_ostream &stream) const { stream << message; }

static llvm::Error fail(ExitCode code, const llvm::Twine &message) {
  return llvm::make_error<Failure>(code, message.str());
}

llvm::Error wrongInput(const llvm::Twine &message) { return fail(ExitCode::WrongInput, message); }
llvm::Error wrongUsage(const llvm::Twine &message) { return fail(ExitCode::WrongUsage, message); }
llvm::Error environmentFailed(const llvm::Twine &message) {
  return fail(ExitCode::EnvironmentFailed, message);
}
llvm::Error failureOf(const Status &status) {
  if (status.code() == StatusCode::InvalidPattern)
    return llvm::make_error<Failure>(ExitCode::WrongInput, status.message(),
                                     /*isDiagnostics=*/true);
  return status.code() == StatusCode::Environment ? environmentFailed(status.message())
                                                  : wrongInput(status.message());
}
llvm::Error alreadyReported() { return fail(ExitCode::WrongInput, ""); }

} // namespace skim::tool
