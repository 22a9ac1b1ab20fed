// Strict reading of JSON into plain data: exactly the fields that are expected, each of its type.
// `Derived` adds overloads of `read` for its own types and brings these in by
// `using JsonReader::read`.
#ifndef SKIM_RUNTIME_JSONREADER_H
#define SKIM_RUNTIME_JSONREADER_H

#include <skim/Status.h>

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace skim {

/// The first failure is kept, and everything after it is left alone.
template <typename Derived> class JsonReader {
public:
  using Json = nlohmann::json;

  Status status() const { return status_; }
  bool failed() const { return !status_; }

  void fail(const std::string &path, const std::string &expected, const Json &got) {
    if (failed())
      return;
    // Lists and objects may be nested without bound, and printing them recurses.
    std::string text = got.is_structured() ? got.is_array() ? "a list" : "an object"
                                           : got.dump(-1, ' ', /*ensure_ascii=*/true,
                                                      Json::error_handler_t::replace);
    if (text.size() > 40)
      text = text.substr(0, 40) + "...";
    status_ = {StatusCode::Corrupt, subject_ + ": " + (path.empty() ? "" : path + ": ") +
                                        "expected " + expected + " but got " + text};
  }

  void read(const std::string &path, const Json &json, int64_t &value) {
    const bool fits = json.is_number_unsigned()
                          ? json.get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)
                          : json.is_number_integer();
    if (!fits)
      return fail(path, "an integer", json);
    value = json.get<int64_t>();
  }
  void read(const std::string &path, const Json &json, double &value) {
    if (!json.is_number())
      return fail(path, "a number", json);
    value = json.get<double>();
  }
  void read(const std::string &path, const Json &json, bool &value) {
    if (!json.is_boolean())
      return fail(path, "true or false", json);
    value = json.get<bool>();
  }
  void read(const std::string &path, const Json &json, std::string &value) {
    if (!json.is_string())
      return fail(path, "a string", json);
    value = json.get<std::string>();
  }
  template <typename T>
  void read(const std::string &path, const Json &json, std::optional<T> &value) {
    value.reset();
    if (!json.is_null())
      derived().read(path, json, value.emplace());
  }
  template <typename T> void read(const std::string &path, const Json &json, std::vector<T> &list) {
    if (!json.is_array())
      return fail(path, "a list", json);
    list.resize(json.size());
    for (size_t i = 0; i < list.size() && !failed(); ++i)
      derived().read(path + "[" + std::to_string(i) + "]", json[i], list[i]);
  }
  template <typename T, size_t n>
  void read(const std::string &path, const Json &json, std::array<T, n> &list) {
    if (!json.is_array() || json.size() != n)
      return fail(path, "a list of " + std::to_string(n), json);
    for (size_t i = 0; i < n && !failed(); ++i)
      derived().read(path + "[" + std::to_string(i) + "]", json[i], list[i]);
  }

  /// An enumeration by the names of its values.
  template <typename Enum, size_t n>
  void readName(const std::string &path, const Json &json,
                const std::pair<Enum, const char *> (&names)[n], Enum &value) {
    std::string known;
    for (const auto &[candidate, name] : names) {
      if (json.is_string() && json.get_ref<const std::string &>() == name) {
        value = candidate;
        return;
      }
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    fail(path, "one of " + known, json);
  }

protected:
  /// `subject` starts every message, for example "launch plan".
  explicit JsonReader(std::string subject) : subject_(std::move(subject)) {}

  /// Reads an object of exactly these fields: name, destination, name, destination, ...
  template <typename... Fields>
  void object(const std::string &path, const Json &json, Fields &&...fields) {
    if (!json.is_object())
      return fail(path, "an object", json);
    if (json.size() != sizeof...(fields) / 2)
      return fail(path, std::to_string(sizeof...(fields) / 2) + " fields", json.size());
    readFields(path, json, fields...);
  }

private:
  Derived &derived() { return static_cast<Derived &>(*this); }

  void readFields(const std::string &, const Json &) {}
  template <typename T, typename... Rest>
  void readFields(const std::string &path, const Json &json, const char *name, T &value,
                  Rest &...rest) {
    const std::string field = path.empty() ? name : path + "." + name;
    const auto found = json.find(name);
    if (found == json.end())
      return fail(field, "a value", nullptr);
    derived().read(field, *found, value);
    if (!failed())
      readFields(path, json, rest...);
  }

  std::string subject_;
  Status status_;
};

} // namespace skim

#endif // SKIM_RUNTIME_JSONREADER_H
