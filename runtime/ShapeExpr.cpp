#include "runtime/ShapeExpr.h"

#include "runtime/CheckedMath.h"

#include <algorithm>

namespace skim {

namespace {
constexpr std::array<const char *, kShapeSymbols> kSymbolNames = {
    "requests", "max_q_len", "max_kv_len", "query_heads", "kv_heads"};

Status overflow(const char *operation, int64_t lhs, int64_t rhs) {
  return {StatusCode::InvalidArgument, "size overflows 64 bits: " + std::to_string(lhs) + " " +
                                           operation + " " + std::to_string(rhs)};
}
} // namespace

const char *shapeSymbolName(ShapeSymbol symbol) {
  return kSymbolNames[static_cast<size_t>(symbol)];
}

std::optional<ShapeSymbol> parseShapeSymbol(std::string_view name) {
  for (size_t i = 0; i < kShapeSymbols; ++i)
    if (name == kSymbolNames[i])
      return static_cast<ShapeSymbol>(i);
  return std::nullopt;
}

ShapeExpr::ShapeExpr(Kind kind, ShapeExpr lhs, ShapeExpr rhs) : kind(kind) {
  operands.reserve(2);
  operands.push_back(std::move(lhs));
  operands.push_back(std::move(rhs));
}

ShapeExpr ShapeExpr::add(ShapeExpr lhs, ShapeExpr rhs) {
  return {Kind::Add, std::move(lhs), std::move(rhs)};
}
ShapeExpr ShapeExpr::mul(ShapeExpr lhs, ShapeExpr rhs) {
  return {Kind::Mul, std::move(lhs), std::move(rhs)};
}
ShapeExpr ShapeExpr::ceilDiv(ShapeExpr lhs, ShapeExpr rhs) {
  return {Kind::CeilDiv, std::move(lhs), std::move(rhs)};
}
ShapeExpr ShapeExpr::floorDiv(ShapeExpr lhs, ShapeExpr rhs) {
  return {Kind::FloorDiv, std::move(lhs), std::move(rhs)};
}
ShapeExpr ShapeExpr::max(ShapeExpr lhs, ShapeExpr rhs) {
  return {Kind::Max, std::move(lhs), std::move(rhs)};
}
ShapeExpr ShapeExpr::min(ShapeExpr lhs, ShapeExpr rhs) {
  return {Kind::Min, std::move(lhs), std::move(rhs)};
}

Expected<int64_t> evaluate(const ShapeExpr &expr, const ShapeValues &values) {
  if (expr.kind == ShapeExpr::Kind::Constant)
    return expr.constant;
  if (expr.kind == ShapeExpr::Kind::Symbol)
    return values[static_cast<size_t>(expr.symbol)];

  if (expr.operands.size() != 2)
    return Status(StatusCode::InvalidArgument, "shape expression: expected 2 operands but got " +
                                                   std::to_string(expr.operands.size()));
  Expected<int64_t> left = evaluate(expr.operands[0], values);
  if (!left)
    return left;
  Expected<int64_t> right = evaluate(expr.operands[1], values);
  if (!right)
    return right;
  const int64_t lhs = *left;
  const int64_t rhs = *right;
  int64_t result = 0;
  switch (expr.kind) {
  case ShapeExpr::Kind::Add:
    if (__builtin_add_overflow(lhs, rhs, &result))
      return overflow("+", lhs, rhs);
    return result;
  case ShapeExpr::Kind::Mul:
    if (__builtin_mul_overflow(lhs, rhs, &result))
      return overflow("*", lhs, rhs);
    return result;
  case ShapeExpr::Kind::Max:
    return std::max(lhs, rhs);
  case ShapeExpr::Kind::Min:
    return std::min(lhs, rhs);
  default: // a division
    if (rhs < 1)
      return Status(StatusCode::InvalidArgument,
                    "shape expression: expected a divisor of at least 1 but got " +
                        std::to_string(rhs));
    return expr.kind == ShapeExpr::Kind::CeilDiv ? ceilDiv(lhs, rhs) : floorDiv(lhs, rhs);
  }
}

} // namespace skim
