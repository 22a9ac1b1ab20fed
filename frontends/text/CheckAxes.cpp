#include "frontends/text/Checker.h"

namespace skim::text {

namespace {

/// Longer blocks than any cache holds.
constexpr int64_t maxBlock = int64_t(1) << 20;

const NameExpr *asName(const Expr &expr) { return llvm::dyn_cast<NameExpr>(&expr); }

bool isNamed(const Expr &expr, llvm::StringRef name) {
  const NameExpr *nameExpr = asName(expr);
  return nameExpr != nullptr && nameExpr->name == name;
}

} // namespace

std::optional<int64_t> Checker::blockSize(const Expr &expr) {
  Folded folded = fold(expr);
  if (folded.state == Folded::State::Failed)
    return std::nullopt;
  if (!folded.isConstant()) {
    const NameExpr *nameExpr = asName(expr);
    Entity *entity = nameExpr != nullptr ? scope->find(nameExpr->name) : nullptr;
    if (entity != nullptr && entity->parameter != nullptr && !entity->parameter->isConstexpr)
      diagnostics.report(Message::BlockIsLaunchArgument, expr.range, nameExpr->name)
          .fixIt(entity->nameRange.Start, "constexpr ");
    else
      diagnostics.report(Message::BlockNotConstant, expr.range);
    return std::nullopt;
  }
  if (!folded.value.isIndex()) {
    diagnostics.report(Message::BlockNotIndex, expr.range, typeName(folded.value.type));
    return std::nullopt;
  }
  if (folded.value.integer < 1 || folded.value.integer > maxBlock) {
    diagnostics.report(Message::BlockOutOfRange, expr.range, maxBlock, folded.value.integer);
    return std::nullopt;
  }
  return folded.value.integer;
}

std::optional<AxisSyntax> Checker::axis(const Expr &expr) {
  using Kind = AxisSyntax::Kind;
  if (const NameExpr *nameExpr = asName(expr)) {
    static constexpr std::pair<llvm::StringLiteral, Kind> names[] = {
        {"q", Kind::Query},        {"k", Kind::Key},       {"head", Kind::Head},
        {"kv_head", Kind::KvHead}, {"group", Kind::Group}, {"heads", Kind::Heads}};
    for (const auto &[name, kind] : names)
      if (nameExpr->name == name)
        return AxisSyntax{kind, 1, expr.range};
  }
  if (const auto *binary = llvm::dyn_cast<BinaryExpr>(&expr)) {
    if (binary->op == BinaryOp::Sub && isNamed(*binary->lhs, "q") && isNamed(*binary->rhs, "k"))
      return AxisSyntax{Kind::Diagonal, 1, expr.range};
    if (binary->op == BinaryOp::Sub && isNamed(*binary->lhs, "k") && isNamed(*binary->rhs, "q")) {
      diagnostics.report(Message::ReversedDiagonal, expr.range).fixIt(expr.range, "q - k");
      return std::nullopt;
    }
    bool ofQuery = isNamed(*binary->lhs, "q");
    if (binary->op == BinaryOp::Div && (ofQuery || isNamed(*binary->lhs, "k"))) {
      std::optional<int64_t> block = blockSize(*binary->rhs);
      if (!block)
        return std::nullopt;
      return AxisSyntax{ofQuery ? Kind::Query : Kind::Key, *block, expr.range};
    }
  }
  if (expr.kind != Expr::Kind::Error)
    diagnostics.report(Message::ExpectedAxis, expr.range);
  return std::nullopt;
}

bool Checker::reductionAxes(const Expr &expr, llvm::SmallVectorImpl<Axis> &axes) {
  if (const auto *tuple = llvm::dyn_cast<TupleExpr>(&expr)) {
    bool allGood = true;
    for (const ExprPtr &element : tuple->elements)
      allGood &= reductionAxes(*element, axes);
    return allGood;
  }
  std::optional<AxisSyntax> syntax = axis(expr);
  if (!syntax)
    return false;
  switch (syntax->kind) {
  case AxisSyntax::Kind::Query:
    axes.push_back(Axis::query(syntax->block));
    return true;
  case AxisSyntax::Kind::Key:
    axes.push_back(Axis::key(syntax->block));
    return true;
  case AxisSyntax::Kind::Diagonal:
    axes.push_back(Axis::diagonal());
    return true;
  case AxisSyntax::Kind::Group:
    axes.push_back(Axis::group());
    return true;
  case AxisSyntax::Kind::Heads:
    axes.push_back(Axis::heads());
    return true;
  case AxisSyntax::Kind::Head:
  case AxisSyntax::Kind::KvHead:
    break;
  }
  bool isHead = syntax->kind == AxisSyntax::Kind::Head;
  diagnostics
      .report(Message::ReduceOverHead, expr.range, isHead ? "head" : "kv_head",
              isHead ? "group' or 'heads" : "heads")
      .fixIt(expr.range, isHead ? "group" : "heads");
  return false;
}

std::optional<Axis> Checker::positionAxis(const Expr &expr) {
  std::optional<AxisSyntax> syntax = axis(expr);
  if (!syntax)
    return std::nullopt;
  switch (syntax->kind) {
  case AxisSyntax::Kind::Query:
    return Axis::query(syntax->block);
  case AxisSyntax::Kind::Key:
    return Axis::key(syntax->block);
  case AxisSyntax::Kind::Diagonal:
    return Axis::diagonal();
  default:
    diagnostics.report(Message::ExpectedPositionAxis, expr.range);
    return std::nullopt;
  }
}

std::optional<ir::Axes> Checker::inputAxes(const TypeSyntax &type) {
  using Kind = AxisSyntax::Kind;
  ir::Axes axes;
  // The place of an axis in the order of an array: head, query-like, key-like.
  int lastPlace = -1;
  for (const ExprPtr &expr : type.axes) {
    std::optional<AxisSyntax> syntax = axis(*expr);
    if (!syntax)
      return std::nullopt;
    int place = 2;
    switch (syntax->kind) {
    case Kind::Group:
    case Kind::Heads:
      diagnostics.report(Message::NoInputAxis, expr->range,
                         syntax->kind == Kind::Group ? "group" : "heads");
      return std::nullopt;
    case Kind::Head:
    case Kind::KvHead:
      place = 0;
      axes.head = syntax->kind == Kind::Head ? ir::HeadAxis::Head : ir::HeadAxis::KvHead;
      break;
    case Kind::Query:
      place = 1;
      axes.query = syntax->block;
      break;
    case Kind::Key:
      axes.key = syntax->block;
      break;
    case Kind::Diagonal:
      axes.diagonal = true;
      break;
    }
    if (place <= lastPlace) {
      diagnostics.report(Message::AxisOrder, expr->range);
      return std::nullopt;
    }
    lastPlace = place;
  }
  return axes;
}

} // namespace skim::text
