// What functions of the C interface are given, as the C++ interface takes it.
#ifndef SKIM_RUNTIME_C_ARGUMENTS_H
#define SKIM_RUNTIME_C_ARGUMENTS_H

#include <skim/Operands.h>
#include <skim/Parameters.h>
#include <skim/Status.h>
#include <skim/skim.h>

#include <string>

namespace skim::c {

/// Arrays that C gives: the first that is none is kept as the reason to refuse.
class Arrays {
public:
  /// Absent for null.
  TensorView view(const char *name, const skim_tensor *tensor);

  bool isRefused() const { return !refusal_.empty(); }
  const std::string &refusal() const { return refusal_; }
  Status status() const { return {StatusCode::InvalidArgument, refusal_}; }

private:
  std::string refusal_;
};

/// The same as C has it.
skim_tensor tensorOf(const TensorView &view);

Expected<Operands> operandsOf(const skim_operands *given);
Expected<Parameters> parametersOf(const skim_value *values, size_t count);

} // namespace skim::c

#endif // SKIM_RUNTIME_C_ARGUMENTS_H
