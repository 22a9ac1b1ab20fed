#include "codegen/nvvm/MaskConditions.h"

#include "codegen/cpu/Items.h"
#include "codegen/cpu/RegionEvaluator.h"
#include "codegen/nvvm/Registers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

/// Beyond every column and every distance of a position from one.
static constexpr int64_t kFar = int64_t(1) << 30;

/// Columns of a tile that one step of the loop over keys evaluates, of which a thread has a
/// quarter: enough for loads to overlap.
static constexpr int64_t kColumnsOfStep = 8;

FragmentPositions::FragmentPositions(Device &device, tile::ItemRecordOp item,
                                     tile::VisitRecordOp visit, Value listed)
    : device(device), item(item), firstKey(visit.getFirstKey()), listed(listed),
      existing(visit.getCount()) {
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
Value FragmentPositions::listedKey(Value column) {
  Value position = device.toI32(device.add(firstColumn, column));
  return device.toIndex(device.loadShared(device.add(listed, device.mul(position, device.i32(4)))));
}
Value FragmentPositions::existsListed(Value column) {
  return device.lessOrEqual(device.index(0), listedKey(column));
}
Value FragmentPositions::keyOfThread(Value column) {
  if (listed)
    return device.max(listedKey(column), device.index(0));
  return key(device.add(firstColumn, column));
}
Value FragmentPositions::keyOfRegister(size_t i) {
  return keyOfThread(device.index(columnOfRegister(i)));
}

Value FragmentPositions::toColumn(Value key) {
  // Opaque to LLVM, which would compare all columns in 64 bits otherwise.
  return device.saturateToI32(device.sub(device.sub(key, firstKey), firstColumn));
}

MaskConditions::Bounds MaskConditions::bounds(tile::ContainsOp op, size_t row) {
  auto known = boundsOf.find({op, row});
  if (known != boundsOf.end())
    return known->second;
  IntegerSet set = op.getSet();
  std::optional<unsigned> keyDim = keyDimension(op, region.getArgument(1));
  SmallVector<Value> dims, symbols(op.getSymbols());
  for (auto [i, dim] : llvm::enumerate(op.getDims()))
    dims.push_back(i == keyDim                    ? positions.firstKey
                   : dim == region.getArgument(0) ? positions.query(row)
                                                  : dim);
  Bounds found;
  Value never; // a condition on the row alone that does not hold
  auto atLeast = [&](Value lower) {
    found.lower = found.lower ? device.max(found.lower, lower) : lower;
  };
  auto atMost = [&](Value upper) {
    found.upper = found.upper ? device.min(found.upper, upper) : upper;
  };
  for (auto [expression, equality] : llvm::zip(set.getConstraints(), set.getEqFlags())) {
    auto [rest, slope] = slopeOf(expression, keyDim, set);
    int64_t factor = slope.getValue();
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

Value MaskConditions::numberOf(const Column &column) {
  Value offset = device.i32(column.offset);
  return column.start ? device.add(device.toI32(column.start), offset) : offset;
}
Value MaskConditions::keyOf(Column &column) {
  if (!column.key) {
    Value offset = device.index(column.offset);
    column.key = positions.keyOfThread(column.start ? device.add(column.start, offset) : offset);
  }
  return column.key;
}

Value MaskConditions::contains(const Bounds &bounds, const Column &column) {
  Value number = numberOf(column), holds;
  if (bounds.lower)
    holds = device.lessOrEqual(bounds.lower, number);
  if (bounds.upper) {
    Value below = device.lessOrEqual(number, bounds.upper);
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

FailureOr<MaskConditions::Bounds> MaskConditions::boundsOfMask(Value value, size_t row) {
  Operation *op = value.getDefiningOp();
  if (auto contains = dyn_cast<tile::ContainsOp>(op))
    return bounds(contains, row);
  if (auto both = dyn_cast<arith::AndIOp>(op)) {
    FailureOr<Bounds> left = boundsOfMask(both.getLhs(), row);
    FailureOr<Bounds> right = failed(left) ? left : boundsOfMask(both.getRhs(), row);
    return failed(right) ? right : intersect(*left, *right);
  }
  Column first{0, {}, {}};
  FailureOr<Value> holds = literal(cast<tile::LiteralValueOp>(op), row, first);
  if (failed(holds))
    return failure();
  return Bounds{{}, device.select(*holds, device.i32(kFar), device.i32(-kFar))};
}

FailureOr<Value> MaskConditions::literal(tile::LiteralValueOp op, size_t row, Column &column) {
  auto literal = op.getLiteral().getDefiningOp<tile::LiteralOp>();
  auto queryCell = static_cast<int64_t>(literal.getQueryCell());
  auto keyCell = static_cast<int64_t>(literal.getKeyCell());
  bool uniform = queryCell == 0 || queryCell % positions.rows == 0;
  bool wholeTile = !positions.areListed() && shape.holdsWholeTiles(literal);
  bool groups = !wholeTile && !positions.areListed() && shape.holdsGroups(literal);
  // A step of the loop evaluates each group of eight columns by itself.
  int64_t group = column.start ? column.offset / 8 * 8
                               : column.offset / std::max<int64_t>(keyCell, 1) * keyCell;
  int64_t cell = wholeTile ? 0 : groups ? group : column.offset;
  Value &known = literals[{literal, {uniform ? 0 : row, cell}}];
  if (known)
    return known;
  Value key;
  if (wholeTile) {
    key = positions.firstKey;
  } else if (groups) {
    Value first = device.index(group);
    key = positions.key(column.start ? device.add(column.start, first) : first);
  } else {
    key = keyOf(column);
  }
  cpu::Code::Values results;
  cpu::RegionEvaluator evaluator(device, /*lanes=*/1);
  if (failed(evaluator.evaluate(literal.getBody(), {positions.query(uniform ? 0 : row), key},
                                results)))
    return failure();
  literals[{literal, {uniform ? 0 : row, cell}}] = results.front();
  return results.front();
}

FailureOr<Value> MaskConditions::keeps(size_t row, Column &column) {
  IRMapping mapping;
  // Positions are built where something asks for them.
  auto bindPositions = [&] {
    if (!mapping.contains(region.getArgument(0))) {
      mapping.map(region.getArgument(0), positions.query(row));
      mapping.map(region.getArgument(1), keyOf(column));
    }
  };
  for (Operation &op : region.front().without_terminator()) {
    FailureOr<Value> value = failure();
    if (auto contains = dyn_cast<tile::ContainsOp>(op); contains && shape.hasBounds(contains))
      value = this->contains(bounds(contains, row), column);
    if (auto literal = dyn_cast<tile::LiteralValueOp>(op); literal && shape.isOfElement(literal)) {
      value = this->literal(literal, row, column);
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
  Value exists;
  if (positions.areListed()) {
    Value offset = device.index(column.offset);
    exists = positions.existsListed(column.start ? device.add(column.start, offset) : offset);
  } else {
    exists = contains({{}, lastColumn}, column);
  }
  return device.logicalAnd(kept, exists);
}

FailureOr<cpu::Code::Values> MaskConditions::keptRegisters(size_t count) {
  if (shape.evaluatesKeys()) {
    FailureOr<cpu::Code::Values> words = wordsInLoop(count);
    return failed(words) ? words : unpackBits(device, *words, count);
  }
  std::optional<Bounds> whole[2];
  if (shape.isBounds())
    for (size_t row = 0; row < 2; ++row) {
      FailureOr<Bounds> found = boundsOfMask(region.front().getTerminator()->getOperand(0), row);
      if (failed(found))
        return failure();
      whole[row] = intersect(*found, {{}, positions.lastColumn()});
    }
  else
    lastColumn = positions.lastColumn();
  cpu::Code::Values kept;
  for (size_t i = 0; i < count; ++i) {
    size_t row = i / 2 % 2;
    Column column{FragmentPositions::columnOfRegister(i), {}, {}};
    FailureOr<Value> keeps =
        whole[row] ? FailureOr<Value>(contains(*whole[row], column)) : this->keeps(row, column);
    if (failed(keeps))
      return failure();
    kept.push_back(*keeps);
  }
  return kept;
}

FailureOr<cpu::Code::Values> MaskConditions::keptWords(size_t count) {
  if (shape.evaluatesKeys())
    return wordsInLoop(count);
  FailureOr<cpu::Code::Values> kept = keptRegisters(count);
  if (failed(kept))
    return failure();
  cpu::Code::Values words;
  for (auto [i, keeps] : llvm::enumerate(*kept)) {
    if (i % kWordBits == 0)
      words.push_back(device.i32(0));
    Value bit = device.i32(static_cast<int64_t>(uint64_t(1) << i % kWordBits));
    words.back() = device.logicalOr(words.back(), device.select(keeps, bit, device.i32(0)));
  }
  return words;
}

FailureOr<cpu::Code::Values> MaskConditions::wordsInLoop(size_t count) {
  lastColumn = positions.lastColumn();
  // What does not depend on the column is evaluated before the loop.
  for (Operation &op : region.front().without_terminator())
    for (size_t row = 0; row < 2; ++row) {
      if (auto contains = dyn_cast<tile::ContainsOp>(op); contains && shape.hasBounds(contains))
        bounds(contains, row);
      auto use = dyn_cast<tile::LiteralValueOp>(op);
      Column first{0, {}, {}};
      if (use && !positions.areListed() && shape.isOfElement(use) &&
          shape.holdsWholeTiles(use.getLiteral().getDefiningOp<tile::LiteralOp>()) &&
          failed(literal(use, row, first)))
        return failure();
    }
  size_t words = (count + kWordBits - 1) / kWordBits;
  LogicalResult result = success();
  auto step = [&](Value start, ValueRange carried) -> cpu::Code::Values {
    Value bits = device.i32(0);
    for (int64_t group = 0; group < kColumnsOfStep; group += 8)
      for (int64_t second = 0; second < 2; ++second) {
        Column column{group + second, start, {}};
        for (size_t row = 0; row < 2; ++row) {
          FailureOr<Value> keeps = this->keeps(row, column);
          if (failed(keeps)) {
            result = failure();
            return cpu::Code::Values(carried);
          }
          int64_t bit = group / 2 + static_cast<int64_t>(2 * row) + second;
          Value set = device.select(*keeps, device.i32(int64_t(1) << bit), device.i32(0));
          bits = device.logicalOr(bits, set);
        }
      }
    // Eight columns are four registers.
    Value first = device.shiftRight(device.toI32(start), 1);
    Value shifted = arith::ShLIOp::create(device, bits, device.bitAnd(first, kWordBits - 1));
    cpu::Code::Values next;
    for (auto [i, word] : llvm::enumerate(carried)) {
      Value here = shifted;
      if (words > 1)
        here = device.select(device.equal(device.shiftRight(first, llvm::Log2_64(kWordBits)),
                                          device.i32(static_cast<int64_t>(i))),
                             shifted, device.i32(0));
      next.push_back(device.logicalOr(word, here));
    }
    return next;
  };
  cpu::Code::Values initial(words, device.i32(0));
  cpu::Code::Values kept =
      device.loop(device.index(0), positions.count(), kColumnsOfStep, initial, step);
  if (failed(result))
    return failure();
  return kept;
}

cpu::Code::Values skim::nvvm::unpackBits(Device &device, ValueRange words, size_t count) {
  cpu::Code::Values bits;
  for (size_t i = 0; i < count; ++i) {
    Value bit = device.bitAnd(words[i / kWordBits], int64_t(1) << i % kWordBits);
    bits.push_back(device.logicalNot(device.equal(bit, device.i32(0))));
  }
  return bits;
}
