#include "codegen/nvvm/KeyLister.h"

#include "codegen/cpu/Items.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;
using cpu::Code;

namespace {

constexpr int64_t kLanes = 32;
constexpr int64_t kWordBits = 32;
constexpr int64_t kWords = KeyLister::kKeysOfLane / kWordBits;

Value shiftLeft(Device &device, Value value, Value amount) {
  return arith::ShLIOp::create(device, value, amount);
}
Value isNotZero(Device &device, Value value) {
  Value zero = arith::ConstantOp::create(device, device.getIntegerAttr(value.getType(), 0));
  return device.logicalNot(device.equal(value, zero));
}

} // namespace

KeyLister::KeyLister(Device &device, const SharedLayout &layout, cpu::VisitWalk &walk,
                     tile::ForEachVisitOp op, tile::ItemRecordOp item)
    : device(device), layout(layout), walk(walk), op(op), item(item),
      keys(cpu::kernelInfo(op).schedule.getKeys()), tiles(kKeysOfLane / keys) {}

Value KeyLister::bits(int64_t value) {
  llvm::APInt wide(kKeysOfLane, static_cast<uint64_t>(value), /*isSigned=*/true);
  return arith::ConstantOp::create(device,
                                   device.getIntegerAttr(device.getIntegerType(kKeysOfLane), wide));
}
Value KeyLister::toBits(Value truth) {
  return arith::ExtSIOp::create(device, device.getIntegerType(kKeysOfLane), truth);
}
Value KeyLister::bitsOfTile(Value all, int64_t number) {
  if (tiles == 1)
    return all;
  llvm::APInt mask = llvm::APInt::getBitsSet(kKeysOfLane, number * keys, (number + 1) * keys);
  Value constant = arith::ConstantOp::create(
      device, device.getIntegerAttr(device.getIntegerType(kKeysOfLane), mask));
  return device.logicalAnd(all, constant);
}
Value KeyLister::wordOf(Value all, int64_t number) {
  Value shifted = arith::ShRUIOp::create(device, all, bits(number * kWordBits));
  return arith::TruncIOp::create(device, device.getI32Type(), shifted);
}

LogicalResult KeyLister::walkKeys(Value bottom, Value top) {
  int64_t rows = cpu::kernelInfo(op).schedule.getRows();
  bool onlyBits = true;
  for (Value value : op.getLiterals()) {
    auto literal = value.getDefiningOp<tile::LiteralOp>();
    tile::LoadCellOp load = literal ? byteOfKey(literal, rows) : tile::LoadCellOp();
    if (Value row = load ? packedRow(load, item) : Value()) {
      bitRows.push_back({literal, row, {}});
      continue;
    }
    onlyBits = false;
    if (literal && !aheadRow)
      aheadRow = byteRow(literal, item);
  }
  LogicalResult result = success();
  Value first = device.floorDiv(bottom, tiles);
  Value count = device.sub(device.ceilDiv(top, tiles), first);
  Value lowest = device.mul(bottom, device.index(keys));
  Value end = device.min(device.mul(top, device.index(keys)), walk.sourceLength());
  // The stretch starts behind the first `below` keys of lane number 0, and ends behind the first
  // `ofLast` keys of lane number `last`.
  Value below = device.toI32(device.sub(lowest, device.mul(first, device.index(kKeysOfLane))));
  Value lastBlock = device.floorDiv(end, kKeysOfLane);
  Value last = device.toI32(device.sub(lastBlock, first));
  Value ofLast = device.toI32(device.sub(end, device.mul(lastBlock, device.index(kKeysOfLane))));
  Value lane = device.toIndex(device.lane()), none = bits(0);
  auto firstKeyOf = [&](Value number) {
    return device.mul(device.add(first, number), device.index(kKeysOfLane));
  };
  // Where bytes are copied, each step copies some for itself, and tests and lists the keys whose
  // bytes were copied two steps before.
  const int64_t ahead = aheadRow ? SharedLayout::kAheadSteps * kLanes : 0;
  // The bits that a lane needs in the step after `number`'s are loaded in this one. Lanes without
  // keys load what others do: no stretch is empty.
  auto loadBits = [&](Value number) {
    Value furthest = device.toI32(device.sub(count, device.index(1)));
    Value nearest = device.min(number, furthest);
    if (ahead != 0)
      nearest = device.max(nearest, device.i32(0));
    Value block = device.toIndex(device.add(device.toI32(first), nearest));
    Code::Values loaded;
    for (const BitRow &row : bitRows)
      loaded.push_back(loadPacked(device, row.address, block));
    return loaded;
  };
  auto step = [&](Value step, ValueRange loaded) -> Code::Values {
    Value stepNumber = device.sub(step, device.index(ahead));
    Value number = device.add(stepNumber, lane);
    Code::Values next = loadBits(device.add(device.toI32(number), device.i32(kLanes)));
    for (auto [row, words] : llvm::zip(bitRows, loaded))
      row.bits = packedBits(device, words);
    Value buffer = device.bitAnd(device.shiftRight(device.toI32(step), llvm::Log2_64(kLanes)),
                                 SharedLayout::kAheadSteps - 1);
    if (aheadRow) {
      NVVM::CpAsyncWaitGroupOp::create(device, SharedLayout::kAheadSteps - 1);
      device.syncWarp();
    }
    Value firstKey = firstKeyOf(number);
    Value own = device.toI32(number), firstOfStep = device.toI32(stepNumber);
    Value inside =
        device.logicalAnd(device.lessOrEqual(device.min(below, device.i32(1)), firstOfStep),
                          device.lessOrEqual(device.add(firstOfStep, device.i32(kLanes)), last));
    auto test = [&]() -> Code::Values {
      FailureOr<Code::Values> answers = testKeys(firstKey, buffer);
      result = success(succeeded(answers));
      return succeeded(answers) ? *answers : Code::Values{none, none};
    };
    Code::Values tested;
    Value kept;
    if (onlyBits) {
      tested = test();
      kept = device.choose(
          inside, [&]() -> Code::Values { return {tested[0]}; },
          [&]() -> Code::Values {
            return {device.logicalAnd(tested[0], keysBetween(own, below, last, ofLast))};
          })[0];
    } else {
      Value existing = device.choose(
          inside, [&]() -> Code::Values { return {bits(-1)}; },
          [&]() -> Code::Values { return {keysBetween(own, below, last, ofLast)}; })[0];
      tested = device.choose(isNotZero(device, existing), test,
                             [&]() -> Code::Values { return {none, none}; });
      kept = device.logicalAnd(tested[0], existing);
    }
    Value leftOut = device.logicalAnd(tested[1], kept);
    if (aheadRow) {
      Value copied = firstKeyOf(step);
      Value left = device.floorDiv(device.sub(walk.sourceLength(), copied), kKeysOfLane);
      device.syncWarp();
      copyAhead(device, layout, *aheadRow, copied, device.min(device.sub(count, step), left),
                buffer);
    }
    device.ifThen(device.any(isNotZero(device, kept)), [&] { listKeys(firstKey, kept, leftOut); });
    return next;
  };
  Value steps = device.add(count, device.index(ahead));
  if (bitRows.empty())
    device.loop(device.index(0), steps, kLanes, [&](Value number) { step(number, {}); });
  else
    device.loop(device.index(0), steps, kLanes,
                loadBits(device.sub(device.lane(), device.i32(ahead))), step);
  // The last steps copied for steps that there are not: the next stretch writes to the same places.
  if (aheadRow)
    NVVM::CpAsyncWaitGroupOp::create(device, 0);
  return result;
}

