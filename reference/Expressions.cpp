// Names, operators, `where`, `match` and axes (rules 3, 4, 7 and 14).
#include "reference/Evaluator.h"
#include "reference/Pointwise.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/FormatVariadic.h"

#include <utility>

using llvm::cast;
using llvm::dyn_cast;
using namespace skim::text;

namespace skim::reference {

// Bounds on what one pattern may ask for, far above any that a person writes.
constexpr int64_t maxDepth = 2000;
constexpr int64_t maxExpressions = 200000;
constexpr int64_t maxBlock = INT32_MAX;

static bool isSet(const Map &map) { return map.element == Element::Bool; }

std::nullptr_t Evaluator::fail(llvm::SMRange range, std::string message) {
  if (!failure)
    failure = Error{std::move(message), range};
  return nullptr;
}

MapPtr Evaluator::uniform(Element element, double value, bool isConstant) {
  auto map =
      std::make_shared<UniformMap>(request, HeadAxis::None, element, std::vector<double>{value});
  map->constant = isConstant;
  return map;
}

bool Evaluator::fits(const Axes &axes, int64_t dim, llvm::SMRange range) {
  if (DenseMap::size(request, axes, dim) <= DenseMap::maxSize)
    return true;
  fail(range, "map over '" + describe(axes) + "' is too large for the reference");
  return false;
}

MapPtr Evaluator::evaluate(const Expr &expr, Scope &scope) {
  if (++expressions > maxExpressions)
    return fail(expr.range, "pattern is too large for the reference");
  MapPtr result;
  switch (expr.kind) {
  case Expr::Kind::Number: {
    const auto &number = cast<NumberExpr>(expr);
    result = number.integer ? uniform(Element::Index, static_cast<double>(*number.integer), true)
                            : uniform(Element::F32, static_cast<float>(number.value), true);
    break;
  }
  case Expr::Kind::Bool:
    result = uniform(Element::Bool, cast<BoolExpr>(expr).value);
    break;
  case Expr::Kind::Name:
    result = evaluateName(cast<NameExpr>(expr), scope);
    break;
  case Expr::Kind::Unary:
    result = evaluateUnary(cast<UnaryExpr>(expr), scope);
    break;
  case Expr::Kind::Binary:
    result = evaluateBinary(cast<BinaryExpr>(expr), scope);
    break;
  case Expr::Kind::Call:
    result = evaluateCall(cast<CallExpr>(expr), scope);
    break;
  case Expr::Kind::Where:
    result = evaluateWhere(cast<WhereExpr>(expr), scope);
    break;
  case Expr::Kind::Match:
    result = evaluateMatch(cast<MatchExpr>(expr), scope);
    break;
  case Expr::Kind::Tuple:
    return fail(expr.range, "a list of axes is not a value");
  case Expr::Kind::Error:
    return fail(expr.range, "expression could not be parsed");
  }
  if (result && result->depth > maxDepth)
    return fail(expr.range, "pattern is too deep for the reference");
  return result;
}

MapPtr Evaluator::evaluateName(const NameExpr &name, Scope &scope) {
  if (auto found = scope.names.find(name.name); found != scope.names.end())
    return found->second;
  if (auto found = scope.inputs.find(name.name); found != scope.inputs.end()) {
    const Item *item = std::exchange(found->second, nullptr);
    if (!item)
      return fail(name.range, "type of the input '" + name.name + "' refers to itself");
    MapPtr input = bindInput(*item, scope);
    scope.inputs[name.name] = item;
    return input ? scope.names[name.name] = input : nullptr;
  }
  auto perHead = [&](HeadAxis axis) -> MapPtr {
    std::vector<double> heads;
    heads.reserve(request.headCount(axis));
    for (int64_t i = 0; i < request.headCount(axis); ++i)
      heads.push_back(i);
    auto map = std::make_shared<UniformMap>(request, axis, Element::Index, std::move(heads));
    map->checkedAtLaunch = true;
    return map;
  };
  if (name.name == "q" || name.name == "k")
    return std::make_shared<PositionMap>(request, name.name == "q", 1);
  if (name.name == "Q")
    return query();
  if (name.name == "K")
    return keys();
  if (name.name == "V")
    return values();
  if (name.name == "s" && scope.hasScore)
    return scores();
  if (name.name == "q_len" || name.name == "kv_len")
    return uniform(Element::Index, name.name == "q_len" ? request.qLen : request.kvLen);
  if (name.name == "layer") {
    auto map = std::make_shared<UniformMap>(request, HeadAxis::None, Element::Index,
                                            std::vector<double>{double(problem.layer)});
    map->checkedAtLaunch = true;
    return map;
  }
  if (name.name == "head" || name.name == "kv_head")
    return perHead(name.name == "head" ? HeadAxis::Head : HeadAxis::KvHead);
  return fail(name.range, "unknown name '" + name.name + "'");
}

MapPtr Evaluator::evaluateUnary(const UnaryExpr &unary, Scope &scope) {
  if (unary.op == UnaryOp::Not) {
    MapPtr set = evaluateSet(*unary.operand, scope);
    return set ? std::make_shared<UnaryMap>(Unary::Not, set) : nullptr;
  }
  MapPtr value = evaluate(*unary.operand, scope);
  if (!value)
    return nullptr;
  if (isSet(*value))
    return fail(unary.range, "expected a number but got a truth value");
  return std::make_shared<UnaryMap>(Unary::Negate, value);
}

std::optional<Axes> Evaluator::join(const Map &a, const Map &b, llvm::SMRange range) {
  // Positions are known at every granularity.
  if (a.positional && b.positional)
    return refine(a.axes, b.axes);
  std::optional<Axes> axes = meet(a.axes, b.axes);
  if (!axes)
    fail(range, "axes '" + describe(a.axes) + "' and '" + describe(b.axes) + "' do not meet");
  return axes;
}

/// `q / 64 / 2` is a block index like `q / 128`. Null for any other division.
static MapPtr divideBlocks(const Map &lhs, const Map &rhs) {
  const auto *position = dynamic_cast<const PositionMap *>(&lhs);
  const auto *divisor = dynamic_cast<const UniformMap *>(&rhs);
  if (!position || !divisor || divisor->axes.head != HeadAxis::None ||
      divisor->element != Element::Index)
    return nullptr;
  double block = divisor->row(0, 0).front() *
                 static_cast<double>(std::max(position->axes.query, position->axes.key));
  if (!(block >= 1 && block <= maxBlock))
    return nullptr;
  return position->dividedBy(static_cast<int64_t>(divisor->row(0, 0).front()));
}

static Binary binaryOf(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return Binary::Add;
  case BinaryOp::Sub:
    return Binary::Sub;
  case BinaryOp::Mul:
    return Binary::Mul;
  case BinaryOp::Div:
    return Binary::Div;
  case BinaryOp::Mod:
    return Binary::Mod;
  case BinaryOp::Lt:
    return Binary::Lt;
  case BinaryOp::Le:
    return Binary::Le;
  case BinaryOp::Gt:
    return Binary::Gt;
  case BinaryOp::Ge:
    return Binary::Ge;
  case BinaryOp::Eq:
    return Binary::Eq;
  case BinaryOp::Ne:
    return Binary::Ne;
  case BinaryOp::And:
    return Binary::And;
  case BinaryOp::Or:
    return Binary::Or;
  }
  return Binary::Or;
}

