// Verifiers, builders and folds of the computations on maps.
#include "dialect/Skim/SkimOps.h"
#include "dialect/Skim/Verify.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace skim::ir;

//===-- Verifiers -----------------------------------------------------------------------------===//

static Type getTypeOrNull(Value value) { return value ? value.getType() : Type(); }

LogicalResult LastOp::verify() {
  RuleViolation why;
  return expectResult(*this, inferLast(getInput().getType(), getCount().getType(), why), why);
}

LogicalResult DotOp::verify() {
  RuleViolation why;
  return expectResult(
      *this, inferDot(getLhs().getType(), getRhs().getType(), getTypeOrNull(getScale()), why), why);
}

LogicalResult CastOp::verify() {
  RuleViolation why;
  return expectResult(
      *this, inferCast(getKind(), getInput().getType(), getTypeOrNull(getScale()), why), why);
}

LogicalResult LinearOp::verify() {
  // linear_c1
  if (!getWeight().getDefiningOp<InputOp>())
    return emitOpError("expected the weight to be a 'skim.input'");
  RuleViolation why;
  return expectResult(*this, inferLinear(getInput().getType(), getWeight().getType(), why), why);
}

LogicalResult SoftmaxOp::verify() {
  RuleViolation why;
  return expectResult(*this, inferSoftmax(getInput().getType(), getAxis(), why), why);
}

LogicalResult SmoothOp::verify() {
  RuleViolation why;
  IntegerAttr constant;
  std::optional<int64_t> width;
  if (matchPattern(getWidth(), m_Constant(&constant)))
    width = constant.getInt();
  return expectResult(*this, inferSmooth(getInput().getType(), getWidth().getType(), width, why),
                      why);
}

LogicalResult ReduceOp::verify() {
  RuleViolation why;
  return expectResult(*this, inferReduce(getKind(), getInput().getType(), getType().getAxes(), why),
                      why);
}

LogicalResult WhereOp::verify() {
  RuleViolation why;
  return expectResult(*this, inferWhere(getInput().getType(), getSet().getType(), why), why);
}

//===-- convert -------------------------------------------------------------------------------===//

void ConvertOp::build(OpBuilder &builder, OperationState &state, Value input) {
  build(builder, state, cast<MapType>(input.getType()).withElement(Element::F32), input);
}

LogicalResult ConvertOp::verify() {
  // convert_c1
  return expectType(*this, getType(), getInput().getType().withElement(Element::F32));
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  auto value = dyn_cast_or_null<IntegerAttr>(adaptor.getInput());
  if (!value)
    return {};
  return FloatAttr::get(Float32Type::get(getContext()), static_cast<double>(value.getInt()));
}

//===-- Arithmetic on two maps ---------------------------------------------------------------===//

static LogicalResult verifyBinary(Operation *op) {
  RuleViolation why;
  auto lhs = cast<MapType>(op->getOperand(0).getType());
  auto rhs = cast<MapType>(op->getOperand(1).getType());
  return expectResult(op, inferBinary(lhs, rhs, why), why);
}

static MapType inferBinaryResult(Value lhs, Value rhs) {
  RuleViolation why;
  return *inferBinary(cast<MapType>(lhs.getType()), cast<MapType>(rhs.getType()), why);
}

/// Folds constants: `onIndex` returns nothing where the result does not exist or overflows. `type`
/// is the result's.
static OpFoldResult foldBinary(ArrayRef<Attribute> operands, Type type,
                               function_ref<std::optional<int64_t>(int64_t, int64_t)> onIndex,
                               function_ref<APFloat(const APFloat &, const APFloat &)> onFloat) {
  auto map = cast<MapType>(type);
  if (map.isIndex()) {
    auto lhs = dyn_cast_or_null<IntegerAttr>(operands[0]);
    auto rhs = dyn_cast_or_null<IntegerAttr>(operands[1]);
    if (!lhs || !rhs)
      return {};
    std::optional<int64_t> value = onIndex(lhs.getInt(), rhs.getInt());
    return value ? IntegerAttr::get(lhs.getType(), *value) : OpFoldResult();
  }
  auto lhs = dyn_cast_or_null<FloatAttr>(operands[0]);
  auto rhs = dyn_cast_or_null<FloatAttr>(operands[1]);
  if (!lhs || !rhs)
    return {};
  return FloatAttr::get(lhs.getType(), onFloat(lhs.getValue(), rhs.getValue()));
}

