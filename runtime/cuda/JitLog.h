// What the driver's compiler says when code is loaded or assembled.
#ifndef SKIM_RUNTIME_CUDA_JITLOG_H
#define SKIM_RUNTIME_CUDA_JITLOG_H

#include <skim/Status.h>

#include <array>
#include <bit>
#include <cstddef>
#include <string>

namespace skim::cuda {

/// The options of one call that fill a log with errors. Must stay where it is while the driver may
/// write to it.
class JitLog {
public:
  JitLog() = default;
  JitLog(const JitLog &) = delete;
  JitLog &operator=(const JitLog &) = delete;

  unsigned count() const { return static_cast<unsigned>(options_.size()); }
  int *options() { return options_.data(); }
  void **values() { return values_.data(); }

  /// A failure with what the log says.
  Status explain(const Status &failure) const {
    std::string text(text_.data());
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
      text.pop_back();
    return {failure.code(), failure.message() + (text.empty() ? "" : ": " + text)};
  }

private:
  static constexpr size_t kBytes = 8192;
  // Numbers of the driver's enumeration.
  static constexpr int kErrorLogBuffer = 5, kErrorLogBufferBytes = 6;

  std::array<char, kBytes> text_{};
  std::array<int, 2> options_ = {kErrorLogBuffer, kErrorLogBufferBytes};
  std::array<void *, 2> values_ = {text_.data(), std::bit_cast<void *>(kBytes)};
};

} // namespace skim::cuda

#endif // SKIM_RUNTIME_CUDA_JITLOG_H
