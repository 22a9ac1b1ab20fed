#include "frontends/text/Checker.h"

#include "frontends/text/Limits.h"
#include "frontends/text/Locations.h"
#include "frontends/text/Spelling.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSwitch.h"

namespace skim::text {

namespace {

/// Far more than a person writes; bounds the work that patterns calling patterns can ask for.
constexpr unsigned maxExpressions = 50'000;

std::optional<ir::Comparison> comparison(BinaryOp op) {
  switch (op) {
  case BinaryOp::Lt:
    return ir::Comparison::Lt;
  case BinaryOp::Le:
    return ir::Comparison::Le;
  case BinaryOp::Gt:
    return ir::Comparison::Gt;
  case BinaryOp::Ge:
    return ir::Comparison::Ge;
  case BinaryOp::Eq:
    return ir::Comparison::Eq;
  case BinaryOp::Ne:
    return ir::Comparison::Ne;
  default:
    return std::nullopt;
  }
}

llvm::StringRef spelling(BinaryOp op) {
  switch (op) {
  case BinaryOp::Mul:
    return "*";
  case BinaryOp::Div:
    return "/";
  default:
    return "%";
  }
}

/// The operands of a chain of one operator, left to right.
void flatten(const Expr &expr, BinaryOp op, llvm::SmallVectorImpl<const Expr *> &operands) {
  const auto *binary = llvm::dyn_cast<BinaryExpr>(&expr);
  if (binary == nullptr || binary->op != op) {
    operands.push_back(&expr);
    return;
  }
  flatten(*binary->lhs, op, operands);
  flatten(*binary->rhs, op, operands);
}

/// The name here of what other systems call otherwise; empty when none.
llvm::StringRef nameMeant(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"i", "row", "query", "q_idx", "q_pos"}, "q")
      .Cases({"j", "col", "key", "kv_idx", "k_pos", "kv"}, "k")
      .Cases({"seq_len", "seqlen", "n", "N", "length"}, "kv_len")
      .Cases({"score", "qk"}, "s")
      .Cases({"True", "TRUE"}, "true")
      .Cases({"False", "FALSE"}, "false")
      .Case("h", "head")
      .Default("");
}

} // namespace

mlir::Location Checker::locationOf(llvm::SMRange range) {
  mlir::Location location = text::locationOf(range, context, diagnostics);
  for (const Scope *at = scope; at != nullptr && at->caller != nullptr; at = at->caller)
    location =
        mlir::CallSiteLoc::get(location, text::locationOf(at->callRange, context, diagnostics));
  return location;
}

mlir::Value Checker::materialize(const Value &value, mlir::Location loc) {
  if (!value.constant)
    return value.ir;
  const Constant &constant = *value.constant;
  switch (constant.type) {
  case Constant::Type::Index:
    return builder.indexConstant(loc, constant.integer);
  case Constant::Type::F32:
    return builder.f32Constant(loc, constant.real);
  case Constant::Type::Bool:
    break;
  }
  return builder.boolConstant(loc, constant.integer != 0);
}

mlir::Value Checker::map(const Expr &expr) { return materialize(value(expr), locationOf(expr)); }

Folded Checker::fold(const Expr &expr) {
  auto lookup = [&](llvm::StringRef name) -> std::optional<Constant> {
    bool isScore = scope->inLogit && name == "s";
    Entity *entity = isScore ? nullptr : scope->find(name);
    if (entity == nullptr || !entity->value || !entity->value->constant)
      return std::nullopt;
    entity->isUsed = true;
    return entity->value->constant;
  };
  return evaluate(expr, lookup, diagnostics);
}

bool Checker::countExpression(llvm::SMRange range) {
  if (++expressions == maxExpressions + 1)
    diagnostics.report(Message::TooManyExpressions, range, maxExpressions);
  return expressions <= maxExpressions;
}

Value Checker::value(const Expr &expr) {
  if (!countExpression(expr.range))
    return {};
  ++depth;
  llvm::scope_exit leave([&] { --depth; });
  if (depth > maxNesting) {
    diagnostics.report(Message::CallsTooDeep, expr.range, maxNesting);
    return {};
  }
  Folded folded = fold(expr);
  if (folded.state == Folded::State::Failed)
    return {};
  if (folded.isConstant())
    return Value::of(folded.value);

  switch (expr.kind) {
  case Expr::Kind::Name:
    return name(llvm::cast<NameExpr>(expr));
  case Expr::Kind::Unary:
    return unary(llvm::cast<UnaryExpr>(expr));
  case Expr::Kind::Binary:
    return binary(llvm::cast<BinaryExpr>(expr));
  case Expr::Kind::Call:
    return call(llvm::cast<CallExpr>(expr));
  case Expr::Kind::Where: {
    const auto &where = llvm::cast<WhereExpr>(expr);
    mlir::Value cells = map(*where.value);
    mlir::Value chosen = set(*where.set);
    return Value::of(builder.where(locationOf(expr), cells, chosen));
  }
  case Expr::Kind::Match:
    return match(llvm::cast<MatchExpr>(expr));
  case Expr::Kind::Tuple:
    diagnostics.report(Message::TupleAsValue, expr.range);
    return {};
  case Expr::Kind::Number:
  case Expr::Kind::Bool:
  case Expr::Kind::Error:
    break;
  }
  return {};
}

