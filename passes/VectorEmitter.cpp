// Vectors, products, casts and what earlier stages computed, as scalar operations.
#include "passes/MapAnalysis.h"
#include "passes/ScalarEmitter.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

namespace skim {
namespace {

/// f32 and i32 arithmetic in one region.
class Bits {
public:
  Bits(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value real(double value) {
    return arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(value));
  }
  Value integer(int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  }
  Value bits(Value x) { return arith::BitcastOp::create(builder, loc, builder.getI32Type(), x); }
  Value fromBits(Value x) {
    return arith::BitcastOp::create(builder, loc, builder.getF32Type(), x);
  }
  /// The mantissa cut by `dropped` bits, to nearest, ties to even.
  Value roundMantissa(Value x, unsigned dropped) {
    Value raw = bits(x);
    Value odd = arith::AndIOp::create(
        builder, loc, arith::ShRUIOp::create(builder, loc, raw, integer(dropped)), integer(1));
    Value carried = arith::AddIOp::create(
        builder, loc, raw,
        arith::AddIOp::create(builder, loc, odd, integer((int64_t(1) << (dropped - 1)) - 1)));
    Value rounded = arith::AndIOp::create(builder, loc, carried, integer(-(int64_t(1) << dropped)));
    Value isNumber = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, x, x);
    return arith::SelectOp::create(builder, loc, isNumber, fromBits(rounded), x);
  }

private:
  OpBuilder &builder;
  Location loc;
};

/// Rule 12: three bits of mantissa, exponents from -6 on, steps of 2^-9 below, 448 at most.
Value roundToFp8(OpBuilder &builder, Location loc, Value x) {
  Bits bits(builder, loc);
  constexpr double kLargest = 448, kSmallestNormal = 0x1p-6;
  Value clamped = arith::MaximumFOp::create(
      builder, loc, arith::MinimumFOp::create(builder, loc, x, bits.real(kLargest)),
      bits.real(-kLargest));
  Value normal = bits.roundMantissa(clamped, 20);
  // Sums beside this number have a last place of 2^-9.
  Value anchor = bits.real(0x1.8p14);
  Value subnormal = arith::SubFOp::create(
      builder, loc, arith::AddFOp::create(builder, loc, clamped, anchor), anchor);
  Value magnitude = math::AbsFOp::create(builder, loc, clamped);
  Value isSmall = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, magnitude,
                                        bits.real(kSmallestNormal));
  return arith::SelectOp::create(builder, loc, isSmall, subnormal, normal);
}

} // namespace

Value undefinedAsNaN(OpBuilder &builder, Location loc, const Scalar &scalar, bool wide) {
  mlir::FloatType type = wide ? builder.getF64Type() : builder.getF32Type();
  Value value = scalar.value;
  if (value.getType().isIndex())
    value = arith::SIToFPOp::create(
        builder, loc, type, arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value));
  if (!scalar.defined)
    return value;
  Value nan = arith::ConstantOp::create(
      builder, loc, mlir::FloatAttr::get(type, std::numeric_limits<double>::quiet_NaN()));
  return arith::SelectOp::create(builder, loc, scalar.defined, value, nan);
}

/// What stands for a map: NaN where undefined; integers as f64, a set as a number where it holds.
static Scalar fromStored(OpBuilder &builder, Location loc, Value value, mlir::Type type) {
  auto isNumber = [&]() -> Value {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, value, value);
  };
  if (llvm::isa<ir::SetType>(type))
    return {value.getType().isInteger(1) ? value : isNumber(), {}};
  if (!llvm::cast<ir::MapType>(type).isIndex())
    return {value, {}};
  Value defined = isNumber();
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(value.getType()));
  Value number =
      arith::FPToSIOp::create(builder, loc, builder.getI64Type(),
                              arith::SelectOp::create(builder, loc, defined, value, zero));
  return {arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number), defined};
}

Value ScalarEmitter::headOfStack(Value panel) const {
  return panel.getDefiningOp<tile::StackPanelsOp>() ? item : Value();
}

Scalar ScalarEmitter::emitPanel(Value source, Value panel, Place &place) {
  OpBuilder &builder = place.builder;
  Location loc = source.getLoc();
  auto type = llvm::cast<tile::PanelType>(panel.getType());
  auto [query, key] = positionsOf(place, loc);
  if (type.getElements() != 0)
    key = place.element;
  else if (type.getKey() == 0)
    key = arith::ConstantIndexOp::create(builder, loc, 0);
  Value value = tile::PanelValueOp::create(builder, loc, type.getElement(), panel, query, key,
                                           headOfStack(panel));
  return fromStored(builder, loc, value, source.getType());
}