MapPtr Evaluator::evaluateBinary(const BinaryExpr &binary, Scope &scope) {
  Binary op = binaryOf(binary.op);
  bool combinesSets = op == Binary::And || op == Binary::Or;
  MapPtr lhs = combinesSets ? evaluateSet(*binary.lhs, scope) : evaluate(*binary.lhs, scope);
  MapPtr rhs = !lhs           ? nullptr
               : combinesSets ? evaluateSet(*binary.rhs, scope)
                              : evaluate(*binary.rhs, scope);
  if (!lhs || !rhs)
    return nullptr;
  // Sets of any granularity combine freely (rule 7).
  if (combinesSets)
    return std::make_shared<BinaryMap>(op, lhs, rhs, refine(lhs->axes, rhs->axes));

  if (isSet(*lhs) || isSet(*rhs))
    return fail(binary.range, "expected numbers but got a truth value");
  bool vectors = lhs->element == Element::Vec || rhs->element == Element::Vec;
  if (vectors && op >= Binary::Lt)
    return fail(binary.range, "vectors cannot be compared");
  if (vectors && lhs->element == rhs->element && lhs->dim != rhs->dim)
    return fail(binary.range, "vectors of " + std::to_string(lhs->dim) + " and " +
                                  std::to_string(rhs->dim) + " components do not combine");
  if (op == Binary::Mod && (lhs->element != Element::Index || rhs->element != Element::Index))
    return fail(binary.range, "'%' takes index values");
  if (op == Binary::Div)
    if (MapPtr blocks = divideBlocks(*lhs, *rhs))
      return blocks;
  // A comparison of index maps makes a set, whose granularity is free.
  bool isFree =
      op >= Binary::Lt && lhs->element == Element::Index && rhs->element == Element::Index;
  std::optional<Axes> axes = isFree ? refine(lhs->axes, rhs->axes) : join(*lhs, *rhs, binary.range);
  return axes ? std::make_shared<BinaryMap>(op, lhs, rhs, *axes) : nullptr;
}

