#include "tools/skim-lsp-server/Units.h"

#include "llvm/ADT/StringSwitch.h"

namespace skim::lsp {

namespace {

using namespace text;

constexpr llvm::StringLiteral tokens = "tokens";
constexpr llvm::StringLiteral tokensOfBlock = "tokens of a block";
/// Patterns call patterns; deeper uses say nothing.
constexpr unsigned maxCalls = 8;

/// Whether the expression counts tokens: made of positions and lengths by + and -, at least one.
bool countsTokens(const Expr &expr) {
  if (const auto *name = llvm::dyn_cast<NameExpr>(&expr))
    return name->name == "q" || name->name == "k" || name->name == "q_len" ||
           name->name == "kv_len";
  const auto *binary = llvm::dyn_cast<BinaryExpr>(&expr);
  if (binary == nullptr)
    return false;
  if (binary->op == BinaryOp::Add || binary->op == BinaryOp::Sub)
    return countsTokens(*binary->lhs) || countsTokens(*binary->rhs);
  return binary->op == BinaryOp::Mod && countsTokens(*binary->lhs);
}

bool isComparison(BinaryOp op) { return op >= BinaryOp::Lt && op <= BinaryOp::Ne; }

/// Looks for the first use of a parameter that tells its unit.
class UnitFinder {
public:
  UnitFinder(const Program &program, llvm::StringRef parameter, unsigned calls)
      : program(program), parameter(parameter), calls(calls) {}

  llvm::StringRef find(const Pattern &pattern) {
    for (const Item &item : pattern.items) {
      for (const ExprPtr &axis : item.type.axes)
        visit(*axis, "");
      if (item.value)
        visit(*item.value, unitOfClause(item.kind));
      if (item.second)
        visit(*item.second, "");
    }
    return found;
  }

private:
  static llvm::StringRef unitOfClause(Item::Kind kind) {
    switch (kind) {
    case Item::Kind::RestMean:
      return tokensOfBlock;
    case Item::Kind::Skip:
      return "nats";
    case Item::Kind::SinkLogit:
      return "logit (natural)";
    default:
      return "";
    }
  }

  /// `unit`: what the place of the expression asks for.
  void visit(const Expr &expr, llvm::StringRef unit) {
    if (!found.empty())
      return;
    if (const auto *name = llvm::dyn_cast<NameExpr>(&expr)) {
      if (name->name == parameter)
        found = unit;
    } else if (const auto *unary = llvm::dyn_cast<UnaryExpr>(&expr)) {
      visit(*unary->operand, unit);
    } else if (const auto *binary = llvm::dyn_cast<BinaryExpr>(&expr)) {
      visitBinary(*binary, unit);
    } else if (const auto *call = llvm::dyn_cast<CallExpr>(&expr)) {
      visitCall(*call, unit);
    } else if (const auto *tuple = llvm::dyn_cast<TupleExpr>(&expr)) {
      for (const ExprPtr &element : tuple->elements)
        visit(*element, "");
    } else if (const auto *where = llvm::dyn_cast<WhereExpr>(&expr)) {
      visit(*where->value, unit);
      visit(*where->set, "");
    } else if (const auto *match = llvm::dyn_cast<MatchExpr>(&expr)) {
      visit(*match->selector, "label of an arm of match");
      for (const MatchExpr::Arm &arm : match->arms)
        visit(*arm.value, "");
    }
  }

  void visitBinary(const BinaryExpr &expr, llvm::StringRef unit) {
    if (isComparison(expr.op)) {
      bool ofTokens = countsTokens(*expr.lhs) || countsTokens(*expr.rhs);
      unit = ofTokens ? llvm::StringRef(tokens) : "";
    }
    bool divides = expr.op == BinaryOp::Div || expr.op == BinaryOp::Mod;
    bool scales = expr.op == BinaryOp::Mul;
    visit(*expr.lhs, scales ? "" : unit);
    if (divides)
      visit(*expr.rhs, countsTokens(*expr.lhs) ? llvm::StringRef(tokensOfBlock) : "");
    else
      visit(*expr.rhs, scales ? "" : unit);
  }

  void visitCall(const CallExpr &call, llvm::StringRef unit) {
    llvm::StringRef second = llvm::StringSwitch<llvm::StringRef>(call.callee)
                                 .Case("top_k", "cells of the map")
                                 .Case("top_p", "share of the sum, 0 to 1")
                                 .Case("last", "rows")
                                 .Case("smooth", "cells, odd")
                                 .Cases({"mean", "sum", "var"}, tokensOfBlock)
                                 .Cases({"min", "max"}, unit)
                                 .Default("");
    bool passesOn = call.callee == "min" || call.callee == "max" || call.callee == "abs";
    const Pattern *called = program.find(call.callee);
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const Argument &argument = call.arguments[i];
      llvm::StringRef unitHere;
      if (called != nullptr)
        unitHere = unitOfParameter(*called, argument, i);
      else if (argument.label.empty())
        unitHere = i == 0 ? (passesOn ? unit : llvm::StringRef()) : second;
      visit(*argument.value, unitHere);
    }
  }

  llvm::StringRef unitOfParameter(const Pattern &called, const Argument &argument, size_t index) {
    llvm::StringRef name = argument.label;
    if (name.empty() && index < called.parameters.size())
      name = called.parameters[index].name;
    if (name.empty() || calls == maxCalls)
      return {};
    return UnitFinder(program, name, calls + 1).find(called);
  }

  const Program &program;
  llvm::StringRef parameter;
  unsigned calls;
  llvm::StringRef found;
};

} // namespace

llvm::StringRef unitOf(const Program &program, const Pattern &pattern, llvm::StringRef parameter) {
  return UnitFinder(program, parameter, 0).find(pattern);
}

} // namespace skim::lsp