Scalar ScalarEmitter::emitStoredMap(tile::StoredMapOp map, Place &place) {
  OpBuilder &builder = place.builder;
  Location loc = map.getLoc();
  auto type = llvm::cast<ir::MapType>(map.getType());
  ir::Axes axes = type.getAxes();
  auto [query, key] = positionsOf(place, loc);
  mlir::Type element = type.isIndex() ? mlir::Type(builder.getF64Type()) : builder.getF32Type();
  Value value = tile::LoadCellOp::create(
      builder, loc, element, tile::Space::Buffer, map.getSlot(), headKind(axes.head), axes.query,
      axes.diagonal ? 1 : axes.key, axes.diagonal, axes.diagonal && pattern.getNoncausal(), query,
      key, type.isVec() ? place.element : Value(), item);
  Scalar scalar = fromStored(builder, loc, value, type);
  // Distances before 0 have no cell.
  if (axes.diagonal)
    scalar.defined = both(builder, loc, scalar.defined, existence(axes, loc, place));
  return scalar;
}

Scalar ScalarEmitter::emitOperand(ir::OperandOp operand, Place &place) {
  bool queries = operand.getKind() == ir::OperandKind::Query;
  tile::VectorSource source = queries ? tile::VectorSource::Queries
                              : operand.getKind() == ir::OperandKind::Key
                                  ? tile::VectorSource::Keys
                                  : tile::VectorSource::Values;
  return {tile::LoadElementOp::create(place.builder, operand.getLoc(), place.builder.getF32Type(),
                                      source, item, queries ? place.query : place.key,
                                      place.element),
          {}};
}

Scalar ScalarEmitter::emitLast(ir::LastOp last, Place &place) {
  OpBuilder &builder = place.builder;
  Location loc = last.getLoc();
  Scalar input = emit(last.getInput(), place), count = uniform(last.getCount());
  Value length =
      tile::UniformOp::create(builder, loc, builder.getIndexType(), tile::UniformKind::KvLen, item);
  Value first = arith::SubIOp::create(builder, loc, length, count.value);
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, place.query, first);
  isLast = both(builder, loc, isLast, count.defined);
  return {input.value, both(builder, loc, input.defined, isLast)};
}

Scalar ScalarEmitter::emitCast(ir::CastOp cast, Place &place) {
  OpBuilder &builder = place.builder;
  Location loc = cast.getLoc();
  Scalar input = emit(cast.getInput(), place);
  Value defined = input.defined;
  auto divide = [&](Value x, Value y) { return arith::DivFOp::create(builder, loc, x, y); };
  switch (cast.getKind()) {
  case ir::CastKind::BF16:
    return {Bits(builder, loc).roundMantissa(input.value, 16), defined};
  case ir::CastKind::FP8: {
    if (!cast.getScale())
      return {roundToFp8(builder, loc, input.value), defined};
    Scalar scale = uniform(cast.getScale());
    Value rounded = roundToFp8(builder, loc, divide(input.value, scale.value));
    return {arith::MulFOp::create(builder, loc, rounded, scale.value),
            both(builder, loc, defined, scale.defined)};
  }
  case ir::CastKind::Int8:
  case ir::CastKind::Int4:
    break;
  }
  // In f64 the product is exact, so that a quotient is halfway only where it is so in truth.
  Scalar magnitude = emitMagnitude(cast, place);
  mlir::Type f64 = builder.getF64Type();
  auto wide = [&](Value x) -> Value { return arith::ExtFOp::create(builder, loc, f64, x); };
  Value levels = arith::ConstantOp::create(
      builder, loc, builder.getF64FloatAttr(cast.getKind() == ir::CastKind::Int8 ? 127 : 7));
  Value largest = wide(magnitude.value);
  Value scaled = arith::MulFOp::create(builder, loc, wide(input.value), levels);
  Value count = math::RoundEvenOp::create(builder, loc, divide(scaled, largest));
  Value result =
      arith::TruncFOp::create(builder, loc, builder.getF32Type(),
                              arith::MulFOp::create(builder, loc, count, divide(largest, levels)));
  Value zero = Bits(builder, loc).real(0);
  Value isZero =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, magnitude.value, zero);
  return {arith::SelectOp::create(builder, loc, isZero, zero, result),
          both(builder, loc, defined, magnitude.defined)};
}

Scalar ScalarEmitter::emitMagnitude(ir::CastOp cast, Place &place) {
  if (Value known = magnitudes.lookup(cast)) {
    if (llvm::isa<tile::PanelType>(known.getType())) {
      auto [query, key] = positionsOf(place, cast.getLoc());
      Value column = key;
      if (llvm::cast<tile::PanelType>(known.getType()).getKey() == 0)
        column = arith::ConstantIndexOp::create(place.builder, cast.getLoc(), 0);
      return {tile::PanelValueOp::create(place.builder, cast.getLoc(), place.builder.getF32Type(),
                                         known, query, column, headOfStack(known)),
              {}};
    }
    return emit(known, place);
  }
  return emitOverElements(tile::Reduction::Max, cast.getInput(), place, [&](Place &inner) {
    Scalar element = emit(cast.getInput(), inner);
    element.value = math::AbsFOp::create(inner.builder, cast.getLoc(), element.value);
    return element;
  });
}

