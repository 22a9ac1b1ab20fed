// Reductions and smoothing of vectors, as loops at one position.
#include "passes/MapAnalysis.h"
#include "passes/Panels.h"
#include "passes/ScalarEmitter.h"
#include "passes/StageBuffers.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace arith = mlir::arith;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

namespace skim {
namespace {

/// Index arithmetic in one region.
class Positions {
public:
  Positions(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
  Value mul(Value a, int64_t factor) {
    return factor == 1 ? a : Value(arith::MulIOp::create(builder, loc, a, constant(factor)));
  }
  Value min(Value a, Value b) { return arith::MinSIOp::create(builder, loc, a, b); }
  Value max(Value a, Value b) { return arith::MaxSIOp::create(builder, loc, a, b); }
  Value less(Value a, Value b) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value floorDiv(Value position, int64_t cell) {
    if (cell == 1)
      return position;
    mlir::AffineExpr dim = builder.getAffineDimExpr(0);
    return mlir::affine::expandAffineExpr(builder, loc, dim.floorDiv(cell), position, {});
  }
  Value ceilDiv(Value count, int64_t cell) {
    return cell == 1 ? count : floorDiv(add(count, constant(cell - 1)), cell);
  }

private:
  OpBuilder &builder;
  Location loc;
};

} // namespace

Scalar ScalarEmitter::emitOverCells(Location loc, tile::Reduction kind,
                                    std::optional<tile::HeadGroup> heads, Value rows, Value keys,
                                    Place &place, EmitCell cell) {
  OpBuilder &builder = place.builder;
  auto group = heads ? tile::HeadGroupAttr::get(builder.getContext(), *heads) : nullptr;
  auto reduce = tile::ReducePositionsOp::create(builder, loc, builder.getF32Type(), kind, group,
                                                heads ? item : Value(), rows, keys);
  mlir::Block &block = reduce.getBody().emplaceBlock();
  if (heads)
    block.addArgument(item.getType(), loc);
  for (int argument = 0; argument != 2; ++argument)
    block.addArgument(builder.getIndexType(), loc);
  Place inner(OpBuilder::atBlockEnd(&block), place.query, place.key);
  inner.element = place.element;
  inner.checksExistence = true;
  inner.fastMath = place.fastMath;
  Value row = block.getArguments().drop_back().back(), key = block.getArguments().back();
  Scalar value;
  if (heads) {
    // What is one value for a head stands before all that is computed with it.
    OpBuilder start(arith::ConstantIndexOp::create(inner.builder, loc, 0));
    ScalarEmitter ofHead(pattern, plan, block.getArgument(0), start);
    ofHead.panels = ofHead.stacks = stacks;
    ofHead.magnitudes = ofHead.magnitudeStacks = magnitudeStacks;
    value = cell(ofHead, inner, row, key);
    failed |= ofHead.failed;
  } else {
    value = cell(*this, inner, row, key);
  }
  Value yielded = undefinedAsNaN(inner.builder, loc, value);
  tile::YieldOp::create(inner.builder, loc, yielded);
  return {reduce, {}};
}

Scalar ScalarEmitter::emitReduction(ir::ReduceOp reduce, Place &place) {
  Location loc = reduce.getLoc();
  ir::Axes from = axesOf(reduce.getInput()), to = axesOf(reduce);
  bool isVector = llvm::cast<ir::MapType>(reduce.getType()).isVec();
  if (!isVector || from.diagonal || (from.query != 0 && to.query == 0))
    return {emitUnsupported(reduce, place.builder), {}};
  std::optional<tile::HeadGroup> heads;
  if (from.head != to.head)
    heads = joinedHeads(from.head, to.head);
  auto uniformOf = [&](tile::UniformKind kind) -> Value {
    return tile::UniformOp::create(place.builder, loc, place.builder.getIndexType(), kind, item);
  };
  Positions outer(place.builder, loc);
  bool joinsRows = from.query != to.query, joinsKeys = from.key != to.key;
  Value base = uniformOf(tile::UniformKind::Base), length = uniformOf(tile::UniformKind::KvLen);
  Value rows = outer.constant(joinsRows ? to.query / from.query : 1);
  Value keys = !joinsKeys    ? outer.constant(1)
               : to.key != 0 ? outer.constant(to.key / from.key)
                             : outer.ceilDiv(length, from.key);
  Value firstRow, firstKey;
  if (joinsRows)
    firstRow = outer.mul(outer.floorDiv(place.query, to.query), to.query);
  if (joinsKeys)
    firstKey =
        to.key == 0 ? outer.constant(0) : outer.mul(outer.floorDiv(place.key, to.key), to.key);
  return emitOverCells(
      loc, reductionOf(reduce.getKind()), heads, rows, keys, place,
      [&](ScalarEmitter &emitter, Place &inner, Value row, Value key) {
        Positions positions(inner.builder, loc);
        Value exists, last = positions.sub(length, positions.constant(1));
        if (joinsRows) {
          // The cell's existing positions; others stand in where there are none.
          Value start = positions.add(firstRow, positions.mul(row, from.query));
          Value end = positions.add(start, positions.constant(from.query));
          exists =
              both(inner.builder, loc, positions.less(start, length), positions.less(base, end));
          inner.query = positions.min(positions.max(start, base), last);
        }
        if (joinsKeys) {
          Value start = positions.add(firstKey, positions.mul(key, from.key));
          exists = both(inner.builder, loc, exists, positions.less(start, length));
          inner.key = positions.min(start, last);
        }
        Scalar value = emitter.emit(reduce.getInput(), inner);
        return Scalar{value.value, both(inner.builder, loc, value.defined, exists)};
      });
}

Scalar ScalarEmitter::emitSmooth(ir::SmoothOp smooth, Place &place) {
  Location loc = smooth.getLoc();
  OpBuilder &builder = place.builder;
  int64_t cell = axesOf(smooth).key;
  Positions outer(builder, loc);
  Value one = outer.constant(1), zero = outer.constant(0);
  Scalar width = uniform(smooth.getWidth());
  Value length =
      tile::UniformOp::create(builder, loc, builder.getIndexType(), tile::UniformKind::KvLen, item);
  Value cells = outer.ceilDiv(length, cell), half = outer.floorDiv(width.value, 2);
  Value rest = outer.sub(width.value, outer.mul(half, 2));
  Value isOdd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, one);
  Value isCentred = both(builder, loc, isOdd, outer.less(zero, width.value));
  // A window that is wider than all cells takes in all of them.
  half = outer.select(isCentred, outer.min(half, cells), zero);
  Value first = outer.sub(outer.floorDiv(place.key, cell), half);
  Scalar mean = emitOverCells(
      loc, tile::Reduction::Mean, {}, one, outer.add(outer.mul(half, 2), one), place,
      [&](ScalarEmitter &, Place &inner, Value, Value number) {
        Positions positions(inner.builder, loc);
        Value at = positions.add(first, number);
        Value before = positions.less(at, positions.constant(0));
        Value exists = arith::AndIOp::create(
            inner.builder, loc, positions.less(at, cells),
            arith::XOrIOp::create(inner.builder, loc, before,
                                  arith::ConstantIntOp::create(inner.builder, loc, 1, 1)));
        Value last = positions.sub(cells, positions.constant(1));
        at = positions.min(positions.max(at, positions.constant(0)), last);
        inner.key = positions.mul(at, cell);
        Scalar value = emit(smooth.getInput(), inner);
        return Scalar{value.value, both(inner.builder, loc, value.defined, exists)};
      });
  // A cell that is undefined itself has no mean.
  Value here = undefinedAsNaN(builder, loc, emit(smooth.getInput(), place));
  Value isNumber = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, here, here);
  Value defined = both(builder, loc, both(builder, loc, isCentred, width.defined), isNumber);
  return {mean.value, defined};
}

} // namespace skim
