// What the handles of the C interface are, and how its functions answer.
#ifndef SKIM_RUNTIME_C_HANDLES_H
#define SKIM_RUNTIME_C_HANDLES_H

#include <skim/Kernel.h>
#include <skim/Status.h>
#include <skim/ThreadPool.h>
#include <skim/skim_serving.h>

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

struct skim_thread_pool {
  skim::ThreadPool pool;
};

namespace skim {
class Metrics;
class RunMetrics;
} // namespace skim

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

/// The metrics behind a handle; null for null.
Metrics *metricsOf(skim_metrics *metrics);
RunMetrics *metricsOf(skim_run_metrics *runs);

/// Memory that skim_string_free and skim_bytes_free give back; a zero follows the text.
char *copyOf(const std::string &text);

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
  const Structure &value() const { return value_; }
  Structure &value() { return value_; }

  /// What the caller's structure has of the value.
  void writeTo(Structure *given) const { std::memcpy(static_cast<void *>(given), &value_, size_); }

  Status failure(const char *name) const {
    return {StatusCode::InvalidArgument,
            std::string(name) + ".struct_size: expected the size of the structure, at most " +
                std::to_string(sizeof(Structure)) + ", but got " + std::to_string(size_)};
  }
  skim_status_code refusal(const char *name) const { return answer(failure(name)); }

private:
  Structure value_ = {};
  size_t size_ = sizeof(Structure);
};

/// The text, or an empty one for null.
inline std::string textOf(const char *text) { return text ? text : ""; }

} // namespace skim::c

#endif // SKIM_RUNTIME_C_HANDLES_H