Value Checker::name(const NameExpr &expr) {
  if (scope->inLogit && expr.name == "s") {
    if (Entity *hidden = scope->find("s"))
      diagnostics.report(Message::ScoreIsHidden, expr.range)
          .note(Message::DeclaredHere, hidden->nameRange, "s");
    return Value::of(builder.score(locationOf(expr)));
  }
  if (Entity *entity = scope->find(expr.name)) {
    entity->isUsed = true;
    if (entity->value)
      return *entity->value;
    diagnostics.report(Message::UsedBeforeLet, expr.range, expr.name)
        .note(Message::DeclaredHere, entity->nameRange, expr.name);
    return {};
  }
  if (isBuiltinValue(expr.name))
    return builtinValue(expr);
  reportUnknownName(expr);
  return {};
}

Value Checker::builtinValue(const NameExpr &expr) {
  mlir::Location loc = locationOf(expr);
  if (expr.name == "q")
    return Value::of(builder.queryPosition(loc));
  if (expr.name == "k")
    return Value::of(builder.keyPosition(loc));
  if (std::optional<ir::OperandKind> operand = ir::symbolizeOperandKind(expr.name))
    return Value::of(builder.operand(loc, *operand));
  return Value::of(builder.uniform(loc, *ir::symbolizeUniformKind(expr.name)));
}

void Checker::reportUnknownName(const NameExpr &expr) {
  llvm::StringRef name = expr.name;
  if (name == "s") {
    diagnostics.report(Message::ScoreOutsideLogit, expr.range);
    return;
  }
  if (llvm::is_contained(headAxes(), name)) {
    diagnostics.report(Message::AxisAsValue, expr.range, name);
    return;
  }
  if (const BuiltinFunction *function = findFunction(name)) {
    diagnostics.report(Message::FunctionAsValue, expr.range, name, function->usage);
    return;
  }
  if (patterns.contains(name)) {
    diagnostics.report(Message::PatternAsValue, expr.range, name).fixIt(expr.range.End, "()");
    return;
  }
  llvm::SmallVector<llvm::StringRef> candidates;
  for (const auto &entry : scope->entities)
    candidates.push_back(entry.first);
  for (llvm::StringRef builtin : builtinValues())
    candidates.push_back(builtin);
  llvm::StringRef meant = closestSpelling(name, candidates);
  if (meant.empty())
    meant = nameMeant(name);
  if (meant.empty())
    diagnostics.report(Message::UnknownName, expr.range, name);
  else
    diagnostics.report(Message::MisspelledName, expr.range, name, meant).fixIt(expr.range, meant);
}

Value Checker::unary(const UnaryExpr &expr) {
  if (expr.op == UnaryOp::Not)
    return Value::of(builder.complement(locationOf(expr), set(*expr.operand)));
  return Value::of(builder.neg(locationOf(expr), map(*expr.operand)));
}

Value Checker::binary(const BinaryExpr &expr) {
  if (expr.op == BinaryOp::And || expr.op == BinaryOp::Or)
    return Value::of(junction(expr));
  mlir::Value lhs = map(*expr.lhs);
  mlir::Value rhs = map(*expr.rhs);
  if (std::optional<ir::Comparison> predicate = comparison(expr.op))
    return Value::of(builder.compare(locationOf(expr), *predicate, lhs, rhs));
  return Value::of(arithmetic(expr, lhs, rhs));
}

mlir::Value Checker::junction(const BinaryExpr &expr) {
  llvm::SmallVector<const Expr *> operands;
  flatten(expr, expr.op, operands);
  llvm::SmallVector<mlir::Value> sets;
  for (const Expr *operand : operands)
    sets.push_back(set(*operand));
  return expr.op == BinaryOp::And ? builder.conjunction(locationOf(expr), sets)
                                  : builder.disjunction(locationOf(expr), sets);
}

