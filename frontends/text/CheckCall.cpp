#include "frontends/text/Checker.h"

#include "frontends/text/Spelling.h"

#include "llvm/ADT/StringSwitch.h"

namespace skim::text {

namespace {

/// The value of a named argument; null when it was not given.
const Expr *labelled(const CallExpr &call, llvm::StringRef label) {
  for (const Argument &argument : call.arguments)
    if (argument.label == label)
      return argument.value.get();
  return nullptr;
}

llvm::SmallVector<const Expr *> positional(const CallExpr &call) {
  llvm::SmallVector<const Expr *> values;
  for (const Argument &argument : call.arguments)
    if (argument.label.empty())
      values.push_back(argument.value.get());
  return values;
}

} // namespace

Value Checker::call(const CallExpr &expr) {
  if (const BuiltinFunction *function = findFunction(expr.callee))
    return callFunction(expr, *function);
  if (const Pattern *pattern = patterns.lookup(expr.callee))
    return callPattern(expr, *pattern);
  if (Entity *entity = scope->find(expr.callee)) {
    entity->isUsed = true;
    diagnostics.report(Message::CallOfValue, expr.calleeRange, expr.callee)
        .note(Message::DeclaredHere, entity->nameRange, expr.callee);
    return {};
  }

  llvm::SmallVector<llvm::StringRef> candidates;
  for (const BuiltinFunction &function : functions())
    candidates.push_back(function.name);
  for (llvm::StringRef name : program.names())
    candidates.push_back(name);
  llvm::StringRef meant = llvm::StringSwitch<llvm::StringRef>(expr.callee)
                              .Cases({"topk", "top"}, "top_k")
                              .Cases({"topp", "nucleus"}, "top_p")
                              .Cases({"avg", "average", "pool"}, "mean")
                              .Cases({"matmul", "einsum"}, "dot")
                              .Default(closestSpelling(expr.callee, candidates));
  if (isBuiltinValue(expr.callee))
    diagnostics.report(Message::CallOfBuiltin, expr.calleeRange, expr.callee);
  else if (meant.empty())
    diagnostics.report(Message::UnknownFunction, expr.calleeRange, expr.callee);
  else
    diagnostics.report(Message::MisspelledFunction, expr.calleeRange, expr.callee, meant)
        .fixIt(expr.calleeRange, meant);
  return {};
}

bool Checker::checkArguments(const CallExpr &expr, const BuiltinFunction &function) {
  bool isGood = true;
  unsigned count = 0;
  llvm::StringMap<llvm::SMRange> seen;
  for (const Argument &argument : expr.arguments) {
    if (argument.label.empty()) {
      ++count;
      continue;
    }
    if (!function.takes(argument.label)) {
      llvm::SmallVector<llvm::StringRef> labels;
      function.labels.split(labels, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
      llvm::StringRef meant = closestSpelling(argument.label, labels);
      if (meant.empty())
        diagnostics.report(Message::UnknownArgument, argument.labelRange, function.name,
                           argument.label, function.usage);
      else
        diagnostics
            .report(Message::MisspelledArgument, argument.labelRange, function.name, argument.label,
                    meant)
            .fixIt(argument.labelRange, meant);
      isGood = false;
    }
    auto [first, isNew] = seen.try_emplace(argument.label, argument.labelRange);
    if (!isNew) {
      diagnostics.report(Message::DuplicateArgument, argument.labelRange, argument.label)
          .note(Message::FirstHere, first->second);
      isGood = false;
    }
  }
  if (count < function.leastPositional || count > function.mostPositional) {
    diagnostics.report(Message::ArgumentCount, expr.calleeRange, function.usage, count,
                       count == 1 ? "" : "s");
    isGood = false;
  }
  return isGood;
}

Value Checker::callFunction(const CallExpr &expr, const BuiltinFunction &function) {
  if (!checkArguments(expr, function))
    return {};
  using Call = mlir::Value (*)(Checker &, const CallExpr &);
  auto two = [&](auto method) {
    auto arguments = positional(expr);
    mlir::Value first = map(*arguments[0]);
    mlir::Value second = map(*arguments[1]);
    return (builder.*method)(locationOf(expr), first, second);
  };
  static const llvm::StringMap<Call> calls = {
      {"dot", [](Checker &c, const CallExpr &e) { return c.callDot(e); }},
      {"softmax", [](Checker &c, const CallExpr &e) { return c.callSoftmax(e); }},
      {"cover", [](Checker &c, const CallExpr &e) { return c.callCover(e); }},
      {"max", [](Checker &c, const CallExpr &e) { return c.callExtremum(e); }},
      {"min", [](Checker &c, const CallExpr &e) { return c.callExtremum(e); }},
  };
  if (auto found = calls.find(expr.callee); found != calls.end())
    return Value::of(found->second(*this, expr));
  if (std::optional<ir::ReduceKind> kind = ir::symbolizeReduceKind(expr.callee))
    return Value::of(callReduce(expr, *kind));
  if (std::optional<ir::CastKind> kind = ir::symbolizeCastKind(expr.callee))
    return Value::of(callCast(expr, *kind));
  if (expr.callee == "linear")
    return Value::of(two(&PatternBuilder::linear));
  if (expr.callee == "last")
    return Value::of(two(&PatternBuilder::last));
  if (expr.callee == "smooth")
    return Value::of(two(&PatternBuilder::smooth));
  if (expr.callee == "top_k")
    return Value::of(two(&PatternBuilder::topK));
  if (expr.callee == "top_p")
    return Value::of(two(&PatternBuilder::topP));
  return Value::of(callUnary(expr));
}

mlir::Value Checker::callUnary(const CallExpr &expr) {
  mlir::Value operand = map(*positional(expr)[0]);
  mlir::Location loc = locationOf(expr);
  if (expr.callee == "exp")
    return builder.exp(loc, operand);
  if (expr.callee == "log")
    return builder.log(loc, operand);
  if (expr.callee == "relu")
    return builder.relu(loc, operand);
  if (expr.callee == "abs")
    return builder.abs(loc, operand);
  return builder.tanh(loc, operand);
}

mlir::Value Checker::callDot(const CallExpr &expr) {
  auto arguments = positional(expr);
  mlir::Value lhs = map(*arguments[0]);
  mlir::Value rhs = map(*arguments[1]);
  mlir::Value scale;
  if (const Expr *given = labelled(expr, "scale")) {
    scale = map(*given);
    if (!scale)
      return {};
  }
  auto visible = ir::Visibility::All;
  if (const Expr *given = labelled(expr, "visible")) {
    const auto *nameExpr = llvm::dyn_cast<NameExpr>(given);
    std::optional<ir::Visibility> chosen =
        nameExpr != nullptr ? ir::symbolizeVisibility(nameExpr->name) : std::nullopt;
    if (!chosen) {
      diagnostics.report(Message::ExpectedVisibility, given->range);
      return {};
    }
    visible = *chosen;
  }
  return builder.dot(locationOf(expr), lhs, rhs, scale, visible);
}

mlir::Value Checker::callCast(const CallExpr &expr, ir::CastKind kind) {
  mlir::Value operand = map(*positional(expr)[0]);
  mlir::Value scale;
  if (const Expr *given = labelled(expr, "scale")) {
    scale = map(*given);
    if (!scale)
      return {};
  }
  return builder.cast(locationOf(expr), kind, operand, scale);
}

mlir::Value Checker::callSoftmax(const CallExpr &expr) {
  mlir::Value operand = map(*positional(expr)[0]);
  const Expr *over = labelled(expr, "over");
  if (over == nullptr) {
    diagnostics.report(Message::SoftmaxWithoutAxis, expr.calleeRange);
    return {};
  }
  std::optional<Axis> along = positionAxis(*over);
  return along ? builder.softmax(locationOf(expr), operand, *along) : mlir::Value();
}

mlir::Value Checker::callReduce(const CallExpr &expr, ir::ReduceKind kind) {
  auto arguments = positional(expr);
  mlir::Value operand = map(*arguments[0]);
  llvm::SmallVector<Axis> over, into;
  bool isGood = true;
  if (arguments.size() == 2)
    return callShortReduce(expr, kind, operand, *arguments[1]);
  if (const Expr *given = labelled(expr, "over"))
    isGood &= reductionAxes(*given, over);
  if (const Expr *given = labelled(expr, "into"))
    isGood &= reductionAxes(*given, into);
  if (!isGood)
    return {};
  if (over.empty() && into.empty()) {
    diagnostics.report(Message::ReduceWithoutAxis, expr.calleeRange, expr.callee);
    return {};
  }
  return builder.reduce(locationOf(expr), kind, operand, over, into);
}

/// `mean(K, 128)` for `mean(K, into: k / 128)`, along the one position axis of the map.
mlir::Value Checker::callShortReduce(const CallExpr &expr, ir::ReduceKind kind, mlir::Value operand,
                                     const Expr &size) {
  std::optional<int64_t> block = blockSize(size);
  if (!operand || !block)
    return {};
  auto type = llvm::dyn_cast<ir::MapType>(operand.getType());
  ir::Axes axes = type ? type.getAxes() : ir::Axes();
  bool isShort = expr.arguments.size() == 2;
  if (!isShort || axes.diagonal || (axes.query != 0) == (axes.key != 0)) {
    diagnostics.report(Message::ShortReduce, expr.calleeRange, expr.callee);
    return {};
  }
  // A constexpr block may come to one cell: nothing is joined then.
  if (*block == std::max(axes.query, axes.key) && kind != ir::ReduceKind::Var)
    return operand;
  Axis into = axes.query != 0 ? Axis::query(*block) : Axis::key(*block);
  return builder.reduce(locationOf(expr), kind, operand, {}, into);
}

mlir::Value Checker::callExtremum(const CallExpr &expr) {
  auto arguments = positional(expr);
  bool hasAxes = labelled(expr, "over") != nullptr || labelled(expr, "into") != nullptr;
  if (arguments.size() > 1 && hasAxes) {
    diagnostics.report(Message::ExtremumOfSeveralOverAxes, expr.calleeRange, expr.callee);
    return {};
  }
  if (arguments.size() == 1)
    return callReduce(expr, *ir::symbolizeReduceKind(expr.callee));
  mlir::Value result = map(*arguments[0]);
  for (const Expr *argument : llvm::ArrayRef(arguments).drop_front()) {
    mlir::Value next = map(*argument);
    result = expr.callee == "max" ? builder.maximum(locationOf(expr), result, next)
                                  : builder.minimum(locationOf(expr), result, next);
  }
  return result;
}

mlir::Value Checker::callCover(const CallExpr &expr) {
  auto arguments = positional(expr);
  std::optional<int64_t> queryBlock;
  std::optional<int64_t> keyBlock;
  for (const Expr *argument : llvm::ArrayRef(arguments).drop_back()) {
    std::optional<AxisSyntax> syntax = axis(*argument);
    if (!syntax)
      return {};
    bool isKey = syntax->kind == AxisSyntax::Kind::Key;
    bool isQuery = syntax->kind == AxisSyntax::Kind::Query;
    // Query blocks come first, and the key axis last.
    if ((!isKey && !isQuery) || keyBlock || (isQuery && queryBlock)) {
      diagnostics.report(Message::CoverAxes, argument->range);
      return {};
    }
    (isKey ? keyBlock : queryBlock) = syntax->block;
  }
  if (!keyBlock) {
    diagnostics.report(Message::CoverAxes, expr.calleeRange);
    return {};
  }
  return builder.cover(locationOf(expr), set(*arguments.back()), queryBlock, *keyBlock);
}

} // namespace skim::text
