#include "codegen/cpu/RegionEvaluator.h"

#include "codegen/cpu/Accumulator.h"
#include "codegen/cpu/CellAccess.h"
#include "codegen/cpu/ElementAccess.h"
#include "codegen/cpu/Items.h"
#include "codegen/cpu/PanelAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

RowLanes skim::cpu::makeRowLanes(Code &code, tile::ItemRecordOp item, Value row, unsigned lanes) {
  Value first = firstRow(code, item);
  Value last = code.sub(endRow(code, item), code.index(1));
  Value position = code.add(tileStart(code, item), row);
  Value positions = code.add(code.splat(position, lanes), code.laneNumbers(lanes));
  positions = code.min(code.max(positions, code.splat(first, lanes)), code.splat(last, lanes));
  return {positions, code.min(code.max(position, first), last), position,
          item.getTileRows() % lanes == 0};
}

Value RegionEvaluator::toLanes(Value value) {
  return isa<VectorType>(value.getType()) ? value : code.splat(value, lanes);
}

Code::Values RegionEvaluator::unify(ValueRange values) {
  Code::Values unified(values);
  if (llvm::any_of(values, [](Value value) { return isa<VectorType>(value.getType()); }))
    for (Value &value : unified)
      value = toLanes(value);
  return unified;
}

LogicalResult RegionEvaluator::evaluate(Region &region, ValueRange arguments,
                                        Code::Values &results) {
  mapping.map(region.getArguments(), arguments);
  for (Operation &op : region.front().without_terminator()) {
    FailureOr<Value> value = evaluate(op);
    if (failed(value))
      return failure();
    mapping.map(op.getResult(0), *value);
  }
  for (Value yielded : region.front().getTerminator()->getOperands())
    results.push_back(lookup(yielded));
  return success();
}

FailureOr<Value> RegionEvaluator::evaluate(Operation &op) {
  if (auto contains = dyn_cast<tile::ContainsOp>(op))
    return this->contains(contains);
  if (auto load = dyn_cast<tile::LoadCellOp>(op))
    return loadCell(load);
  if (auto value = dyn_cast<tile::LiteralValueOp>(op)) {
    Region &body = value.getLiteral().getDefiningOp<tile::LiteralOp>().getBody();
    Code::Values results;
    if (failed(evaluate(body, {lookup(value.getQuery()), lookup(value.getKey())}, results)))
      return failure();
    return results.front();
  }
  if (auto value = dyn_cast<tile::PanelValueOp>(op))
    return panelValue(value);
  if (auto load = dyn_cast<tile::LoadElementOp>(op))
    return loadElement(load);
  if (auto reduce = dyn_cast<tile::ReduceElementsOp>(op))
    return reduceElements(reduce);
  if (auto reduce = dyn_cast<tile::ReducePositionsOp>(op))
    return reducePositions(reduce);
  // Of the item that the kernel runs, these are known before; of one head here, they are not.
  if (isa<tile::UniformOp, tile::ParameterOp, tile::SoftmaxScaleOp>(op)) {
    FailureOr<tile::ItemRecordOp> item = itemOf(op, op.getOperand(0));
    if (failed(item))
      return failure();
    return itemValue(code, *item, &op);
  }
  return elementwise(op);
}

Value RegionEvaluator::contains(tile::ContainsOp op) {
  auto bind = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return lookup(value); });
  };
  return evaluateSet(code, op.getSet(), bind(op.getDims()), bind(op.getSymbols()), lanes);
}

FailureOr<tile::ItemRecordOp> RegionEvaluator::itemOf(Operation &user, Value item) {
  return itemRecord(&user, lookup(item));
}

FailureOr<Value> RegionEvaluator::loadCell(tile::LoadCellOp op) {
  Value query = lookup(op.getQuery()), key = lookup(op.getKey());
  // Rows of one cell read it once. A vector of rows lies in one cell where both start at multiples
  // of the vector's length.
  bool oneCell = op.getQueryCell() % lanes == 0 && rows.aligned;
  if (isa<VectorType>(query.getType()) && !op.getDiagonal()) {
    if (op.getQueryCell() == 0)
      query = code.index(0);
    else if (oneCell && query == rows.positions)
      query = rows.lead;
  }
  CellPosition at{query, key, {}, {}};
  if (op.getElement()) {
    at.element = lookup(op.getElement());
    if (at.element == elements.elements)
      at.leadElement = elements.lead;
  }
  FailureOr<tile::ItemRecordOp> item = itemOf(*op, op.getItem());
  if (failed(item))
    return failure();
  return cpu::loadCell(code, op, *item, at, lanes);
}

