// A pattern file and the variants of it that a comparison with dense attention needs.
#ifndef SKIM_TOOLS_SKIM_PATTERNSOURCE_H
#define SKIM_TOOLS_SKIM_PATTERNSOURCE_H

#include "frontends/text/Diagnostics.h"
#include "frontends/text/Loader.h"
#include <skim/Compiler.h>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace skim::tool {

enum class Variant {
  Asked,     ///< As written.
  KeysAlone, ///< Without rest entries and sink: its log-sum-exp is that of the kept keys.
  Dense,     ///< Every visible key is kept; score changes and sinks stay.
  DenseKeysAlone,
};

class PatternSource {
public:
  /// Parses the file and what it imports. Prints the diagnostics, and fails when there is
  /// an error among them. `name` chooses a pattern of the file; empty takes the last.
  static llvm::Expected<std::unique_ptr<PatternSource>> load(llvm::StringRef path,
                                                             llvm::StringRef name);

  /// As `load`, of a text that is no file; `path` stands for it in diagnostics.
  static llvm::Expected<std::unique_ptr<PatternSource>> parse(llvm::StringRef text,
                                                              llvm::StringRef path);

  const text::Pattern &entry() const { return *pattern; }
  bool isCausal() const;
  /// Whether the pattern changes scores.
  bool hasLogit() const;
  /// The element type of each input of all patterns of the files, callees' ones included.
  std::map<std::string, DType> inputTypes() const;
  /// The inputs of the entry and of the patterns that it calls, in the order of their names.
  std::set<std::string> inputNames() const;

  /// The file with the clauses of the entry changed to those of `variant`.
  Pattern variant(Variant variant) const;
  /// Whether `variant` is the same as what `base` is.
  bool isSame(Variant variant, Variant base) const;

private:
  llvm::Error findEntry(llvm::StringRef name);

  text::Diagnostics diagnostics;
  text::Program program;
  const text::Pattern *pattern = nullptr;
  /// The file that holds the entry.
  std::string path;
  llvm::StringRef source;
};

using Sources = std::vector<std::unique_ptr<PatternSource>>;
/// `PatternSource::load` of each path.
llvm::Expected<Sources> loadSources(llvm::ArrayRef<std::string> paths, llvm::StringRef name);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_PATTERNSOURCE_H
