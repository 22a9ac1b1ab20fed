// The syntax tree of a `.skim` file: exactly what was written, with source
// ranges, before any name is looked up or any type is known.
#ifndef SKIM_FRONTENDS_TEXT_AST_H
#define SKIM_FRONTENDS_TEXT_AST_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SMLoc.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace skim::text {

/// The parser refuses expressions of more levels.
inline constexpr unsigned maxExprHeight = 256;

struct Expr {
  enum class Kind { Number, Bool, Name, Unary, Binary, Call, Tuple, Where, Match, Error };

  Expr(Kind kind, llvm::SMRange range) : kind(kind), range(range) {}
  virtual ~Expr() = default;

  const Kind kind;
  llvm::SMRange range;
  /// Levels of the tree from here down. The parser bounds it (`maxExprHeight`), so that a
  /// recursive walk cannot overflow the stack.
  unsigned height = 1;
};
using ExprPtr = std::unique_ptr<Expr>;

/// `64`, `0.25`, `1e-3`.
struct NumberExpr : Expr {
  NumberExpr(llvm::SMRange range, double value, std::optional<int64_t> integer)
      : Expr(Kind::Number, range), value(value), integer(integer) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Number; }

  double value;
  /// Set when the number was written without fraction and exponent.
  std::optional<int64_t> integer;
};

/// `true`, `false`.
struct BoolExpr : Expr {
  BoolExpr(llvm::SMRange range, bool value) : Expr(Kind::Bool, range), value(value) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Bool; }

  bool value;
};

/// A parameter, a `let`, an input, or one of the built-in names (`q`, `k`, `Q`,
/// `kv_len`, ...). In axis position also `head`, `kv_head`, `group`, `heads`.
struct NameExpr : Expr {
  NameExpr(llvm::SMRange range, std::string name)
      : Expr(Kind::Name, range), name(std::move(name)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Name; }

  std::string name;
};

enum class UnaryOp { Negate, Not };

struct UnaryExpr : Expr {
  UnaryExpr(llvm::SMRange range, UnaryOp op, ExprPtr operand)
      : Expr(Kind::Unary, range), op(op), operand(std::move(operand)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Unary; }

  UnaryOp op;
  ExprPtr operand;
};

enum class BinaryOp { Add, Sub, Mul, Div, Mod, Lt, Le, Gt, Ge, Eq, Ne, And, Or };

struct BinaryExpr : Expr {
  BinaryExpr(llvm::SMRange range, BinaryOp op, llvm::SMLoc opLoc, ExprPtr lhs, ExprPtr rhs)
      : Expr(Kind::Binary, range), op(op), opLoc(opLoc), lhs(std::move(lhs)), rhs(std::move(rhs)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Binary; }

  BinaryOp op;
  llvm::SMLoc opLoc;
  ExprPtr lhs, rhs;
};

/// One argument of a call: positional, or `label: value`.
struct Argument {
  std::string label; ///< Empty when positional.
  llvm::SMRange labelRange;
  ExprPtr value;
};

/// `softmax(x, over: k)`, `top_k(s, 16)`, `streaming(sink: 128)`.
struct CallExpr : Expr {
  CallExpr(llvm::SMRange range, std::string callee, llvm::SMRange calleeRange,
           std::vector<Argument> arguments)
      : Expr(Kind::Call, range), callee(std::move(callee)), calleeRange(calleeRange),
        arguments(std::move(arguments)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Call; }

  std::string callee;
  llvm::SMRange calleeRange;
  std::vector<Argument> arguments;
};

/// `(q, heads)`: a list of axes, as `over:` and `into:` take it.
struct TupleExpr : Expr {
  TupleExpr(llvm::SMRange range, std::vector<ExprPtr> elements)
      : Expr(Kind::Tuple, range), elements(std::move(elements)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Tuple; }

  std::vector<ExprPtr> elements;
};

/// `x where set`.
struct WhereExpr : Expr {
  WhereExpr(llvm::SMRange range, ExprPtr value, ExprPtr set)
      : Expr(Kind::Where, range), value(std::move(value)), set(std::move(set)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Where; }

  ExprPtr value, set;
};

/// `match kind { 0: a  1: b  _: c }`.
struct MatchExpr : Expr {
  struct Arm {
    std::optional<int64_t> label; ///< Empty for `_`.
    llvm::SMRange labelRange;
    ExprPtr value;
  };

  MatchExpr(llvm::SMRange range, ExprPtr selector, std::vector<Arm> arms)
      : Expr(Kind::Match, range), selector(std::move(selector)), arms(std::move(arms)) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Match; }

  ExprPtr selector;
  std::vector<Arm> arms;
};

/// Stands where an expression could not be parsed; already reported.
struct ErrorExpr : Expr {
  explicit ErrorExpr(llvm::SMRange range) : Expr(Kind::Error, range) {}
  static bool classof(const Expr *e) { return e->kind == Kind::Error; }
};

/// `index`, `f32[head]`, `bool[head, q / 128, k / 128]`, `list[q / 64, k / 64]`.
struct TypeSyntax {
  enum class Element { Index, F32, Bool, Vec, List };

  llvm::SMRange range;
  Element element = Element::F32;
  std::vector<ExprPtr> axes; ///< Empty when no brackets were written.
};

/// `constexpr block: index = 64`.
struct Parameter {
  llvm::SMRange range, nameRange;
  bool isConstexpr = false;
  std::string name;
  TypeSyntax type;
  ExprPtr defaultValue; ///< Null when a launch must give it.
};

/// One item of a pattern's body, in source order.
struct Item {
  enum class Kind {
    Let,       ///< let name = value
    Input,     ///< input name: type
    Keep,      ///< keep value
    RestDrop,  ///< rest drop
    RestMean,  ///< rest mean(value, second)
    Skip,      ///< skip value under max
    Logit,     ///< logit value
    SinkLogit, ///< sink_logit value
    DenseWhen, ///< dense when value
    Compact,   ///< compact value
    Noncausal, ///< noncausal
  };

  Kind kind = Kind::Keep;
  llvm::SMRange range;
  std::string name; ///< Let and Input.
  llvm::SMRange nameRange;
  ExprPtr value;
  ExprPtr second;  ///< RestMean: the query axis, `q / T`.
  TypeSyntax type; ///< Input.
};

struct Pattern {
  llvm::SMRange range, nameRange;
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Item> items;
};

struct Import {
  llvm::SMRange range, pathRange;
  std::string path; ///< As written between the quotes.
};

struct File {
  std::vector<Import> imports;
  std::vector<std::unique_ptr<Pattern>> patterns;
};

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_AST_H
