// Values that are known while a pattern is built: numbers, and arithmetic on numbers and
// `constexpr` parameters.
#ifndef SKIM_FRONTENDS_TEXT_CONSTANTS_H
#define SKIM_FRONTENDS_TEXT_CONSTANTS_H

#include "frontends/text/Ast.h"
#include "frontends/text/Diagnostics.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <string>

namespace skim::text {

struct Constant {
  enum class Type { Index, F32, Bool };

  static Constant index(int64_t value) { return {Type::Index, value, 0}; }
  /// Rounded to f32.
  static Constant f32(double value) { return {Type::F32, 0, static_cast<float>(value)}; }
  static Constant boolean(bool value) { return {Type::Bool, value, 0}; }

  bool isIndex() const { return type == Type::Index; }
  bool isF32() const { return type == Type::F32; }
  bool isBool() const { return type == Type::Bool; }
  /// An index or f32 as a number.
  double number() const { return isF32() ? real : static_cast<double>(integer); }
  /// As it would be written.
  std::string text() const;

  Type type = Type::Index;
  int64_t integer = 0; ///< Index; Bool as 0 or 1.
  float real = 0;      ///< F32.
};

/// `0.5`, `64`, `1e+39`.
std::string numberText(double value);

/// `index`, `f32`, `bool`.
llvm::StringRef typeName(Constant::Type type);

/// What evaluating an expression came to.
struct Folded {
  enum class State { Constant, NotConstant, Failed };

  State state = State::NotConstant;
  Constant value;

  static Folded of(Constant value) { return {State::Constant, value}; }
  static Folded failed() { return {State::Failed, {}}; }
  bool isConstant() const { return state == State::Constant; }
};

/// Evaluates numbers, `true` and `false`, names that `lookup` knows, arithmetic, comparisons,
/// `and`, `or`, `not`, `min`, `max` and `abs` on them: index arithmetic is exact, f32 arithmetic
/// rounds to f32 after each step, an index beside an f32 becomes one. Overflow and division by
/// zero are reported. An expression with anything else in it is not constant.
Folded evaluate(const Expr &expr,
                llvm::function_ref<std::optional<Constant>(llvm::StringRef)> lookup,
                Diagnostics &diagnostics);

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_CONSTANTS_H