Value KeyLister::keysBetween(Value number, Value below, Value last, Value ofLast) {
  Type wide = device.getIntegerType(kKeysOfLane);
  Value zero = device.i32(0);
  auto keysFrom = [&](Value key) {
    return shiftLeft(device, bits(-1), arith::ExtUIOp::create(device, wide, key));
  };
  Value from = keysFrom(device.select(device.equal(number, zero), below, zero));
  Value cut = device.select(device.equal(number, last), keysFrom(ofLast), bits(0));
  Value some =
      device.logicalAnd(device.lessOrEqual(zero, number), device.lessOrEqual(number, last));
  Value kept = device.logicalAnd(from, arith::XOrIOp::create(device, cut, bits(-1)));
  return device.select(some, kept, bits(0));
}

FailureOr<Code::Values> KeyLister::testKeys(Value firstKey, Value number) {
  if (failed(walk.testLiteralsOfKeys(kKeysOfLane, [&](tile::LiteralOp literal) {
        return testLiteral(literal, firstKey, number);
      })))
    return failure();
  Value firstTile = device.floorDiv(firstKey, keys), kept = bits(0), leftOut = bits(0);
  for (int64_t part = 0; part < tiles; ++part) {
    Value tile = device.add(firstTile, device.index(part));
    kept = device.logicalOr(kept, bitsOfTile(walk.touchedKeys(tile, kKeysOfLane), part));
    leftOut = device.logicalOr(leftOut, bitsOfTile(walk.hiddenKeys(tile, kKeysOfLane), part));
  }
  return Code::Values{kept, device.logicalAnd(leftOut, kept)};
}

