#include "tools/skim/Settings.h"

#include "tools/skim/Failure.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

#include <cmath>

namespace skim::tool {
namespace {

using Element = text::TypeSyntax::Element;

/// Of an index parameter, as at a launch.
constexpr int64_t largestIndex = int64_t(1) << 31;

bool isWholeNumber(llvm::StringRef text) {
  if (!text.consume_front("-"))
    text.consume_front("+");
  return !text.empty() && llvm::all_of(text, llvm::isDigit);
}

/// Decimal notation alone: no hexadecimal digits, no "inf" and no "nan".
bool isDecimalNumber(llvm::StringRef text) {
  static const llvm::Regex decimal(R"(^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$)");
  return decimal.match(text);
}

llvm::Expected<double> parseValue(const text::Parameter &parameter, llvm::StringRef text,
                                  llvm::StringRef option) {
  auto expected = [&](llvm::StringRef what) {
    return wrongInput(option + ": parameter '" + parameter.name + "': expected " + what +
                      " but got '" + text + "'");
  };
  if (text.empty())
    return wrongInput(option + ": parameter '" + parameter.name +
                      "': expected a value but it is empty");
  if (parameter.type.element == Element::Bool) {
    if (text == "true" || text == "false")
      return text == "true" ? 1.0 : 0.0;
    return expected("true or false");
  }
  if (parameter.type.element == Element::Index) {
    if (!isWholeNumber(text))
      return expected("a whole number");
    int64_t value = 0;
    text.consume_front("+");
    if (text.getAsInteger(10, value) || value < -largestIndex || value > largestIndex)
      return expected("a whole number from -2^31 to 2^31");
    return static_cast<double>(value);
  }
  double value = 0;
  if (!isDecimalNumber(text) || text.getAsDouble(value))
    return expected("a finite decimal number");
  if (!std::isfinite(static_cast<float>(value)))
    return expected("a number that f32 can hold");
  return value;
}

llvm::Expected<ParameterSetting> match(const text::Parameter &parameter, const Setting &setting) {
  ParameterSetting result{parameter.type.element, parameter.isConstexpr, {}};
  if (setting.values.size() > 1 && parameter.type.axes.empty())
    return wrongInput(setting.option + ": parameter '" + parameter.name +
                      "' has one value for all heads but got " +
                      llvm::Twine(setting.values.size()));
  for (llvm::StringRef text : setting.values) {
    llvm::Expected<double> value = parseValue(parameter, text, setting.option);
    if (!value)
      return value.takeError();
    result.values.push_back(*value);
  }
  return result;
}

std::string valueText(double value, Element type) {
  if (type == Element::Bool)
    return value != 0 ? "true" : "false";
  if (type == Element::Index)
    return std::to_string(static_cast<int64_t>(value));
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.10g", value);
  return text;
}

/// The default as it can be shown in a title; empty where it is no plain value.
std::string defaultText(const text::Parameter &parameter) {
  const text::Expr *value = parameter.defaultValue.get();
  if (!value)
    return "";
  if (value->kind == text::Expr::Kind::Number) {
    const auto *number = static_cast<const text::NumberExpr *>(value);
    return number->integer ? std::to_string(*number->integer)
                           : valueText(number->value, Element::F32);
  }
  if (value->kind == text::Expr::Kind::Bool)
    return static_cast<const text::BoolExpr *>(value)->value ? "true" : "false";
  const char *begin = value->range.Start.getPointer();
  return std::string(begin, value->range.End.getPointer() - begin);
}

llvm::Error requireValue(const text::Parameter &parameter,
                         const std::map<std::string, ParameterSetting> &values) {
  if (parameter.defaultValue || values.count(parameter.name) != 0)
    return llvm::Error::success();
  return wrongInput("parameter '" + parameter.name + "' has no default; give it by --set " +
                    parameter.name + "=VALUE");
}

/// The values given, by name, without a look at what is missing.
llvm::Expected<std::map<std::string, ParameterSetting>>
matchGiven(const text::Pattern &pattern, llvm::ArrayRef<Setting> settings) {
  std::map<std::string, ParameterSetting> result;
  for (const Setting &setting : settings) {
    const auto parameter = llvm::find_if(
        pattern.parameters, [&](const text::Parameter &p) { return p.name == setting.name; });
    if (parameter == pattern.parameters.end()) {
      std::string names = llvm::join(
          llvm::map_range(pattern.parameters, [](const text::Parameter &p) { return p.name; }),
          ", ");
      return wrongInput(setting.option + ": pattern '" + pattern.name + "' has no parameter '" +
                        setting.name + "'" + (names.empty() ? "" : "; it has " + names));
    }
    llvm::Expected<ParameterSetting> value = match(*parameter, setting);
    if (!value)
      return value.takeError();
    result[setting.name] = std::move(*value);
  }
  return result;
}

} // namespace

llvm::Expected<std::map<std::string, ParameterSetting>>
matchSettings(const text::Pattern &pattern, llvm::ArrayRef<Setting> settings) {
  auto result = matchGiven(pattern, settings);
  if (!result)
    return result.takeError();
  for (const text::Parameter &parameter : pattern.parameters)
    if (llvm::Error error = requireValue(parameter, *result))
      return error;
  return result;
}

llvm::Expected<std::map<std::string, ParameterSetting>>
matchConstants(const text::Pattern &pattern, llvm::ArrayRef<Setting> settings) {
  auto result = matchGiven(pattern, settings);
  if (!result)
    return result.takeError();
  for (const text::Parameter &parameter : pattern.parameters) {
    if (!parameter.isConstexpr && result->count(parameter.name) != 0)
      return wrongInput("--set: parameter '" + parameter.name +
                        "' is a value of the launch; only constexpr parameters are compiled in");
    if (parameter.isConstexpr)
      if (llvm::Error error = requireValue(parameter, *result))
        return error;
  }
  return result;
}

std::string callText(const text::Pattern &pattern,
                     const std::map<std::string, ParameterSetting> &settings) {
  std::vector<std::string> parts;
  for (const text::Parameter &parameter : pattern.parameters) {
    auto setting = settings.find(parameter.name);
    if (setting == settings.end()) {
      parts.push_back(parameter.name + " = " + defaultText(parameter));
      continue;
    }
    parts.push_back(parameter.name + " = " +
                    llvm::join(llvm::map_range(setting->second.values,
                                               [&](double value) {
                                                 return valueText(value, parameter.type.element);
                                               }),
                               ","));
  }
  return parts.empty() ? pattern.name : pattern.name + "(" + llvm::join(parts, ", ") + ")";
}

} // namespace skim::tool