static std::optional<int64_t> addIndex(int64_t lhs, int64_t rhs) {
  return llvm::checkedAdd(lhs, rhs);
}
static std::optional<int64_t> subIndex(int64_t lhs, int64_t rhs) {
  return llvm::checkedSub(lhs, rhs);
}
static std::optional<int64_t> mulIndex(int64_t lhs, int64_t rhs) {
  return llvm::checkedMul(lhs, rhs);
}
static std::optional<int64_t> divIndex(int64_t lhs, int64_t rhs) {
  if (rhs == 0 || (rhs == -1 && lhs == std::numeric_limits<int64_t>::min()))
    return std::nullopt;
  return llvm::divideFloorSigned(lhs, rhs);
}
static std::optional<int64_t> modIndex(int64_t lhs, int64_t rhs) {
  if (rhs < 1)
    return std::nullopt;
  return llvm::mod(lhs, rhs);
}
static std::optional<int64_t> minIndex(int64_t lhs, int64_t rhs) { return std::min(lhs, rhs); }
static std::optional<int64_t> maxIndex(int64_t lhs, int64_t rhs) { return std::max(lhs, rhs); }

static APFloat addFloat(const APFloat &lhs, const APFloat &rhs) { return lhs + rhs; }
static APFloat subFloat(const APFloat &lhs, const APFloat &rhs) { return lhs - rhs; }
static APFloat mulFloat(const APFloat &lhs, const APFloat &rhs) { return lhs * rhs; }
static APFloat divFloat(const APFloat &lhs, const APFloat &rhs) { return lhs / rhs; }
static APFloat minFloat(const APFloat &lhs, const APFloat &rhs) { return llvm::minimum(lhs, rhs); }
static APFloat maxFloat(const APFloat &lhs, const APFloat &rhs) { return llvm::maximum(lhs, rhs); }
/// `mod` is for index alone.
static APFloat modFloat(const APFloat &lhs, const APFloat &) { return lhs; }

#define SKIM_BINARY_OP(OP, FUNCTION)                                                               \
  void OP::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs) {                \
    build(builder, state, inferBinaryResult(lhs, rhs), lhs, rhs);                                  \
  }                                                                                                \
  LogicalResult OP::verify() { return verifyBinary(*this); }                                       \
  OpFoldResult OP::fold(FoldAdaptor adaptor) {                                                     \
    return foldBinary(adaptor.getOperands(), getType(), FUNCTION##Index, FUNCTION##Float);         \
  }
SKIM_BINARY_OP(AddOp, add)
SKIM_BINARY_OP(SubOp, sub)
SKIM_BINARY_OP(MulOp, mul)
SKIM_BINARY_OP(DivOp, div)
SKIM_BINARY_OP(ModOp, mod)
SKIM_BINARY_OP(MinOp, min)
SKIM_BINARY_OP(MaxOp, max)
#undef SKIM_BINARY_OP

//===-- Arithmetic on one map ----------------------------------------------------------------===//

static OpFoldResult foldUnary(Attribute operand, function_ref<double(double)> onFloat,
                              function_ref<std::optional<int64_t>(int64_t)> onIndex = nullptr) {
  if (auto value = dyn_cast_or_null<FloatAttr>(operand))
    return FloatAttr::get(value.getType(), onFloat(value.getValueAsDouble()));
  auto value = dyn_cast_or_null<IntegerAttr>(operand);
  if (!value || !onIndex)
    return {};
  std::optional<int64_t> result = onIndex(value.getInt());
  return result ? IntegerAttr::get(value.getType(), *result) : OpFoldResult();
}

static std::optional<int64_t> negIndex(int64_t value) {
  return llvm::checkedSub(int64_t(0), value);
}

OpFoldResult ExpOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getInput(), [](double x) { return std::exp(x); });
}
OpFoldResult LogOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getInput(), [](double x) { return std::log(x); });
}
OpFoldResult TanhOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getInput(), [](double x) { return std::tanh(x); });
}
OpFoldResult ReluOp::fold(FoldAdaptor adaptor) {
  return foldUnary(
      adaptor.getInput(), [](double x) { return x < 0 ? 0 : x; },
      [](int64_t x) { return std::max<int64_t>(x, 0); });
}
OpFoldResult AbsOp::fold(FoldAdaptor adaptor) {
  return foldUnary(
      adaptor.getInput(), [](double x) { return std::fabs(x); },
      [](int64_t x) { return x < 0 ? negIndex(x) : std::optional<int64_t>(x); });
}
OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  return foldUnary(adaptor.getInput(), [](double x) { return -x; }, negIndex);
}
