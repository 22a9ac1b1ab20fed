#include "codegen/nvvm/MaskConditions.h"

#include "codegen/cpu/Items.h"
#include "codegen/cpu/RegionEvaluator.h"
#include "codegen/nvvm/Registers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

/// Beyond every column and every distance of a position from one.
static constexpr int64_t kFar = int64_t(1) << 30;

FragmentPositions::FragmentPositions(Device &device, tile::ItemRecordOp item,
                                     tile::VisitRecordOp visit, Value listed)
    : device(device), item(item), firstKey(visit.getFirstKey()), listed(listed) {
  cpu::KernelInfo info = cpu::kernelInfo(visit);
  rows = info.schedule.getRows();
  keys = info.schedule.getKeys();
  Value start = cpu::tileStart(device, item), first = cpu::firstRow(device, item);
  Value last = device.sub(cpu::endRow(device, item), device.index(1));
  for (size_t i = 0; i < 2; ++i) {
    TileRow row = rowOfThread(device, i);
    Value position = device.add(start, device.toIndex(row.position));
    queries[i] = device.min(device.max(position, first), last);
  }
  tile::SourceAttr source = visit.getSource();
  Value length = item.getKvLen();
  if (source.getPooled())
    length = device.ceilDiv(length, source.getBlock());
  lastKey = device.sub(length, device.index(1));
  firstColumn = device.toIndex(firstColumnOfThread(device));
}

Value FragmentPositions::key(Value column) {
  return device.min(device.add(firstKey, column), lastKey);
}
Value FragmentPositions::listedKey(size_t i) {
  int64_t column = columnOfRegister(i);
  Value &key = listedKeys[column];
  if (!key) {
    Value offset = device.add(listed, device.mul(device.toI32(firstColumn), device.i32(4)));
    key = device.toIndex(device.loadShared(offset, 4 * column));
  }
  return key;
}
Value FragmentPositions::existsKeyOfRegister(size_t i) {
  return device.lessOrEqual(device.index(0), listedKey(i));
}
Value FragmentPositions::keyOfRegister(size_t i) {
  if (listed)
    return device.max(listedKey(i), device.index(0));
  return key(device.add(firstColumn, device.index(columnOfRegister(i))));
}

Value FragmentPositions::toColumn(Value key) {
  // Opaque to LLVM, which would compare all columns in 64 bits otherwise.
  return device.saturateToI32(device.sub(device.sub(key, firstKey), firstColumn));
}

/// Whether the expression divides something that depends on the key.
static bool dividesKey(AffineExpr expression, unsigned key) {
  bool divides = false;
  expression.walk([&](AffineExpr part) {
    AffineExprKind kind = part.getKind();
    bool division = kind == AffineExprKind::Mod || kind == AffineExprKind::FloorDiv ||
                    kind == AffineExprKind::CeilDiv;
    divides |= division && part.isFunctionOfDim(key);
  });
  return divides;
}

