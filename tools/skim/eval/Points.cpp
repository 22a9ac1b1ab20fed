#include "tools/skim/eval/Points.h"

#include "tools/skim/Failure.h"

#include "llvm/ADT/STLExtras.h"

namespace skim::tool {
namespace {

/// A name as it stands in an option: of one pattern, or of all that have it.
struct Name {
  llvm::StringRef pattern; ///< Empty: all.
  llvm::StringRef parameter;

  explicit Name(llvm::StringRef text) {
    auto [before, after] = text.split('.');
    pattern = after.empty() ? "" : before;
    parameter = after.empty() ? before : after;
  }

  bool isOf(const text::Pattern &entry) const {
    return (pattern.empty() || pattern == entry.name) &&
           llvm::any_of(entry.parameters,
                        [&](const text::Parameter &p) { return parameter == p.name; });
  }
};

llvm::Error checkNames(const Sources &sources, llvm::ArrayRef<Setting> settings,
                       llvm::StringRef option) {
  for (const Setting &setting : settings) {
    Name name(setting.name);
    if (llvm::any_of(sources, [&](const auto &source) { return name.isOf(source->entry()); }))
      continue;
    return wrongInput(option + ": no pattern " +
                      (name.pattern.empty() ? "" : "'" + name.pattern + "' ") +
                      "of the command has a parameter '" + name.parameter + "'");
  }
  return llvm::Error::success();
}

/// The settings of one pattern, by the plain names of its parameters.
std::vector<Setting> settingsOf(const text::Pattern &entry, llvm::ArrayRef<Setting> settings) {
  std::vector<Setting> own;
  for (bool qualified : {true, false})
    for (const Setting &setting : settings) {
      Name name(setting.name);
      bool known = llvm::any_of(own, [&](const Setting &s) { return name.parameter == s.name; });
      if (name.isOf(entry) && name.pattern.empty() != qualified && !known)
        own.push_back({name.parameter.str(), setting.values, setting.option});
    }
  return own;
}

} // namespace

llvm::Expected<std::vector<Point>> makePoints(const Sources &sources,
                                              llvm::ArrayRef<Setting> settings,
                                              llvm::ArrayRef<Setting> sweeps) {
  if (llvm::Error error = checkNames(sources, settings, "--set"))
    return error;
  if (llvm::Error error = checkNames(sources, sweeps, "--sweep"))
    return error;
  std::vector<Point> points;
  for (const auto &source : sources) {
    const text::Pattern &entry = source->entry();
    std::vector<Setting> own = settingsOf(entry, settings);
    std::vector<Setting> swept = settingsOf(entry, sweeps);
    if (swept.size() > 1)
      return wrongInput("--sweep: expected one swept parameter of pattern '" + entry.name +
                        "' but got '" + swept[0].name + "' and '" + swept[1].name + "'");
    std::vector<std::vector<Setting>> variants = {own};
    if (!swept.empty()) {
      variants.clear();
      llvm::erase_if(own, [&](const Setting &s) { return s.name == swept[0].name; });
      for (const std::string &value : swept[0].values) {
        variants.push_back(own);
        variants.back().push_back({swept[0].name, {value}, swept[0].option});
      }
    }
    for (const std::vector<Setting> &variant : variants) {
      auto matched = matchSettings(entry, variant);
      if (!matched)
        return matched.takeError();
      points.push_back(
          {source.get(), std::move(*matched), swept.empty() ? "" : variant.back().values.front()});
    }
  }
  return points;
}

} // namespace skim::tool
