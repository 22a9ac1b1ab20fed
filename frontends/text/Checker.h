// Walks the tree of a pattern and calls the builder; only the Check*.cpp files include this.
#ifndef SKIM_FRONTENDS_TEXT_CHECKER_H
#define SKIM_FRONTENDS_TEXT_CHECKER_H

#include "frontends/text/Check.h"
#include "frontends/text/Constants.h"
#include "frontends/text/Names.h"

#include "frontends/cpp/Builder.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace skim::text {

/// A constant, or a value of the IR. Neither: an error that was reported.
struct Value {
  std::optional<Constant> constant;
  mlir::Value ir;

  static Value of(Constant constant) { return {constant, {}}; }
  static Value of(mlir::Value ir) { return {std::nullopt, ir}; }
  bool isError() const { return !constant && !ir; }
};

/// A declared name.
struct Entity {
  enum class Kind { Parameter, Let, Input };

  Kind kind;
  llvm::SMRange nameRange;
  /// Empty until its `let` was reached.
  std::optional<Value> value;
  const Parameter *parameter = nullptr;
  bool isUsed = false;
};

/// The names of one pattern: the one that is built, or one that it calls.
struct Scope {
  const Pattern &pattern;
  /// The calling pattern, and where it calls; null for the pattern that is built.
  Scope *caller = nullptr;
  llvm::SMRange callRange;
  llvm::MapVector<llvm::StringRef, Entity> entities;
  /// In a `logit` clause, where `s` is the score.
  bool inLogit = false;
  /// Of a called pattern: what it keeps, and where it keeps everything.
  mlir::Value kept, dense;

  Entity *find(llvm::StringRef name) {
    auto it = entities.find(name);
    return it == entities.end() ? nullptr : &it->second;
  }
};

/// An axis as it was written.
struct AxisSyntax {
  enum class Kind { Query, Key, Diagonal, Head, KvHead, Group, Heads };

  Kind kind;
  int64_t block = 1;
  llvm::SMRange range;
};

class Checker {
public:
  Checker(const Program &program, PatternBuilder &builder, mlir::MLIRContext &context,
          Diagnostics &diagnostics)
      : program(program), builder(builder), context(context), diagnostics(diagnostics),
        errorsBefore(diagnostics.errorCount()) {
    for (const auto &file : program.files)
      for (const auto &pattern : file->tree.patterns)
        patterns.try_emplace(pattern->name, pattern.get());
  }

  /// Gives the builder everything but the end of `pattern`.
  void checkEntry(const Pattern &pattern, const BuildOptions &options);

private:
  // CheckPattern.cpp: parameters, items, clauses.
  void checkOptions(const Pattern &pattern, const BuildOptions &options);
  void declareParameters(const BuildOptions &options);
  /// False, after a report, for a type that no parameter has.
  bool checkParameterType(const Parameter &parameter);
  /// False, after one report, when there are too many.
  bool countDeclaration(llvm::SMRange range);
  Value launchArgument(const Parameter &parameter);
  Value constexprValue(const Parameter &parameter, const BuildOptions &options);
  /// The default as a constant of the parameter's type.
  std::optional<Constant> defaultOf(const Parameter &parameter);
  void declareNames();
  void declare(llvm::StringRef name, Entity entity, llvm::StringRef what);
  /// Reports clauses that stand twice, or that a called pattern may not have.
  void checkClauses();
  void checkItems();
  void checkClause(const Item &item);
  void checkInput(const Item &item);
  void checkRest(const Item &item);
  /// Unless the pattern has errors.
  void warnOfUnused();

  // NoteTypes.cpp
  /// Notes what a name of the pattern that is built is, where it was asked for.
  void noteType(const Entity &entity);

  // CheckExpr.cpp: expressions.
  /// False, after one report, when there are too many.
  bool countExpression(llvm::SMRange range);
  Value value(const Expr &expr);
  /// As a value of the IR; null after an error.
  mlir::Value map(const Expr &expr);
  mlir::Value set(const Expr &expr);
  mlir::Value materialize(const Value &value, mlir::Location loc);
  Folded fold(const Expr &expr);
  Value name(const NameExpr &expr);
  Value builtinValue(const NameExpr &expr);
  void reportUnknownName(const NameExpr &expr);
  Value unary(const UnaryExpr &expr);
  Value binary(const BinaryExpr &expr);
  mlir::Value junction(const BinaryExpr &expr);
  mlir::Value arithmetic(const BinaryExpr &expr, mlir::Value lhs, mlir::Value rhs);
  bool checkPositionFactor(const BinaryExpr &expr, mlir::Value position, const Expr &factor);
  Value match(const MatchExpr &expr);
  /// True, after a report, when an index or a score stands where a set is expected.
  bool reportNoSet(const Expr &expr, const Value &value);

  // CheckCall.cpp: the language's functions.
  Value call(const CallExpr &expr);
  Value callFunction(const CallExpr &expr, const BuiltinFunction &function);
  bool checkArguments(const CallExpr &expr, const BuiltinFunction &function);
  mlir::Value callUnary(const CallExpr &expr);
  mlir::Value callDot(const CallExpr &expr);
  mlir::Value callCast(const CallExpr &expr, ir::CastKind kind);
  mlir::Value callSoftmax(const CallExpr &expr);
  mlir::Value callReduce(const CallExpr &expr, ir::ReduceKind kind);
  mlir::Value callShortReduce(const CallExpr &expr, ir::ReduceKind kind, mlir::Value operand,
                              const Expr &size);
  mlir::Value callExtremum(const CallExpr &expr);
  mlir::Value callCover(const CallExpr &expr);

  // CheckPatternCall.cpp: calls of other patterns.
  Value callPattern(const CallExpr &expr, const Pattern &pattern);
  bool reportRecursion(const CallExpr &expr, const Pattern &pattern);
  void bindArguments(const CallExpr &expr, Scope &callee);
  Value argumentFor(const Parameter &parameter, const Expr &expr);

  // CheckAxes.cpp: axes and types.
  std::optional<AxisSyntax> axis(const Expr &expr);
  std::optional<int64_t> blockSize(const Expr &expr);
  /// One axis or a list of them, of those that `over:` and `into:` take.
  bool reductionAxes(const Expr &expr, llvm::SmallVectorImpl<Axis> &axes);
  /// A position axis, for `softmax`.
  std::optional<Axis> positionAxis(const Expr &expr);
  std::optional<ir::Axes> inputAxes(const TypeSyntax &type);

  mlir::Location locationOf(llvm::SMRange range);
  mlir::Location locationOf(const Expr &expr) { return locationOf(expr.range); }

  const Program &program;
  llvm::StringMap<const Pattern *> patterns;
  PatternBuilder &builder;
  mlir::MLIRContext &context;
  Diagnostics &diagnostics;
  unsigned errorsBefore;
  DeclaredTypes *types = nullptr;
  Scope *scope = nullptr;
  /// Expressions looked at so far, those of called patterns once a call.
  unsigned expressions = 0;
  unsigned depth = 0;
  unsigned declarations = 0;
};

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_CHECKER_H
