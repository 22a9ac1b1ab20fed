// From syntax to maps: evaluates a pattern for one request. The reference has no
// type checker of its own; what it cannot make sense of is an error.
#ifndef SKIM_REFERENCE_EVALUATOR_H
#define SKIM_REFERENCE_EVALUATOR_H

#include "frontends/text/Ast.h"
#include "frontends/text/Loader.h"
#include "reference/Map.h"
#include "reference/Problem.h"
#include "reference/Reduce.h"
#include "reference/Vectors.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skim::reference {

/// The clauses of a pattern, evaluated. Null where a clause was not written.
struct Clauses {
  MapPtr keep, denseWhen, logit, sinkLogit, compact;
  int64_t restKeys = 0;    ///< B of `rest mean(B, q / T)`; 0 without it.
  int64_t restQueries = 0; ///< T.
};

/// An axis by name, as `over:`, `into:` and types take it.
struct AxisName {
  enum class Kind { Query, Key, Diagonal, Head, KvHead, Group, Heads };
  Kind kind = Kind::Query;
  int64_t block = 1;
};

class Evaluator {
public:
  /// `statusOf` collects what rules 14 and 15 note.
  Evaluator(const text::Program &program, const Problem &problem, const Request &request,
            Result &statusOf);

  /// None after an error, which `error` then describes.
  std::optional<Clauses> evaluate(const text::Pattern &pattern);
  const std::optional<Error> &error() const { return failure; }

  /// The operands of the request, and the scaled scores of its visible pairs.
  MapPtr query(), keys(), values(), scores();

private:
  /// What names mean inside one pattern.
  struct Scope {
    const text::Pattern *pattern = nullptr;
    std::map<std::string, MapPtr> names;
    std::map<std::string, const text::Item *> inputs;
    bool hasScore = false; ///< Inside `logit`, where `s` is the score.
  };
  /// Positional and labelled arguments of a call.
  struct Arguments {
    std::vector<const text::Expr *> positional;
    std::map<std::string, const text::Expr *> labelled;
  };

  // Patterns.cpp
  bool bindParameters(const text::Pattern &pattern, Scope &scope);
  bool bindArguments(const text::CallExpr &call, const text::Pattern &callee, Scope &caller,
                     Scope &scope);
  bool evaluateItem(const text::Item &item, Scope &scope, Clauses &clauses);
  bool checkSelfContained(const text::Pattern &callee, llvm::SMRange call);
  MapPtr callPattern(const text::CallExpr &call, const text::Pattern &callee, Scope &caller);
  MapPtr parameterValue(const text::Parameter &parameter, llvm::ArrayRef<double> values);
  std::optional<Axes> typeAxes(const text::TypeSyntax &type, Scope &scope);
  MapPtr bindInput(const text::Item &input, Scope &scope);
  bool bindLists(Scope &scope);

  // Expressions.cpp
  MapPtr evaluate(const text::Expr &expr, Scope &scope);
  MapPtr evaluateName(const text::NameExpr &name, Scope &scope);
  MapPtr evaluateUnary(const text::UnaryExpr &unary, Scope &scope);
  MapPtr evaluateBinary(const text::BinaryExpr &binary, Scope &scope);
  MapPtr evaluateWhere(const text::WhereExpr &where, Scope &scope);
  MapPtr evaluateMatch(const text::MatchExpr &match, Scope &scope);
  MapPtr evaluateSet(const text::Expr &expr, Scope &scope);
  MapPtr evaluateUniform(const text::Expr &expr, Scope &scope);
  std::optional<int64_t> evaluateConstant(const text::Expr &expr, Scope &scope);
  std::optional<AxisName> evaluateAxis(const text::Expr &expr, Scope &scope);
  /// Axes on which an element-wise result stands (rule 7).
  std::optional<Axes> join(const Map &a, const Map &b, llvm::SMRange range);
  MapPtr convert(MapPtr value, Element element, llvm::SMRange range);

  // Builtins.cpp
  MapPtr evaluateCall(const text::CallExpr &call, Scope &scope);
  std::optional<Arguments> splitArguments(const text::CallExpr &call, size_t least, size_t most,
                                          llvm::ArrayRef<llvm::StringRef> labels);
  MapPtr evaluateDot(const text::CallExpr &call, Scope &scope);
  MapPtr evaluateCast(const text::CallExpr &call, Format format, Scope &scope);
  MapPtr evaluateLinear(const text::CallExpr &call, Scope &scope);
  MapPtr evaluateLast(const text::CallExpr &call, Scope &scope);
  MapPtr evaluateExtremum(const text::CallExpr &call, bool isMax, Scope &scope);
  MapPtr evaluateSelection(const text::CallExpr &call, bool isTopK, Scope &scope);
  MapPtr evaluateCover(const text::CallExpr &call, Scope &scope);

  // Reductions.cpp
  MapPtr evaluateReduction(const text::CallExpr &call, Reduction kind, Scope &scope);
  MapPtr evaluateSoftmax(const text::CallExpr &call, Scope &scope);
  MapPtr evaluateSmooth(const text::CallExpr &call, Scope &scope);
  bool removeAxis(Axes &axes, AxisName axis, llvm::SMRange range);
  bool coarsenAxis(Axes &axes, AxisName axis, llvm::SMRange range);
  std::vector<const text::Expr *> axisList(const text::Expr *expr);

  MapPtr operand(const Tokens &tokens, HeadAxis head, bool isQuery);
  MapPtr uniform(Element element, double value, bool isConstant = false);
  std::nullptr_t fail(llvm::SMRange range, std::string message);
  /// Rule 15 for a number that the host holds; true for any other.
  bool checkRange(const Map &value, double least, std::optional<double> most, llvm::SMRange range);
  bool fits(const Axes &axes, int64_t dim, llvm::SMRange range);

  const text::Program &program;
  const Problem &problem;
  const Request &request;
  Result &status;
  std::optional<Error> failure;
  MapPtr cachedQuery, cachedKeys, cachedValues, cachedScores;
  std::vector<const text::Pattern *> callStack;
  int64_t expressions = 0;
};

} // namespace skim::reference

#endif // SKIM_REFERENCE_EVALUATOR_H
