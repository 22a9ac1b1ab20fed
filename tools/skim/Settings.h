// `--set name=value`, matched with the parameters of a pattern.
#ifndef SKIM_TOOLS_SKIM_SETTINGS_H
#define SKIM_TOOLS_SKIM_SETTINGS_H

#include "frontends/text/Ast.h"
#include "tools/skim/Options.h"

#include <map>
#include <string>
#include <vector>

namespace skim::tool {

struct ParameterSetting {
  text::TypeSyntax::Element type = text::TypeSyntax::Element::F32;
  bool isConstexpr = false;
  /// One value, or one for each query head; a bool is 0 or 1.
  std::vector<double> values;
};

/// Fails with WrongInput on a name that the pattern does not have, on a value that is not of
/// the parameter's type, on several values for a parameter that is not one a head, and
/// when a parameter without default is missing.
llvm::Expected<std::map<std::string, ParameterSetting>>
matchSettings(const text::Pattern &pattern, llvm::ArrayRef<Setting> settings);

/// The constexpr parameters alone, for a compilation without a launch: any other parameter
/// is a value of the launch, and setting it fails.
llvm::Expected<std::map<std::string, ParameterSetting>>
matchConstants(const text::Pattern &pattern, llvm::ArrayRef<Setting> settings);

/// `streaming(sink = 64, window = 512)`: the pattern with the values of its parameters.
std::string callText(const text::Pattern &pattern,
                     const std::map<std::string, ParameterSetting> &settings);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_SETTINGS_H