FailureOr<Value> RegionEvaluator::panelValue(tile::PanelValueOp op) {
  Value data = panelData(code, op.getPanel());
  if (op.getItem()) {
    FailureOr<tile::ItemRecordOp> item = itemOf(*op, op.getItem());
    if (failed(item))
      return failure();
    data = panelOfHead(code, *item, op.getPanel().getType(), data);
  }
  return loadPanelValue(code, op, data, lookup(op.getQuery()), lookup(op.getKey()), rows, lanes);
}

FailureOr<Value> RegionEvaluator::loadElement(tile::LoadElementOp op) {
  FailureOr<tile::ItemRecordOp> item = itemOf(*op, op.getItem());
  if (failed(item))
    return failure();
  if (!target)
    return op.emitOpError() << "cannot be evaluated where no operand can be read";
  Value position = lookup(op.getPosition()), element = lookup(op.getElement());
  bool consecutive = element == elements.elements;
  if (consecutive)
    element = elements.lead;
  unsigned loaded = consecutive ? lanes : 1;
  if (Value address = elements.addresses.lookup(op))
    return loadVectorElements(code, *target, *item, address, element, loaded);
  if (!isa<VectorType>(position.getType()) && !isa<VectorType>(element.getType())) {
    Value address = vectorAddress(code, *item, op.getSource(), position);
    return loadVectorElements(code, *target, *item, address, element, loaded);
  }
  return loadElementsByLane(code, *target, *item, op.getSource(), toLanes(position),
                            toLanes(element), lanes);
}

FailureOr<Value> RegionEvaluator::reduceElements(tile::ReduceElementsOp op) {
  Region &body = op.getBody();
  bool sums = op.getKind() == tile::Reduction::Sum;
  Type f64 = code.getF64Type();
  Value start = arith::ConstantOp::create(
      code, code.getF64FloatAttr(sums ? 0 : -std::numeric_limits<double>::infinity()));
  // Everything that the region sees may be a vector: so is what is carried.
  if (lanes > 1)
    start = code.splat(start, lanes);
  LogicalResult evaluated = success();
  Code::Values reduced =
      code.loop(code.index(0), code.index(static_cast<int64_t>(op.getElements())), 1, start,
                [&](Value i, ValueRange carried) -> Code::Values {
                  Code::Values values;
                  evaluated = evaluate(body, i, values);
                  if (failed(evaluated))
                    return Code::Values(carried);
                  Value value = lanes > 1 ? toLanes(values.front()) : values.front();
                  Type wide = lanes > 1 ? Type(code.vectorType(lanes, f64)) : f64;
                  value = arith::ExtFOp::create(code, wide, value);
                  // Both hand on a NaN.
                  if (sums)
                    return {arith::AddFOp::create(code, carried[0], value)};
                  return {arith::MaximumFOp::create(code, carried[0], value)};
                });
  if (failed(evaluated))
    return failure();
  Type f32 = code.getF32Type();
  Type type = lanes > 1 ? Type(code.vectorType(lanes, f32)) : f32;
  return Value(arith::TruncFOp::create(code, type, reduced[0]));
}

FailureOr<Value> RegionEvaluator::reducePositions(tile::ReducePositionsOp op) {
  Value rowCount = lookup(op.getRows()), keyCount = lookup(op.getKeys());
  if (isa<VectorType>(rowCount.getType()) || isa<VectorType>(keyCount.getType()))
    return op.emitOpError() << "expected numbers of rows and keys that are the same for all lanes";
  Accumulator accumulator(code, op.getKind(), code.getF32Type());
  LogicalResult evaluated = success();
  Value zero = code.index(0);
  auto overPositions = [&](ValueRange initial, Code::Values arguments) {
    return code.loop(zero, rowCount, 1, initial, [&](Value i, ValueRange outer) {
      return code.loop(zero, keyCount, 1, outer, [&](Value j, ValueRange carried) {
        Code::Values values, inner = arguments;
        inner.append({i, j});
        evaluated = evaluate(op.getBody(), inner, values);
        if (failed(evaluated))
          return Code::Values(carried);
        return accumulator.combine(carried, lanes > 1 ? toLanes(values.front()) : values.front());
      });
    });
  };
  Code::Values reduced = accumulator.identity(lanes);
  if (op.getItem()) {
    FailureOr<tile::ItemRecordOp> item = itemOf(*op, op.getItem());
    if (failed(item))
      return failure();
    auto [first, end] = headsOf(code, *item, *op.getHeads());
    bool ofKvHeads = op.getHeads() == tile::HeadGroup::KvHeads;
    reduced = code.loop(first, end, 1, reduced, [&](Value head, ValueRange carried) {
      return overPositions(carried, {itemOfHead(code, *item, head, ofKvHeads)});
    });
  } else {
    reduced = overPositions(reduced, {});
  }
  if (failed(evaluated))
    return failure();
  return accumulator.finish(reduced);
}

