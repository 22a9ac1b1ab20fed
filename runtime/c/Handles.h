// What the handles of the C interface are, and how its functions answer.
#ifndef SKIM_RUNTIME_C_HANDLES_H
#define SKIM_RUNTIME_C_HANDLES_H

#include <skim/Kernel.h>
#include <skim/Status.h>
#include <skim/skim.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

struct skim_kernel {
  skim::Kernel kernel;
  std::string launchPlan; ///< as JSON
};

struct skim_plan {
  skim::Plan plan;
};

namespace skim::c {

/// Keeps the message for `skim_last_message`.
skim_status_code answer(const Status &status);

skim_status_code refuse(const std::string &message);

/// A handle for the kernel, or the failure.
skim_status_code answer(Expected<Kernel> result, skim_kernel **kernel);

DType dtypeOf(skim_dtype dtype);
skim_dtype dtypeOf(DType dtype);
/// Whether a number that came from C is one of the enumeration.
bool isDtype(skim_dtype dtype);

/// A structure of the caller, whose header may be older: what it does not know is zero. Null stands
/// for all zeros.
template <typename Structure> class Versioned {
public:
  explicit Versioned(const Structure *given) {
    if (!given)
      return;
    size_ = given->struct_size;
    if (isValid())
      std::memcpy(static_cast<void *>(&value_), given, size_);
  }
  /// One that is larger comes from a newer header than this library's.
  bool isValid() const { return size_ >= sizeof(size_t) && size_ <= sizeof(Structure); }
  const Structure *operator->() const { return &value_; }

  skim_status_code refusal(const char *name) const {
    return refuse(std::string(name) + ".struct_size: expected the size of the structure, at most " +
                  std::to_string(sizeof(Structure)) + ", but got " + std::to_string(size_));
  }

private:
  Structure value_ = {};
  size_t size_ = sizeof(Structure);
};

/// The text, or an empty one for null.
inline std::string textOf(const char *text) { return text ? text : ""; }

} // namespace skim::c

#endif // SKIM_RUNTIME_C_HANDLES_H