std::optional<MaskConditions::Bounds> MaskConditions::bounds(tile::ContainsOp op, size_t row) {
  auto known = boundsOf.find({op, row});
  if (known != boundsOf.end())
    return known->second;
  std::optional<Bounds> &result = boundsOf[{op, row}];
  if (positions.areListed())
    return result;
  Value queryArgument = region.getArgument(0), keyArgument = region.getArgument(1);
  IntegerSet set = op.getSet();
  // The key may be one of the dimensions; everything else must be known for the row.
  std::optional<unsigned> keyDim;
  SmallVector<Value> dims, symbols(op.getSymbols());
  for (auto [i, dim] : llvm::enumerate(op.getDims())) {
    if (dim == keyArgument && !keyDim) {
      keyDim = i;
      dims.push_back(positions.firstKey);
    } else if (dim == queryArgument) {
      dims.push_back(positions.query(row));
    } else if (dim.getParentRegion() == &region) {
      return result;
    } else {
      dims.push_back(dim);
    }
  }
  if (llvm::any_of(symbols, [&](Value value) { return value.getParentRegion() == &region; }))
    return result;
  for (AffineExpr expression : set.getConstraints())
    if (keyDim && dividesKey(expression, *keyDim))
      return result;

  Bounds found;
  Value never; // a condition on the row alone that does not hold
  auto atLeast = [&](Value lower) {
    found.lower = found.lower ? device.max(found.lower, lower) : lower;
  };
  auto atMost = [&](Value upper) {
    found.upper = found.upper ? device.min(found.upper, upper) : upper;
  };
  for (auto [expression, equality] : llvm::zip(set.getConstraints(), set.getEqFlags())) {
    int64_t factor = 0;
    AffineExpr rest = expression;
    if (keyDim) {
      AffineExpr zero = getAffineConstantExpr(0, set.getContext());
      AffineExpr one = getAffineConstantExpr(1, set.getContext());
      AffineExpr key = getAffineDimExpr(*keyDim, set.getContext());
      rest = expression.replace(key, zero);
      AffineExpr slope = simplifyAffineExpr(expression.replace(key, one) - rest, set.getNumDims(),
                                            set.getNumSymbols());
      auto constant = dyn_cast<AffineConstantExpr>(slope);
      if (!constant)
        return result;
      factor = constant.getValue();
    }
    if (equality && std::abs(factor) > 1)
      return result;
    Value value = cpu::evaluateAffine(device, rest, dims, symbols, 1);
    if (factor == 0) {
      Value zero = device.index(0);
      Value fails =
          device.logicalNot(equality ? device.equal(value, zero) : device.lessOrEqual(zero, value));
      never = never ? device.logicalOr(never, fails) : fails;
    } else if (equality) {
      Value only = positions.toColumn(factor > 0 ? device.sub(device.index(0), value) : value);
      atLeast(only);
      atMost(only);
    } else if (factor > 0) {
      // factor * k + value >= 0: from ceil(-value / factor) on.
      atLeast(positions.toColumn(device.sub(device.index(0), device.floorDiv(value, factor))));
    } else {
      atMost(positions.toColumn(device.floorDiv(value, -factor)));
    }
  }
  if (never) {
    Value far = device.i32(kFar), lower = found.lower ? found.lower : device.i32(-kFar);
    found.lower = device.select(never, far, lower);
  }
  boundsOf[{op, row}] = found;
  return found;
}

Value MaskConditions::contains(const Bounds &bounds, size_t i) {
  Value column = device.i32(FragmentPositions::columnOfRegister(i)), holds;
  if (bounds.lower)
    holds = device.lessOrEqual(bounds.lower, column);
  if (bounds.upper) {
    Value below = device.lessOrEqual(column, bounds.upper);
    holds = holds ? device.logicalAnd(holds, below) : below;
  }
  return holds ? holds : device.i1(true);
}

MaskConditions::Bounds MaskConditions::intersect(const Bounds &a, const Bounds &b) {
  auto both = [](Value x, Value y, llvm::function_ref<Value(Value, Value)> combine) {
    return x && y ? combine(x, y) : x ? x : y;
  };
  return {both(a.lower, b.lower, [&](Value x, Value y) { return device.max(x, y); }),
          both(a.upper, b.upper, [&](Value x, Value y) { return device.min(x, y); })};
}

bool MaskConditions::holdsWholeTiles(tile::LiteralOp literal) const {
  auto keyCell = static_cast<int64_t>(literal.getKeyCell());
  return keyCell == 0 || keyCell % positions.keys == 0;
}

std::optional<MaskConditions::Bounds> MaskConditions::boundsOfValue(Value value, size_t row,
                                                                    bool &failed) {
  Operation *op = value.getDefiningOp();
  if (auto contains = dyn_cast_or_null<tile::ContainsOp>(op))
    return bounds(contains, row);
  if (auto both = dyn_cast_or_null<arith::AndIOp>(op)) {
    std::optional<Bounds> left = boundsOfValue(both.getLhs(), row, failed);
    std::optional<Bounds> right = left ? boundsOfValue(both.getRhs(), row, failed) : std::nullopt;
    return right ? std::optional(intersect(*left, *right)) : std::nullopt;
  }
  auto use = dyn_cast_or_null<tile::LiteralValueOp>(op);
  if (!use || positions.areListed() || use.getQuery() != region.getArgument(0) ||
      use.getKey() != region.getArgument(1) ||
      !holdsWholeTiles(use.getLiteral().getDefiningOp<tile::LiteralOp>()))
    return std::nullopt;
  FailureOr<Value> holds = literal(use, 2 * row);
  failed |= llvm::failed(holds);
  if (failed)
    return std::nullopt;
  return Bounds{{}, device.select(*holds, device.i32(kFar), device.i32(-kFar))};
}

