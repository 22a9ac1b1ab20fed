// Errors as values. No function of the runtime throws or aborts on bad input:
// it returns a `Status`, or an `Expected<T>` that holds a value or a failed `Status`.
#ifndef SKIM_STATUS_H
#define SKIM_STATUS_H

#include <cassert>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace skim {

enum class StatusCode : uint8_t {
  Ok,
  /// An argument has the wrong rank, shape, type, stride, name or value. Nothing was run.
  InvalidArgument,
  /// The text of a pattern is wrong; the message consists of its diagnostics, a place, a line and a
  /// caret each.
  InvalidPattern,
  /// The workspace is smaller or less aligned than the plan asks for. Nothing was run.
  WorkspaceTooSmall,
  /// A serialised form is damaged or of another version.
  Corrupt,
  /// The request is well formed, but this kernel cannot serve it. The message says why.
  Unsupported,
  /// The run finished, but met values out of range in an input. Such values select
  /// nothing and touch no memory; the results are those without them.
  DataOutOfRange,
  /// What was asked for does not fit in what is left, of pages or the like. Nothing has changed.
  Exhausted,
  /// The machine refused something (threads, memory).
  Environment,
};

/// Success, or a code with a message. Messages are lower case without a full stop and
/// name the argument, what was expected and what was got.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status ok() { return {}; }

  bool isOk() const { return code_ == StatusCode::Ok; }
  explicit operator bool() const { return isOk(); }
  StatusCode code() const { return code_; }
  /// Empty on success.
  const std::string &message() const { return message_; }

private:
  StatusCode code_ = StatusCode::Ok;
  std::string message_;
};

/// A value, or the failed status that explains why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Status failure) : state_(std::in_place_index<1>, std::move(failure)) {
    assert(!std::get<1>(state_).isOk() && "success needs a value");
  }

  bool hasValue() const { return state_.index() == 0; }
  explicit operator bool() const { return hasValue(); }

  /// The value; only where `hasValue()`.
  T &operator*() & { return *std::get_if<0>(&state_); }
  const T &operator*() const & { return *std::get_if<0>(&state_); }
  T &&operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T *operator->() { return std::get_if<0>(&state_); }
  const T *operator->() const { return std::get_if<0>(&state_); }

  /// The failure, or success where there is a value.
  Status status() const { return hasValue() ? Status() : *std::get_if<1>(&state_); }

private:
  std::variant<T, Status> state_;
};

} // namespace skim

#endif // SKIM_STATUS_H
