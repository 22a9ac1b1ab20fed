// Sizes that are known once the shape of a batch is: small expression trees over its
// symbols, evaluated in checked 64-bit arithmetic.
#ifndef SKIM_RUNTIME_SHAPEEXPR_H
#define SKIM_RUNTIME_SHAPEEXPR_H

#include <skim/Status.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace skim {

enum class ShapeSymbol : uint8_t {
  Requests,
  MaxQueryLength,
  MaxKvLength,
  QueryHeads,
  KvHeads,
};
inline constexpr size_t kShapeSymbols = 5;

/// "requests", "max_q_len", "max_kv_len", "query_heads", "kv_heads".
const char *shapeSymbolName(ShapeSymbol symbol);
std::optional<ShapeSymbol> parseShapeSymbol(std::string_view name);

/// A value for each symbol, by its number.
using ShapeValues = std::array<int64_t, kShapeSymbols>;

struct ShapeExpr {
  enum class Kind : uint8_t { Constant, Symbol, Add, Mul, CeilDiv, FloorDiv, Max, Min };

  Kind kind = Kind::Constant;
  int64_t constant = 0;
  ShapeSymbol symbol = ShapeSymbol::Requests;
  /// Two for every kind but Constant and Symbol.
  std::vector<ShapeExpr> operands;

  ShapeExpr() = default;
  ShapeExpr(int64_t constant) : constant(constant) {}
  ShapeExpr(ShapeSymbol symbol) : kind(Kind::Symbol), symbol(symbol) {}
  ShapeExpr(Kind kind, ShapeExpr lhs, ShapeExpr rhs);

  static ShapeExpr add(ShapeExpr lhs, ShapeExpr rhs);
  static ShapeExpr mul(ShapeExpr lhs, ShapeExpr rhs);
  static ShapeExpr ceilDiv(ShapeExpr lhs, ShapeExpr rhs);
  static ShapeExpr floorDiv(ShapeExpr lhs, ShapeExpr rhs);
  static ShapeExpr max(ShapeExpr lhs, ShapeExpr rhs);
  static ShapeExpr min(ShapeExpr lhs, ShapeExpr rhs);

  bool operator==(const ShapeExpr &other) const = default;
};

/// The value, or an error on overflow, a divisor below 1, or a malformed tree.
Expected<int64_t> evaluate(const ShapeExpr &expr, const ShapeValues &values);

} // namespace skim

#endif // SKIM_RUNTIME_SHAPEEXPR_H
