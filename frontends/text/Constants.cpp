#include "frontends/text/Constants.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

namespace skim::text {

std::string numberText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

llvm::StringRef typeName(Constant::Type type) {
  switch (type) {
  case Constant::Type::Index:
    return "index";
  case Constant::Type::F32:
    return "f32";
  case Constant::Type::Bool:
    break;
  }
  return "bool";
}

std::string Constant::text() const {
  if (isIndex())
    return std::to_string(integer);
  if (isBool())
    return integer != 0 ? "true" : "false";
  return numberText(real);
}

namespace {

class Evaluator {
public:
  Evaluator(llvm::function_ref<std::optional<Constant>(llvm::StringRef)> lookup,
            Diagnostics &diagnostics)
      : lookup(lookup), diagnostics(diagnostics) {}

  Folded visit(const Expr &expr) {
    switch (expr.kind) {
    case Expr::Kind::Number: {
      const auto &number = static_cast<const NumberExpr &>(expr);
      return Folded::of(number.integer ? Constant::index(*number.integer)
                                       : Constant::f32(number.value));
    }
    case Expr::Kind::Bool:
      return Folded::of(Constant::boolean(static_cast<const BoolExpr &>(expr).value));
    case Expr::Kind::Name: {
      std::optional<Constant> value = lookup(static_cast<const NameExpr &>(expr).name);
      return value ? Folded::of(*value) : Folded();
    }
    case Expr::Kind::Unary:
      return visitUnary(static_cast<const UnaryExpr &>(expr));
    case Expr::Kind::Binary:
      return visitBinary(static_cast<const BinaryExpr &>(expr));
    case Expr::Kind::Call:
      return visitCall(static_cast<const CallExpr &>(expr));
    case Expr::Kind::Error:
      return Folded::failed();
    case Expr::Kind::Tuple:
    case Expr::Kind::Where:
    case Expr::Kind::Match:
      break;
    }
    return {};
  }

private:
  Folded overflow(const Expr &expr, Constant::Type type) {
    diagnostics.report(Message::ConstantOverflow, expr.range, typeName(type));
    return Folded::failed();
  }

  Folded checked(const Expr &expr, std::optional<int64_t> value) {
    return value ? Folded::of(Constant::index(*value)) : overflow(expr, Constant::Type::Index);
  }

  Folded checked(const Expr &expr, double value) {
    Constant rounded = Constant::f32(value);
    return std::isfinite(rounded.real) ? Folded::of(rounded) : overflow(expr, Constant::Type::F32);
  }

  Folded visitUnary(const UnaryExpr &unary) {
    Folded operand = visit(*unary.operand);
    if (!operand.isConstant())
      return operand;
    const Constant &value = operand.value;
    if (unary.op == UnaryOp::Not)
      return value.isBool() ? Folded::of(Constant::boolean(value.integer == 0)) : Folded();
    if (value.isBool())
      return {};
    if (value.isF32())
      return Folded::of(Constant::f32(-value.real));
    return checked(unary, llvm::checkedSub<int64_t>(0, value.integer));
  }

  Folded visitBinary(const BinaryExpr &binary) {
    Folded lhs = visit(*binary.lhs);
    Folded rhs = visit(*binary.rhs);
    bool isDivision = binary.op == BinaryOp::Div || binary.op == BinaryOp::Mod;
    if (isDivision && rhs.isConstant() && !rhs.value.isBool() && rhs.value.number() == 0) {
      diagnostics.report(Message::DivisionByZero, binary.rhs->range);
      return Folded::failed();
    }
    if (lhs.state == Folded::State::Failed || rhs.state == Folded::State::Failed)
      return Folded::failed();
    if (!lhs.isConstant() || !rhs.isConstant())
      return {};
    if (lhs.value.isBool() != rhs.value.isBool())
      return {};
    if (lhs.value.isBool())
      return logic(binary, lhs.value.integer != 0, rhs.value.integer != 0);
    if (std::optional<bool> truth = compare(binary.op, lhs.value, rhs.value))
      return Folded::of(Constant::boolean(*truth));
    if (lhs.value.isIndex() && rhs.value.isIndex())
      return indexArithmetic(binary, lhs.value.integer, rhs.value.integer);
    return realArithmetic(binary, lhs.value.number(), rhs.value.number());
  }