FailureOr<Value> RegionEvaluator::elementwise(Operation &op) {
  if (!tile::isScalarOperation(op) || op.getNumResults() != 1)
    return op.emitOpError() << "cannot be evaluated on vectors of rows";
  Code::Values operands =
      unify(llvm::map_to_vector(op.getOperands(), [&](Value value) { return lookup(value); }));
  Operation *copy = code.insert(op.cloneWithoutRegions());
  copy->setOperands(operands);
  Value result = copy->getResult(0);
  if (!operands.empty() && isa<VectorType>(operands.front().getType()))
    result.setType(code.vectorType(lanes, result.getType()));
  return result;
}

namespace {

/// Walks an affine expression; both operands of an operation become vectors when one is.
class AffineEmitter {
public:
  AffineEmitter(Code &code, ValueRange dims, ValueRange symbols, unsigned lanes)
      : code(code), dims(dims), symbols(symbols), lanes(lanes) {}

  Value emit(AffineExpr expression) {
    switch (expression.getKind()) {
    case AffineExprKind::Constant:
      return code.index(cast<AffineConstantExpr>(expression).getValue());
    case AffineExprKind::DimId:
      return dims[cast<AffineDimExpr>(expression).getPosition()];
    case AffineExprKind::SymbolId:
      return symbols[cast<AffineSymbolExpr>(expression).getPosition()];
    default:
      return emitBinary(cast<AffineBinaryOpExpr>(expression));
    }
  }

private:
  Value emitBinary(AffineBinaryOpExpr expression) {
    Value left = emit(expression.getLHS());
    switch (expression.getKind()) {
    case AffineExprKind::Add:
      return binary<arith::AddIOp>(left, emit(expression.getRHS()));
    case AffineExprKind::Mul:
      return binary<arith::MulIOp>(left, emit(expression.getRHS()));
    default:
      break;
    }
    // Divisors of quasi-affine expressions are positive constants.
    int64_t divisor = cast<AffineConstantExpr>(expression.getRHS()).getValue();
    if (expression.getKind() == AffineExprKind::CeilDiv)
      return floorDiv(binary<arith::AddIOp>(left, code.index(divisor - 1)), divisor);
    if (expression.getKind() == AffineExprKind::FloorDiv)
      return floorDiv(left, divisor);
    if (llvm::isPowerOf2_64(divisor))
      return binary<arith::AndIOp>(left, code.index(divisor - 1));
    Value remainder = binary<arith::RemSIOp>(left, code.index(divisor));
    return code.select(isNegative(remainder), binary<arith::AddIOp>(remainder, code.index(divisor)),
                       remainder);
  }

  Value floorDiv(Value value, int64_t divisor) {
    if (divisor == 1)
      return value;
    if (llvm::isPowerOf2_64(divisor))
      return binary<arith::ShRSIOp>(value, code.index(llvm::Log2_64(divisor)));
    Value quotient = binary<arith::DivSIOp>(value, code.index(divisor));
    Value remainder = binary<arith::RemSIOp>(value, code.index(divisor));
    return code.select(isNegative(remainder), binary<arith::SubIOp>(quotient, code.index(1)),
                       quotient);
  }

  Value isNegative(Value value) {
    Value zero = code.index(0);
    if (isa<VectorType>(value.getType()))
      zero = code.splat(zero, lanes);
    return code.less(value, zero);
  }

  template <typename Op> Value binary(Value left, Value right) {
    bool vectors = isa<VectorType>(left.getType()) || isa<VectorType>(right.getType());
    for (Value *value : {&left, &right})
      if (vectors && !isa<VectorType>(value->getType()))
        *value = code.splat(*value, lanes);
    return code.createOrFold<Op>(left, right);
  }

  Code &code;
  ValueRange dims, symbols;
  unsigned lanes;
};

} // namespace

Value skim::cpu::evaluateAffine(Code &code, AffineExpr expression, ValueRange dims,
                                ValueRange symbols, unsigned lanes) {
  return AffineEmitter(code, dims, symbols, lanes).emit(expression);
}

Value skim::cpu::evaluateSet(Code &code, IntegerSet set, ValueRange dims, ValueRange symbols,
                             unsigned lanes) {
  Value all;
  for (auto [expression, equality] : llvm::zip(set.getConstraints(), set.getEqFlags())) {
    Value value = evaluateAffine(code, expression, dims, symbols, lanes);
    Value zero = code.index(0);
    bool vector = isa<VectorType>(value.getType());
    if (vector)
      zero = code.splat(zero, lanes);
    Value holds = equality ? code.equal(value, zero) : code.lessOrEqual(zero, value);
    if (all && isa<VectorType>(all.getType()) != vector) {
      Value &scalar = vector ? all : holds;
      scalar = code.splat(scalar, lanes);
    }
    all = all ? code.logicalAnd(all, holds) : holds;
  }
  return all ? all : code.i1(true);
}