MapPtr Evaluator::evaluateSet(const Expr &expr, Scope &scope) {
  MapPtr set = evaluate(expr, scope);
  if (set && !isSet(*set))
    return fail(expr.range, "expected a set but got numbers");
  return set;
}

MapPtr Evaluator::evaluateUniform(const Expr &expr, Scope &scope) {
  MapPtr value = evaluate(expr, scope);
  if (value && value->axes.hasPositions())
    return fail(expr.range, "expected a value without positions but got one over '" +
                                describe(value->axes) + "'");
  return value;
}

std::optional<int64_t> Evaluator::evaluateConstant(const Expr &expr, Scope &scope) {
  MapPtr value = evaluateUniform(expr, scope);
  if (!value)
    return std::nullopt;
  double number = value->row(0, 0).front();
  if (value->element != Element::Index || value->axes.head != HeadAxis::None ||
      !(number >= 1 && number <= maxBlock)) {
    fail(expr.range, "expected a constant of at least 1");
    return std::nullopt;
  }
  return static_cast<int64_t>(number);
}

MapPtr Evaluator::evaluateWhere(const WhereExpr &where, Scope &scope) {
  MapPtr value = evaluate(*where.value, scope);
  MapPtr set = value ? evaluateSet(*where.set, scope) : nullptr;
  if (!set)
    return nullptr;
  // The set must not change within a cell of the map.
  Axes axes = refine(value->axes, set->axes);
  bool rowsAlone = !set->axes.diagonal && set->axes.key == 0 && value->axes.query != 0;
  if (value->axes.diagonal && rowsAlone && set->axes.query % value->axes.query == 0) {
    // A set of whole rows of cells leaves distances as they are.
    axes = value->axes;
    axes.head = std::max(value->axes.head, set->axes.head);
  }
  if ((value->axes.query && value->axes.query != axes.query) ||
      (value->axes.key && value->axes.key != axes.key))
    return fail(where.range, "set over '" + describe(set->axes) + "' changes within cells of '" +
                                 describe(value->axes) + "'");
  return std::make_shared<WhereMap>(value, set, axes);
}

MapPtr Evaluator::evaluateMatch(const MatchExpr &match, Scope &scope) {
  MapPtr selector = evaluateUniform(*match.selector, scope);
  if (!selector)
    return nullptr;
  if (selector->element != Element::Index)
    return fail(match.selector->range, "selector of 'match' is not an index");
  std::vector<MatchMap::Arm> arms;
  Axes axes = selector->axes;
  for (const MatchExpr::Arm &arm : match.arms) {
    MapPtr value = evaluateSet(*arm.value, scope);
    if (!value)
      return nullptr;
    axes = refine(axes, value->axes);
    arms.push_back({arm.label, value});
  }
  for (int64_t head = 0; head < request.headCount(selector->axes.head); ++head) {
    double label = selector->row(head, 0).front();
    if (MatchMap::find(arms, label))
      continue;
    if (selector->checkedAtLaunch || selector->constant)
      return fail(match.range, llvm::formatv("'match' lists no value {0:F0}", label));
    status.unlistedLabel |= request.qLen != 0; // Nobody asks for a request without rows.
  }
  return std::make_shared<MatchMap>(selector, std::move(arms), axes, Element::Bool);
}

std::optional<AxisName> Evaluator::evaluateAxis(const Expr &expr, Scope &scope) {
  using Kind = AxisName::Kind;
  auto nameOf = [](const Expr &e) {
    const auto *name = dyn_cast<NameExpr>(&e);
    return name ? llvm::StringRef(name->name) : llvm::StringRef();
  };
  if (const auto *binary = dyn_cast<BinaryExpr>(&expr)) {
    llvm::StringRef lhs = nameOf(*binary->lhs), rhs = nameOf(*binary->rhs);
    if (binary->op == BinaryOp::Sub && lhs == "q" && rhs == "k")
      return AxisName{Kind::Diagonal, 1};
    if (binary->op == BinaryOp::Div && (lhs == "q" || lhs == "k")) {
      std::optional<int64_t> block = evaluateConstant(*binary->rhs, scope);
      if (!block)
        return std::nullopt;
      return AxisName{lhs == "q" ? Kind::Query : Kind::Key, *block};
    }
  }
  auto kind = llvm::StringSwitch<std::optional<Kind>>(nameOf(expr))
                  .Case("q", Kind::Query)
                  .Case("k", Kind::Key)
                  .Case("head", Kind::Head)
                  .Case("kv_head", Kind::KvHead)
                  .Case("group", Kind::Group)
                  .Case("heads", Kind::Heads)
                  .Default(std::nullopt);
  if (kind)
    return AxisName{*kind, 1};
  fail(expr.range, "expected an axis");
  return std::nullopt;
}

} // namespace skim::reference
