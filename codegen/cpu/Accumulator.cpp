#include "codegen/cpu/Accumulator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

static constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

unsigned Accumulator::planes() const {
  switch (kind) {
  case tile::Reduction::Max:
  case tile::Reduction::Min:
    return 1;
  case tile::Reduction::Sum:
  case tile::Reduction::Mean:
    return 2;
  case tile::Reduction::Var:
    return 3;
  }
  return 1;
}

Value Accumulator::constant(double value, Type type) {
  Type scalar = getElementTypeOrSelf(type);
  Value constant = arith::ConstantOp::create(code, code.getFloatAttr(scalar, value));
  auto vector = dyn_cast<VectorType>(type);
  return vector ? code.splat(constant, vector.getNumElements()) : constant;
}

Type Accumulator::wide(Value like) {
  Type f64 = code.getF64Type();
  auto vector = dyn_cast<VectorType>(like.getType());
  return vector ? Type(code.vectorType(vector.getNumElements(), f64)) : f64;
}

Code::Values Accumulator::identity(unsigned lanes) {
  Type f64 = code.getF64Type();
  Type type = lanes > 1 ? Type(code.vectorType(lanes, f64)) : f64;
  return Code::Values(planes(), constant(orderFree() ? undefined : 0, type));
}

static Value extend(Code &code, Value value, Type wide) {
  return value.getType() == wide ? value : Value(arith::ExtFOp::create(code, wide, value));
}

std::pair<Value, Value> Accumulator::summand(Value value) {
  Type type = wide(value);
  Value defined = arith::CmpFOp::create(code, arith::CmpFPredicate::ORD, value, value);
  Value counted = arith::SelectOp::create(code, defined, value, constant(0, value.getType()));
  Value one = arith::SelectOp::create(code, defined, constant(1, type), constant(0, type));
  return {extend(code, counted, type), one};
}

Code::Values Accumulator::combine(ValueRange carried, Value value) {
  if (kind == tile::Reduction::Max)
    return {arith::MaxNumFOp::create(code, carried[0], extend(code, value, wide(value)))};
  if (kind == tile::Reduction::Min)
    return {arith::MinNumFOp::create(code, carried[0], extend(code, value, wide(value)))};
  auto [counted, one] = summand(value);
  Code::Values next = {arith::AddFOp::create(code, carried[0], counted),
                       arith::AddFOp::create(code, carried[1], one)};
  if (kind == tile::Reduction::Var)
    next.push_back(
        arith::AddFOp::create(code, carried[2], arith::MulFOp::create(code, counted, counted)));
  return next;
}

Code::Values Accumulator::combineLanes(ValueRange carried, Value values) {
  auto across = [&](vector::CombiningKind by, Value vector, Value start) -> Value {
    return vector::ReductionOp::create(code, by, vector, start);
  };
  if (orderFree()) {
    bool greatest = kind == tile::Reduction::Max;
    auto by = greatest ? vector::CombiningKind::MAXNUMF : vector::CombiningKind::MINNUMF;
    Value extreme = vector::ReductionOp::create(code, by, values);
    return combine(carried, extreme);
  }
  // Without leave to reassociate, the lanes are added one after the other.
  auto [counted, one] = summand(values);
  Code::Values next = {across(vector::CombiningKind::ADD, counted, carried[0]),
                       across(vector::CombiningKind::ADD, one, carried[1])};
  if (kind == tile::Reduction::Var)
    next.push_back(across(vector::CombiningKind::ADD, arith::MulFOp::create(code, counted, counted),
                          carried[2]));
  return next;
}

Value Accumulator::finish(ValueRange carried) {
  Value result = carried[0];
  Type type = result.getType();
  if (!orderFree()) {
    Value count = carried[1];
    Value mean = arith::DivFOp::create(code, result, count);
    if (kind == tile::Reduction::Mean)
      result = mean;
    if (kind == tile::Reduction::Var) {
      Value meanOfSquares = arith::DivFOp::create(code, carried[2], count);
      Value variance =
          arith::SubFOp::create(code, meanOfSquares, arith::MulFOp::create(code, mean, mean));
      // The difference may round below zero; that of infinities is NaN and stays undefined.
      Value zero = constant(0, type);
      Value negative = arith::CmpFOp::create(code, arith::CmpFPredicate::OLT, variance, zero);
      result = arith::SelectOp::create(code, negative, zero, variance);
    }
    Value none = arith::CmpFOp::create(code, arith::CmpFPredicate::OEQ, count, constant(0, type));
    result = arith::SelectOp::create(code, none, constant(undefined, type), result);
  }
  if (element.isF64())
    return result;
  auto vector = dyn_cast<VectorType>(type);
  Type narrow = vector ? Type(code.vectorType(vector.getNumElements(), element)) : element;
  return arith::TruncFOp::create(code, narrow, result);
}