Scalar ScalarEmitter::emitOverElements(tile::Reduction kind, Value vectors, Place &place,
                                       llvm::function_ref<Scalar(Place &)> element) {
  Location loc = vectors.getLoc();
  auto reduce = tile::ReduceElementsOp::create(place.builder, loc, place.builder.getF32Type(), kind,
                                               elementsOf(vectors, plan));
  mlir::Block &block = reduce.getBody().emplaceBlock();
  block.addArgument(place.builder.getIndexType(), loc);
  Place inner(OpBuilder::atBlockEnd(&block), place.query, place.key);
  inner.element = block.getArgument(0);
  inner.checksExistence = place.checksExistence;
  inner.fastMath = place.fastMath;
  Value yielded = undefinedAsNaN(inner.builder, loc, element(inner));
  tile::YieldOp::create(inner.builder, loc, yielded);
  return {reduce, {}};
}

Scalar ScalarEmitter::emitDot(ir::DotOp dot, Place &place) {
  OpBuilder &builder = place.builder;
  Location loc = dot.getLoc();
  Scalar sum = emitOverElements(tile::Reduction::Sum, dot.getLhs(), place, [&](Place &inner) {
    Scalar a = emit(dot.getLhs(), inner), b = emit(dot.getRhs(), inner);
    return Scalar{arith::MulFOp::create(inner.builder, loc, a.value, b.value),
                  both(inner.builder, loc, a.defined, b.defined)};
  });
  Scalar scale = emitScale(dot);
  Value value = arith::MulFOp::create(builder, loc, sum.value, scale.value);
  Value exists =
      operandCellExists(axesOf(dot), dot.getVisible() == ir::Visibility::Any, loc, place);
  return {value, both(builder, loc, scale.defined, exists)};
}

Scalar ScalarEmitter::emitScale(ir::DotOp dot) {
  if (dot.getScale())
    return uniform(dot.getScale());
  return {tile::SoftmaxScaleOp::create(itemBuilder, dot.getLoc(), itemBuilder.getF32Type(), item),
          {}};
}

Value ScalarEmitter::operandCellExists(const ir::Axes &axes, bool any, Location loc, Place &place) {
  if (pattern.getNoncausal() || axes.query == 0 || axes.key == 0)
    return {};
  OpBuilder &builder = place.builder;
  auto uniformOf = [&](tile::UniformKind kind) -> Value {
    return tile::UniformOp::create(builder, loc, builder.getIndexType(), kind, item);
  };
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  auto cellStart = [&](Value position, int64_t cell) -> Value {
    if (cell == 1)
      return position;
    mlir::AffineExpr dim = builder.getAffineDimExpr(0);
    return mlir::affine::expandAffineExpr(builder, loc, dim.floorDiv(cell) * cell, position, {});
  };
  auto end = [&](Value start, int64_t cell) -> Value {
    Value all = arith::AddIOp::create(builder, loc, start, constant(cell));
    return arith::MinSIOp::create(builder, loc, all, uniformOf(tile::UniformKind::KvLen));
  };
  Value row = cellStart(place.query, axes.query), key = cellStart(place.key, axes.key);
  if (any) {
    // The last row sees the first key.
    Value endRow = end(row, axes.query);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, endRow, key);
  }
  // The first row sees the last key.
  Value firstRow = arith::MaxSIOp::create(builder, loc, row, uniformOf(tile::UniformKind::Base));
  Value endKey = end(key, axes.key);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, firstRow,
                               arith::SubIOp::create(builder, loc, endKey, constant(1)));
}

Scalar ScalarEmitter::emitLinear(ir::LinearOp linear, Place &place) {
  Location loc = linear.getLoc();
  auto weight = linear.getWeight().getDefiningOp<ir::InputOp>();
  Value output = place.element;
  return emitOverElements(tile::Reduction::Sum, linear.getInput(), place, [&](Place &inner) {
    Scalar input = emit(linear.getInput(), inner);
    Value zero = arith::ConstantIndexOp::create(inner.builder, loc, 0);
    Value factor = tile::LoadCellOp::create(
        inner.builder, loc, inner.builder.getF32Type(), tile::Space::Input,
        plan.getInput(weight.getName()).getSlot(), headKind(axesOf(weight).head), 0, 1,
        /*diagonal=*/false, /*noncausal=*/false, zero, output, inner.element, item);
    return Scalar{arith::MulFOp::create(inner.builder, loc, input.value, factor), input.defined};
  });
}

} // namespace skim
