// The names that the language itself defines.
#ifndef SKIM_FRONTENDS_TEXT_NAMES_H
#define SKIM_FRONTENDS_TEXT_NAMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace skim::text {

/// A function of the language, as far as its arguments go.
struct BuiltinFunction {
  llvm::StringLiteral name;
  unsigned leastPositional, mostPositional;
  /// Argument names, separated by blanks.
  llvm::StringLiteral labels;
  /// How a call is written; quoted in diagnostics.
  llvm::StringLiteral usage;

  bool takes(llvm::StringRef label) const;
};

/// Null when the language has no function of that name.
const BuiltinFunction *findFunction(llvm::StringRef name);
llvm::ArrayRef<BuiltinFunction> functions();

/// `q`, `k`, `Q`, `K`, `V`, `q_len`, `kv_len`, `layer`, `head`, `kv_head`.
llvm::ArrayRef<llvm::StringLiteral> builtinValues();
bool isBuiltinValue(llvm::StringRef name);

/// Axes that are no values: they stand after `over:` only.
llvm::ArrayRef<llvm::StringLiteral> headAxes();

/// Names of arrays that a call always has; an input may not take them.
bool isOperandArray(llvm::StringRef name);

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_NAMES_H
