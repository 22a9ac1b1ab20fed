#include "runtime/ParameterBinding.h"

#include "runtime/TensorCheck.h"
#include "runtime/WorkspaceLayout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

namespace skim {

namespace {

const char *typeName(ParameterType type) {
  switch (type) {
  case ParameterType::Index:
    return "index";
  case ParameterType::F32:
    return "f32";
  case ParameterType::Bool:
    return "bool";
  }
  return "unknown";
}

/// Entry `i` of a given value; a single value stands for every entry.
using Entry = std::variant<int64_t, double, bool>;
Entry entryAt(const ParameterValue::Storage &storage, int64_t i) {
  return std::visit(
      [&](const auto &value) -> Entry {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
          return value;
        else
          return typename std::decay_t<decltype(value)>::value_type(value[i]);
      },
      storage);
}

/// Number of entries given, or nothing for a single value.
std::optional<int64_t> entryCount(const ParameterValue::Storage &storage) {
  return std::visit(
      [](const auto &value) -> std::optional<int64_t> {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
          return std::nullopt;
        else
          return static_cast<int64_t>(value.size());
      },
      storage);
}

std::string describeNumber(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", value);
  return text.data();
}

std::string describeEntry(const Entry &entry) {
  if (const auto *integer = std::get_if<int64_t>(&entry))
    return std::to_string(*integer);
  if (const auto *real = std::get_if<double>(&entry))
    return "the float " + describeNumber(*real);
  return *std::get_if<bool>(&entry) ? "true" : "false";
}

Status checkAllowed(const ParameterDescription &parameter, const ArgumentName &name,
                    int64_t value) {
  const std::vector<int64_t> &allowed = parameter.allowed;
  if (allowed.empty() || std::find(allowed.begin(), allowed.end(), value) != allowed.end())
    return Status::ok();
  return expectedButGot(name, "a label of the pattern's match (" + joinNumbers(allowed) + ")",
                        std::to_string(value));
}

Status checkBounds(const ParameterDescription &parameter, const ArgumentName &name, double value) {
  const std::optional<double> &least = parameter.least, &most = parameter.most;
  if ((!least || value >= *least) && (!most || value <= *most))
    return Status::ok();
  std::string range = (least ? " from " + describeNumber(*least) : "") +
                      (most ? " to " + describeNumber(*most) : " up");
  return expectedButGot(name, "a number" + range, describeNumber(value));
}

Status bindIndex(const ParameterDescription &parameter, const ArgumentName &name,
                 const Entry &entry, skim_scalar &scalar) {
  const auto *value = std::get_if<int64_t>(&entry);
  if (!value)
    return expectedButGot(name, "an index", describeEntry(entry));
  if (*value < -kLargestIndex || *value > kLargestIndex)
    return expectedButGot(name, kIndexRange, std::to_string(*value));
  scalar.index = *value;
  if (Status status = checkBounds(parameter, name, static_cast<double>(*value)); !status)
    return status;
  return checkAllowed(parameter, name, *value);
}

Status bindF32(const ParameterDescription &parameter, const ArgumentName &name, const Entry &entry,
               skim_scalar &scalar) {
  if (std::holds_alternative<bool>(entry))
    return expectedButGot(name, "an f32", describeEntry(entry));
  const auto *integer = std::get_if<int64_t>(&entry);
  const double value = integer ? static_cast<double>(*integer) : *std::get_if<double>(&entry);
  // Infinities are values; a finite number must not become one.
  if (std::isnan(value) ||
      (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()))
    return expectedButGot(name, "a value in the range of f32", describeEntry(entry));
  scalar.f32 = static_cast<float>(value);
  return checkBounds(parameter, name, scalar.f32);
}

Status bindBool(const ParameterDescription &parameter, const ArgumentName &name, const Entry &entry,
                skim_scalar &scalar) {
  const auto *value = std::get_if<bool>(&entry);
  if (!value)
    return expectedButGot(name, "true or false", describeEntry(entry));
  scalar.boolean = *value;
  return checkAllowed(parameter, name, *value);
}

Status bindEntry(const ParameterDescription &parameter, const ArgumentName &name,
                 const Entry &entry, skim_scalar &scalar) {
  switch (parameter.type) {
  case ParameterType::Index:
    return bindIndex(parameter, name, entry, scalar);
  case ParameterType::F32:
    return bindF32(parameter, name, entry, scalar);
  case ParameterType::Bool:
    return bindBool(parameter, name, entry, scalar);
  }
  return Status::ok();
}

Status bindValue(const ParameterDescription &parameter, const ParameterValue &value, int64_t count,
                 skim_scalar *scalars) {
  const ArgumentName name{"parameter", parameter.name};
  const std::optional<int64_t> given = entryCount(value.storage());
  if (given && !parameter.perHead)
    return expectedButGot(name, std::string("one ") + typeName(parameter.type) + " for all heads",
                          std::to_string(*given) + " values");
  if (given && *given != count)
    return expectedButGot(name, std::to_string(count) + " values, one a query head",
                          std::to_string(*given));
  for (int64_t i = 0; i < count; ++i)
    if (Status status = bindEntry(parameter, name, entryAt(value.storage(), i), scalars[i]);
        !status)
      return status;
  return Status::ok();
}

Status bindDefault(const ParameterDescription &parameter, int64_t count, skim_scalar *scalars) {
  const std::vector<double> &values = parameter.defaultValues;
  const ArgumentName name{"parameter", parameter.name};
  if (values.empty())
    return expectedButGot(
        name, std::string("a value of type ") + typeName(parameter.type) + " (it has no default)",
        "nothing");
  for (int64_t i = 0; i < count; ++i) {
    const double value = values.size() == 1 ? values[0] : values[i];
    const Entry entry = parameter.type == ParameterType::F32 ? Entry(value)
                        : parameter.type == ParameterType::Index
                            ? Entry(static_cast<int64_t>(value))
                            : Entry(value != 0);
    if (Status status = bindEntry(parameter, name, entry, scalars[i]); !status)
      return status;
  }
  return Status::ok();
}

/// The value given under this name, or null; an error where there are two.
Expected<const ParameterValue *> findGiven(const Parameters &parameters, const std::string &name) {
  const ParameterValue *found = nullptr;
  for (const NamedParameter &given : parameters) {
    if (given.name != name)
      continue;
    if (found)
      return expectedButGot({"parameter", name}, "one value", "several under this name");
    found = &given.value;
  }
  return found;
}

} // namespace

Status bindParameters(const LaunchPlan &plan, const Parameters &parameters, skim_parameter *slots,
                      skim_scalar *scalars) {
  for (const NamedParameter &given : parameters)
    if (std::none_of(plan.parameters.begin(), plan.parameters.end(),
                     [&](const auto &parameter) { return parameter.name == given.name; }))
      return unknownName({"parameter", given.name}, plan.parameters);

  for (size_t slot = 0; slot < plan.parameters.size(); ++slot) {
    const ParameterDescription &parameter = plan.parameters[slot];
    const int64_t count = scalarCount(parameter, plan.signature);
    const Expected<const ParameterValue *> given = findGiven(parameters, parameter.name);
    if (!given)
      return given.status();
    Status status = *given ? bindValue(parameter, **given, count, scalars)
                           : bindDefault(parameter, count, scalars);
    if (!status)
      return status;
    slots[slot].values = scalars;
    scalars += count;
  }
  return Status::ok();
}

} // namespace skim