FailureOr<std::optional<MaskConditions::Bounds>> MaskConditions::wholeMask(size_t row) {
  if (!whole[row]) {
    bool failed = false;
    whole[row] = boundsOfValue(region.front().getTerminator()->getOperand(0), row, failed);
    if (failed)
      return failure();
    if (std::optional<Bounds> &known = *whole[row])
      known = intersect(*known, {{}, positions.lastColumn()});
  }
  return *whole[row];
}

FailureOr<Value> MaskConditions::literal(tile::LiteralValueOp op, size_t i) {
  auto literal = op.getLiteral().getDefiningOp<tile::LiteralOp>();
  auto queryCell = static_cast<int64_t>(literal.getQueryCell());
  auto keyCell = static_cast<int64_t>(literal.getKeyCell());
  size_t row = i / 2 % 2;
  bool uniform = queryCell == 0 || queryCell % positions.rows == 0;
  // Cells of at least eight keys hold whole groups of columns, for all threads alike.
  bool wholeTile = !positions.areListed() && holdsWholeTiles(literal);
  bool groups =
      !wholeTile && !positions.areListed() && keyCell % 8 == 0 && positions.keys % keyCell == 0;
  int64_t column = FragmentPositions::columnOfRegister(i);
  int64_t cell = wholeTile ? 0 : groups ? column / keyCell : column;
  Value &known = literals[{literal, {uniform ? 0 : row, cell}}];
  if (known)
    return known;
  Value key = wholeTile ? positions.firstKey
              : groups  ? positions.key(device.index(cell * keyCell))
                        : positions.keyOfRegister(i);
  cpu::Code::Values results;
  cpu::RegionEvaluator evaluator(device, /*lanes=*/1);
  if (failed(evaluator.evaluate(literal.getBody(), {positions.query(uniform ? 0 : row), key},
                                results)))
    return failure();
  literals[{literal, {uniform ? 0 : row, cell}}] = results.front();
  return results.front();
}

FailureOr<Value> MaskConditions::keeps(size_t i) {
  size_t row = i / 2 % 2;
  FailureOr<std::optional<Bounds>> whole = wholeMask(row);
  if (failed(whole))
    return failure();
  if (*whole)
    return contains(**whole, i);
  IRMapping mapping;
  // Positions are built where something asks for them.
  auto bindPositions = [&] {
    if (!mapping.contains(region.getArgument(0))) {
      mapping.map(region.getArgument(0), positions.query(row));
      mapping.map(region.getArgument(1), positions.keyOfRegister(i));
    }
  };
  for (Operation &op : region.front().without_terminator()) {
    FailureOr<Value> value = failure();
    if (auto contains = dyn_cast<tile::ContainsOp>(op))
      if (std::optional<Bounds> known = bounds(contains, row))
        value = this->contains(*known, i);
    if (auto literal = dyn_cast<tile::LiteralValueOp>(op))
      if (literal.getQuery() == region.getArgument(0) &&
          literal.getKey() == region.getArgument(1)) {
        value = this->literal(literal, i);
        if (failed(value))
          return failure();
      }
    if (failed(value)) {
      bindPositions();
      Operation *copy = op.clone(mapping);
      if (isa<arith::ArithDialect>(op.getDialect())) {
        device.insert(copy);
        value = copy->getResult(0);
      } else {
        // Unknown to the listeners of the builder: a rewriter would come back to it when it is
        // gone.
        device.getInsertionBlock()->getOperations().insert(device.getInsertionPoint(), copy);
        value = cpu::RegionEvaluator(device, /*lanes=*/1).evaluate(*copy);
        copy->erase();
        if (failed(value))
          return failure();
      }
    }
    mapping.map(op.getResult(0), *value);
  }
  Value kept = mapping.lookupOrDefault(region.front().getTerminator()->getOperand(0));
  Value exists = positions.areListed() ? positions.existsKeyOfRegister(i)
                                       : contains({{}, positions.lastColumn()}, i);
  return device.logicalAnd(kept, exists);
}