  static Folded logic(const BinaryExpr &binary, bool lhs, bool rhs) {
    switch (binary.op) {
    case BinaryOp::And:
      return Folded::of(Constant::boolean(lhs && rhs));
    case BinaryOp::Or:
      return Folded::of(Constant::boolean(lhs || rhs));
    default:
      return {};
    }
  }

  static std::optional<bool> compare(BinaryOp op, const Constant &lhs, const Constant &rhs) {
    bool areIndex = lhs.isIndex() && rhs.isIndex();
    // Beside an f32 an index is one.
    auto real = [](const Constant &value) { return static_cast<float>(value.number()); };
    bool less = areIndex ? lhs.integer < rhs.integer : real(lhs) < real(rhs);
    bool equal = areIndex ? lhs.integer == rhs.integer : real(lhs) == real(rhs);
    switch (op) {
    case BinaryOp::Lt:
      return less;
    case BinaryOp::Le:
      return less || equal;
    case BinaryOp::Gt:
      return !less && !equal;
    case BinaryOp::Ge:
      return !less;
    case BinaryOp::Eq:
      return equal;
    case BinaryOp::Ne:
      return !equal;
    default:
      return std::nullopt;
    }
  }

  Folded indexArithmetic(const BinaryExpr &binary, int64_t lhs, int64_t rhs) {
    switch (binary.op) {
    case BinaryOp::Add:
      return checked(binary, llvm::checkedAdd(lhs, rhs));
    case BinaryOp::Sub:
      return checked(binary, llvm::checkedSub(lhs, rhs));
    case BinaryOp::Mul:
      return checked(binary, llvm::checkedMul(lhs, rhs));
    case BinaryOp::Div:
    case BinaryOp::Mod:
      break;
    default:
      return {};
    }
    if (rhs < 0) {
      diagnostics.report(Message::NegativeDivisor, binary.rhs->range, rhs);
      return Folded::failed();
    }
    int64_t remainder = lhs % rhs;
    if (remainder < 0)
      remainder += rhs;
    if (binary.op == BinaryOp::Mod)
      return Folded::of(Constant::index(remainder));
    // Exact in 64 bits: rounding down moves away from zero by less than one divisor.
    int64_t quotient = lhs / rhs - (lhs < 0 && lhs % rhs != 0 ? 1 : 0);
    if (quotient == 0 && lhs != 0)
      diagnostics.report(Message::DivisionIsZero, binary.range, lhs, rhs);
    return Folded::of(Constant::index(quotient));
  }

  Folded realArithmetic(const BinaryExpr &binary, double lhs, double rhs) {
    switch (binary.op) {
    case BinaryOp::Add:
      return checked(binary, lhs + rhs);
    case BinaryOp::Sub:
      return checked(binary, lhs - rhs);
    case BinaryOp::Mul:
      return checked(binary, lhs * rhs);
    case BinaryOp::Div:
      return checked(binary, lhs / rhs);
    default:
      return {};
    }
  }

  Folded visitCall(const CallExpr &call) {
    bool isAbs = call.callee == "abs";
    bool isMin = call.callee == "min";
    if ((!isAbs && !isMin && call.callee != "max") || call.arguments.size() != (isAbs ? 1 : 2))
      return {};
    llvm::SmallVector<Constant, 2> values;
    for (const Argument &argument : call.arguments) {
      if (!argument.label.empty())
        return {};
      Folded value = visit(*argument.value);
      if (!value.isConstant() || value.value.isBool())
        return value.isConstant() ? Folded() : value;
      values.push_back(value.value);
    }
    if (isAbs && values[0].isIndex())
      return values[0].integer < 0 ? checked(call, llvm::checkedSub<int64_t>(0, values[0].integer))
                                   : Folded::of(values[0]);
    if (isAbs)
      return Folded::of(Constant::f32(std::fabs(values[0].real)));
    bool takeFirst = isMin == *compare(BinaryOp::Le, values[0], values[1]);
    Constant chosen = values[takeFirst ? 0 : 1];
    bool areIndex = values[0].isIndex() && values[1].isIndex();
    return Folded::of(areIndex ? chosen : Constant::f32(chosen.number()));
  }

  llvm::function_ref<std::optional<Constant>(llvm::StringRef)> lookup;
  Diagnostics &diagnostics;
};

} // namespace

Folded evaluate(const Expr &expr,
                llvm::function_ref<std::optional<Constant>(llvm::StringRef)> lookup,
                Diagnostics &diagnostics) {
  return Evaluator(lookup, diagnostics).visit(expr);
}

} // namespace skim::text