FailureOr<Code::Values> KeyLister::testLiteral(tile::LiteralOp literal, Value firstKey,
                                               Value number) {
  for (const BitRow &row : bitRows)
    if (row.literal == literal)
      return Code::Values{row.bits, arith::XOrIOp::create(device, row.bits, bits(-1))};
  auto keyCell = static_cast<int64_t>(literal.getKeyCell());
  if (keyCell % keys == 0) {
    // The same for all keys of a tile.
    int64_t parts = keyCell % kKeysOfLane == 0 ? 1 : tiles;
    Value holds = bits(0), fails = bits(0);
    for (int64_t part = 0; part < parts; ++part) {
      Value first = device.min(device.add(firstKey, device.index(part * keys)),
                               device.sub(walk.sourceLength(), device.index(1)));
      FailureOr<Code::Values> tile = walk.testLiteral(literal, first, device.index(1));
      if (failed(tile))
        return failure();
      auto spread = [&](Value truth) {
        return parts == 1 ? toBits(truth) : bitsOfTile(toBits(truth), part);
      };
      holds = device.logicalOr(holds, spread((*tile)[0]));
      fails = device.logicalOr(fails, spread((*tile)[1]));
    }
    return Code::Values{holds, fails};
  }
  bool isAhead = aheadRow && aheadRow->literal == literal;
  std::optional<ByteRow> row = isAhead ? aheadRow : byteRow(literal, item);
  if (!row)
    return testKeyByKey(literal, firstKey);
  Value whole = device.logicalAnd(
      row->aligned,
      device.lessOrEqual(device.add(firstKey, device.index(kKeysOfLane)), walk.sourceLength()));
  bool failedInside = false;
  Code::Values words = device.choose(
      whole,
      [&]() -> Code::Values {
        Value packed =
            isAhead ? packCopiedBytes(device, layout, number) : packBytes(device, *row, firstKey);
        return {packed, arith::XOrIOp::create(device, packed, bits(-1))};
      },
      [&]() -> Code::Values {
        FailureOr<Code::Values> tested = testKeyByKey(literal, firstKey);
        failedInside = failed(tested);
        return failedInside ? Code::Values{bits(0), bits(0)} : *tested;
      });
  return failedInside ? FailureOr<Code::Values>(failure()) : FailureOr<Code::Values>(words);
}

FailureOr<Code::Values> KeyLister::testKeyByKey(tile::LiteralOp literal, Value firstKey) {
  LogicalResult result = success();
  Value count = device.min(device.sub(walk.sourceLength(), firstKey), device.index(kKeysOfLane));
  Code::Values words =
      device.loop(device.index(0), count, 1, {bits(0), bits(0)},
                  [&](Value i, ValueRange carried) -> Code::Values {
                    FailureOr<Code::Values> here =
                        walk.testLiteral(literal, device.add(firstKey, i), device.index(1));
                    if (failed(here)) {
                      result = failure();
                      return Code::Values(carried);
                    }
                    Value amount = arith::ExtUIOp::create(
                        device, device.getIntegerType(kKeysOfLane), device.toI32(i));
                    Value bit = shiftLeft(device, bits(1), amount);
                    Code::Values next;
                    for (auto [holds, word] : llvm::zip(*here, carried))
                      next.push_back(device.logicalOr(word, device.logicalAnd(toBits(holds), bit)));
                    return next;
                  });
  return succeeded(result) ? FailureOr<Code::Values>(words) : FailureOr<Code::Values>(failure());
}

void KeyLister::listKeys(Value firstKey, Value kept, Value leftOut) {
  // The words of the lane's keys, then how many keys it has.
  Code::Values words, counts;
  for (int64_t word = 0; word < kWords; ++word)
    words.push_back(wordOf(kept, word));
  Value all = device.i32(0), crowded = device.i1(false);
  for (int64_t number = 0; number < tiles; ++number) {
    Value count = device.i32(0);
    for (int64_t word = number * keys / kWordBits; word < (number + 1) * keys / kWordBits; ++word)
      count = device.add(count, math::CtPopOp::create(device, words[word]));
    counts.push_back(count);
    all = device.add(all, count);
    crowded = device.logicalOr(crowded, device.less(device.i32(keys / 2), count));
  }
  words.push_back(all);
  Code::Values listed = device.choose(
      device.any(crowded), [&] { return visitTiles(firstKey, words, counts, leftOut); },
      [&] { return words; });
  Value masked = device.i32(0);
  for (int64_t word = 0; word < kWords; ++word)
    masked = device.logicalOr(masked, device.logicalAnd(listed[word], wordOf(leftOut, word)));
  appendKeys(device, layout, device.toI32(firstKey), ArrayRef(listed).drop_back(), listed.back(),
             isNotZero(device, masked));
}

Code::Values KeyLister::visitTiles(Value firstKey, Code::Values words, ValueRange counts,
                                   Value leftOut) {
  // Tiles that hold the item's own positions are always listed: which keys they have depends on
  // where the batch ends, and what is visited before them must not.
  int64_t rows = cpu::kernelInfo(op).schedule.getRows();
  Value start = cpu::tileStart(device, item), end = device.add(start, device.index(rows));
  for (int64_t number = 0; number < tiles; ++number) {
    Value first = device.add(firstKey, device.index(number * keys));
    Value apart = device.logicalOr(device.lessOrEqual(device.add(first, device.index(keys)), start),
                                   device.lessOrEqual(end, first));
    Value visited = device.logicalAnd(device.less(device.i32(keys / 2), counts[number]), apart);
    Value masked = device.logicalOr(device.less(counts[number], device.i32(keys)),
                                    isNotZero(device, bitsOfTile(leftOut, number)));
    appendVisits(device, layout, visited, device.toI32(first), masked);
    Value none = device.i32(0);
    for (int64_t word = number * keys / kWordBits; word < (number + 1) * keys / kWordBits; ++word)
      words[word] = device.select(visited, none, words[word]);
    words.back() = device.sub(words.back(), device.select(visited, counts[number], none));
  }
  return words;
}