mlir::Value Checker::arithmetic(const BinaryExpr &expr, mlir::Value lhs, mlir::Value rhs) {
  mlir::Location loc = locationOf(expr);
  switch (expr.op) {
  case BinaryOp::Add:
    return builder.add(loc, lhs, rhs);
  case BinaryOp::Sub:
    return builder.sub(loc, lhs, rhs);
  case BinaryOp::Mul:
    if (!checkPositionFactor(expr, lhs, *expr.rhs) || !checkPositionFactor(expr, rhs, *expr.lhs))
      return {};
    return builder.mul(loc, lhs, rhs);
  case BinaryOp::Div:
    return checkPositionFactor(expr, lhs, *expr.rhs) ? builder.div(loc, lhs, rhs) : mlir::Value();
  default:
    return checkPositionFactor(expr, lhs, *expr.rhs) ? builder.mod(loc, lhs, rhs) : mlir::Value();
  }
}

bool Checker::checkPositionFactor(const BinaryExpr &expr, mlir::Value position,
                                  const Expr &factor) {
  const auto *nameExpr = llvm::dyn_cast<NameExpr>(&factor);
  if (!position || nameExpr == nullptr || !position.getDefiningOp<ir::PositionOp>())
    return true;
  Entity *entity = scope->find(nameExpr->name);
  if (entity == nullptr || entity->parameter == nullptr || entity->parameter->isConstexpr ||
      entity->parameter->type.element != TypeSyntax::Element::Index)
    return true;
  diagnostics
      .report(Message::PositionByLaunchArgument, factor.range, spelling(expr.op), nameExpr->name)
      .fixIt(entity->nameRange.Start, "constexpr ");
  return false;
}

mlir::Value Checker::set(const Expr &expr) {
  Value found = value(expr);
  if (found.isError() || reportNoSet(expr, found))
    return {};
  return builder.toSet(locationOf(expr), materialize(found, locationOf(expr)));
}

bool Checker::reportNoSet(const Expr &expr, const Value &value) {
  const auto *nameExpr = llvm::dyn_cast<NameExpr>(&expr);
  auto type = value.ir ? llvm::dyn_cast<ir::MapType>(value.ir.getType()) : ir::MapType();
  bool isCount =
      value.constant ? value.constant->isIndex() : type && type.isIndex() && type.isUniform();
  if (isCount && nameExpr != nullptr && !isBuiltinValue(nameExpr->name)) {
    diagnostics.report(Message::CountAsSet, expr.range, nameExpr->name)
        .fixIt(expr.range, "q - k < " + nameExpr->name);
    return true;
  }
  if (value.constant && !value.constant->isBool()) {
    diagnostics.report(Message::NumberAsSet, expr.range, value.constant->text());
    return true;
  }
  if (type && type.isF32() && !type.isUniform() && nameExpr != nullptr) {
    diagnostics.report(Message::ScoreAsSet, expr.range, nameExpr->name);
    return true;
  }
  return false;
}

Value Checker::match(const MatchExpr &expr) {
  Value selector = value(*expr.selector);
  llvm::SmallVector<int64_t> labels;
  llvm::SmallVector<mlir::Value> arms;
  mlir::Value otherwise;
  llvm::DenseMap<int64_t, llvm::SMRange> seen;
  llvm::SMRange otherwiseRange;
  const Expr *chosen = nullptr;
  bool isGood = !selector.isError();
  for (const MatchExpr::Arm &arm : expr.arms) {
    mlir::Value armSet = set(*arm.value);
    isGood &= static_cast<bool>(armSet);
    llvm::SMRange &first = arm.label ? seen[*arm.label] : otherwiseRange;
    if (first.isValid()) {
      diagnostics.report(Message::DuplicateLabel, arm.labelRange).note(Message::FirstHere, first);
      isGood = false;
      continue;
    }
    first = arm.labelRange;
    if (!arm.label) {
      otherwise = armSet;
      continue;
    }
    labels.push_back(*arm.label);
    arms.push_back(armSet);
    if (selector.constant && selector.constant->isIndex() &&
        selector.constant->integer == *arm.label)
      chosen = arm.value.get();
  }
  if (selector.constant && selector.constant->isIndex() && chosen == nullptr &&
      !otherwiseRange.isValid()) {
    diagnostics.report(Message::NoArmForValue, expr.selector->range, selector.constant->integer);
    return {};
  }
  if (!isGood)
    return {};
  mlir::Location loc = locationOf(expr);
  return Value::of(builder.match(loc, materialize(selector, locationOf(*expr.selector)), labels,
                                 arms, otherwise));
}

} // namespace skim::text
