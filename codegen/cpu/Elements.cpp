#include "codegen/cpu/Elements.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace skim::cpu;

namespace {

/// Integer arithmetic on scalars or vectors of 32 bits. LLVM would call a library function
/// for what the processor cannot convert, one element at a time.
class Bits {
public:
  Bits(Code &code, Type like) : code(code), vector(dyn_cast<VectorType>(like)) {}

  Type type(Type element) const {
    return vector ? VectorType::get(vector.getShape(), element) : element;
  }
  Value constant(uint32_t bits) {
    Value value =
        arith::ConstantOp::create(code, code.getI32IntegerAttr(static_cast<int32_t>(bits)));
    return vector ? code.splat(value, vector.getNumElements()) : value;
  }
  Value fromFloat(Value value) {
    return arith::BitcastOp::create(code, type(code.getI32Type()), value);
  }
  Value toFloat(Value bits) {
    return arith::BitcastOp::create(code, type(code.getF32Type()), bits);
  }
  Value widen(Value bits) { return arith::ExtUIOp::create(code, type(code.getI32Type()), bits); }
  Value narrow(Value bits) {
    return arith::TruncIOp::create(code, type(code.getIntegerType(16)), bits);
  }
  Value add(Value a, Value b) { return arith::AddIOp::create(code, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(code, a, b); }
  Value land(Value a, uint32_t b) { return arith::AndIOp::create(code, a, constant(b)); }
  Value lor(Value a, Value b) { return arith::OrIOp::create(code, a, b); }
  Value left(Value a, uint32_t n) { return arith::ShLIOp::create(code, a, constant(n)); }
  Value right(Value a, uint32_t n) { return arith::ShRUIOp::create(code, a, constant(n)); }
  Value above(Value a, uint32_t b) {
    return arith::CmpIOp::create(code, arith::CmpIPredicate::ugt, a, constant(b));
  }

private:
  Code &code;
  VectorType vector;
};

} // namespace

static Value bfloatToFloat(Code &code, Value loaded) {
  Bits bits(code, loaded.getType());
  return bits.toFloat(bits.left(bits.widen(loaded), 16));
}

static Value floatToBfloat(Code &code, Value value) {
  Bits bits(code, value.getType());
  Value word = bits.fromFloat(value);
  Value odd = bits.land(bits.right(word, 16), 1);
  Value rounded = bits.right(bits.add(bits.add(word, bits.constant(0x7fff)), odd), 16);
  Value quiet = bits.lor(bits.right(word, 16), bits.constant(0x40));
  Value isNan = bits.above(bits.land(word, 0x7fffffff), 0x7f800000);
  return bits.narrow(code.select(isNan, quiet, rounded));
}

static Value halfToFloat(Code &code, Value loaded) {
  Bits bits(code, loaded.getType());
  Value word = bits.widen(loaded);
  Value sign = bits.left(bits.land(word, 0x8000), 16);
  Value magnitude = bits.left(bits.land(word, 0x7fff), 13);
  // The exponent's bias differs by 112; the product also makes subnormals right.
  Value scaled = bits.fromFloat(arith::MulFOp::create(code, bits.toFloat(magnitude),
                                                      bits.toFloat(bits.constant(0x77800000))));
  Value special = bits.lor(magnitude, bits.constant(0x7f800000));
  Value isSpecial = bits.above(magnitude, 0x0f7fffff);
  return bits.toFloat(bits.lor(code.select(isSpecial, special, scaled), sign));
}

static Value floatToHalf(Code &code, Value value) {
  Bits bits(code, value.getType());
  Value word = bits.fromFloat(value);
  Value sign = bits.right(bits.land(word, 0x80000000), 16);
  Value magnitude = bits.land(word, 0x7fffffff);
  // Subnormal results: adding 0.5 leaves the rounded multiple of 2^-24 in the low bits.
  Value half = bits.constant(0x3f000000);
  Value subnormal = bits.sub(
      bits.fromFloat(arith::AddFOp::create(code, bits.toFloat(magnitude), bits.toFloat(half))),
      half);
  Value odd = bits.land(bits.right(magnitude, 13), 1);
  Value normal = bits.right(bits.add(bits.add(magnitude, bits.constant(0xc8000fff)), odd), 13);
  Value special =
      code.select(bits.above(magnitude, 0x7f800000), bits.constant(0x7e00), bits.constant(0x7c00));
  Value result = code.select(bits.above(magnitude, 0x387fffff), normal, subnormal);
  result = code.select(bits.above(magnitude, 0x477fffff), special, result);
  return bits.narrow(bits.lor(result, sign));
}

Value skim::cpu::loadElements(Code &code, const Target &target, Type element, Value address,
                              unsigned lanes) {
  auto shaped = [&](Type type) -> Type { return lanes == 1 ? type : code.vectorType(lanes, type); };
  if (element.isF32())
    return code.load(shaped(element), address);
  if (element.isF16() && target.halfConversion)
    return arith::ExtFOp::create(code, shaped(code.getF32Type()),
                                 code.load(shaped(element), address));
  Value loaded = code.load(shaped(code.getIntegerType(16)), address);
  return element.isBF16() ? bfloatToFloat(code, loaded) : halfToFloat(code, loaded);
}

void skim::cpu::storeElements(Code &code, const Target &target, Type element, Value values,
                              Value address) {
  if (element.isF32())
    return code.store(values, address);
  if (element.isBF16())
    return code.store(floatToBfloat(code, values), address);
  if (!target.halfConversion)
    return code.store(floatToHalf(code, values), address);
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(values.getType()))
    type = VectorType::get(vector.getShape(), element);
  code.store(arith::TruncFOp::create(code, type, values), address);
}

int64_t skim::cpu::elementBytes(Type element) { return element.getIntOrFloatBitWidth() / 8; }
