#include "codegen/nvvm/KeyLister.h"

#include "codegen/cpu/CellAccess.h"
#include "codegen/cpu/Items.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;
using cpu::Code;

namespace {

constexpr int64_t kLanes = 32;
constexpr int64_t kWordKeys = 32;

Value isNotZero(Device &device, Value value) {
  return device.logicalNot(device.equal(value, device.i32(0)));
}
Value shiftLeft(Device &device, Value value, Value amount) {
  return arith::ShLIOp::create(device, value, amount);
}
Value flip(Device &device, Value word) {
  return arith::XOrIOp::create(device, word, device.i32(-1));
}
/// All bits of a truth.
Value toWord(Device &device, Value truth) {
  return arith::ExtSIOp::create(device, device.getI32Type(), truth);
}

/// The load that a literal consists of, where it is one byte for each key, the same for all rows of
/// a tile.
tile::LoadCellOp byteOfKey(tile::LiteralOp literal, int64_t rows) {
  Block &body = literal.getBody().front();
  auto load = dyn_cast<tile::LoadCellOp>(body.front());
  if (!load || body.getTerminator()->getOperand(0) != load.getValue() ||
      load->getNextNode() != body.getTerminator())
    return {};
  auto queryCell = static_cast<int64_t>(load.getQueryCell());
  bool plain = load.getValue().getType().isInteger(1) && load.getKeyCell() == 1 &&
               !load.getDiagonal() && (queryCell == 0 || queryCell % rows == 0) &&
               load.getQuery() == body.getArgument(0) && load.getKey() == body.getArgument(1);
  return plain ? load : tile::LoadCellOp();
}

} // namespace

KeyLister::KeyLister(Device &device, const SharedLayout &layout, cpu::VisitWalk &walk,
                     tile::ForEachVisitOp op, tile::ItemRecordOp item)
    : device(device), layout(layout), walk(walk), op(op), item(item),
      keys(cpu::kernelInfo(op).schedule.getKeys()) {}

LogicalResult KeyLister::walkKeys(Value bottom, Value top) {
  LogicalResult result = success();
  Value firstKey = device.mul(bottom, device.index(keys));
  int64_t wordsOfTile = keys / kWordKeys;
  Value words = device.mul(device.sub(top, bottom), device.index(wordsOfTile));
  Value lane = device.toIndex(device.lane());
  device.loop(device.index(0), words, kLanes, [&](Value step) {
    Value word = device.sub(device.sub(words, device.index(1)), device.add(step, lane));
    Value first = device.add(firstKey, device.mul(word, device.index(kWordKeys)));
    Value exists = device.logicalAnd(device.lessOrEqual(device.index(0), word),
                                     device.less(first, walk.sourceLength()));
    Code::Values answers = device.choose(
        exists,
        [&]() -> Code::Values {
          FailureOr<Code::Values> tested = testWord(first);
          result = success(succeeded(tested) && succeeded(result));
          return succeeded(tested) ? *tested : Code::Values{device.i32(0), device.i32(0)};
        },
        [&]() -> Code::Values { return {device.i32(0), device.i32(0)}; });
    Value some = device.any(isNotZero(device, answers[0]));
    device.ifThen(some, [&] {
      Value listed = visitDenseTiles(word, first, answers[0], answers[1]);
      listKeys(first, listed, answers[1]);
    });
  });
  return result;
}

FailureOr<Code::Values> KeyLister::testWord(Value firstKey) {
  Value left = device.sub(walk.sourceLength(), firstKey);
  if (failed(walk.testLiteralsOfKeys(
          kWordKeys, [&](tile::LiteralOp literal) { return testLiteral(literal, firstKey); })))
    return failure();
  Value tile = device.floorDiv(firstKey, keys);
  // Bits of keys that exist.
  Value missing =
      device.toI32(device.max(device.sub(device.index(kWordKeys), left), device.index(0)));
  Value existing = arith::ShRUIOp::create(device, device.i32(-1), missing);
  Value kept = device.logicalAnd(walk.touchedKeys(tile, kWordKeys), existing);
  return Code::Values{kept, device.logicalAnd(walk.hiddenKeys(tile, kWordKeys), kept)};
}

FailureOr<Code::Values> KeyLister::testLiteral(tile::LiteralOp literal, Value firstKey) {
  int64_t rows = cpu::kernelInfo(op).schedule.getRows();
  auto queryCell = static_cast<int64_t>(literal.getQueryCell());
  auto keyCell = static_cast<int64_t>(literal.getKeyCell());
  Value left = device.sub(walk.sourceLength(), firstKey);
  Value count = device.min(left, device.index(kWordKeys));
  bool oneRow = queryCell == 0 || queryCell % rows == 0;
  if (keyCell == 0 || keyCell % kWordKeys == 0) {
    FailureOr<Code::Values> whole = walk.testLiteral(literal, firstKey, count);
    if (failed(whole))
      return failure();
    return Code::Values{toWord(device, (*whole)[0]), toWord(device, (*whole)[1])};
  }
  LogicalResult result = success();
  auto oneByOne = [&]() -> Code::Values {
    return device.loop(device.index(0), count, 1, {device.i32(0), device.i32(0)},
                       [&](Value i, ValueRange carried) -> Code::Values {
                         FailureOr<Code::Values> here =
                             walk.testLiteral(literal, device.add(firstKey, i), device.index(1));
                         if (failed(here)) {
                           result = failure();
                           return Code::Values(carried);
                         }
                         Value bit = shiftLeft(device, device.i32(1), device.toI32(i));
                         Code::Values words;
                         for (auto [holds, word] : llvm::zip(*here, carried))
                           words.push_back(
                               device.logicalOr(word, device.select(holds, bit, device.i32(0))));
                         return words;
                       });
  };
  tile::LoadCellOp load = oneRow ? byteOfKey(literal, rows) : tile::LoadCellOp();
  if (!load) {
    Code::Values words = oneByOne();
    return succeeded(result) ? FailureOr<Code::Values>(words) : FailureOr<Code::Values>(failure());
  }
  // Bytes side by side are loaded four at a time. Where they start is known outside of all loops.
  Code start = Code::after(item);
  Value queryIndex;
  if (queryCell != 0) {
    Value base = start.sub(item.getKvLen(), item.getQLen());
    queryIndex = start.sub(cpu::cellIndex(start, cpu::firstRow(start, item), queryCell),
                           cpu::cellIndex(start, base, queryCell));
  }
  cpu::CellRow row = cpu::cellRow(start, item, load.getSpace(), load.getSlot(), load.getHead(),
                                  queryIndex, /*elementBytes=*/1);
  Value address = device.offset(row.address, firstKey);
  // What the lane needs in its next step but one: the walk goes down.
  Value ahead =
      device.max(device.sub(firstKey, device.index(2 * kLanes * kWordKeys)), device.index(0));
  device.prefetch(device.offset(row.address, ahead));
  Value number = LLVM::PtrToIntOp::create(device, device.getI64Type(), address);
  Value odd = arith::AndIOp::create(device, number,
                                    arith::ConstantOp::create(device, device.getI64IntegerAttr(3)));
  Value aligned = device.equal(odd, arith::ConstantOp::create(device, device.getI64IntegerAttr(0)));
  Value sideBySide = device.equal(row.stride, device.index(1));
  Value whole = device.lessOrEqual(device.index(kWordKeys), left);
  Code::Values words = device.choose(
      device.logicalAnd(device.logicalAnd(aligned, sideBySide), whole),
      [&]() -> Code::Values {
        Value word = device.i32(0);
        for (int64_t i = 0; i < kWordKeys; i += 4) {
          Value bytes = device.load(device.getI32Type(), device.offset(address, i));
          // The high bit of each byte that is not 0, then four bits side by side.
          Value low = device.add(device.bitAnd(bytes, 0x7F7F7F7F), device.i32(0x7F7F7F7F));
          Value high = device.bitAnd(device.logicalOr(low, bytes), 0x80808080);
          Value four =
              device.shiftRight(device.mul(device.shiftRight(high, 7), device.i32(0x10204080)), 28);
          word = device.logicalOr(word, shiftLeft(device, four, device.i32(i)));
        }
        return {word, flip(device, word)};
      },
      oneByOne);
  return succeeded(result) ? FailureOr<Code::Values>(words) : FailureOr<Code::Values>(failure());
}

Value KeyLister::visitDenseTiles(Value word, Value firstKey, Value kept, Value leftOut) {
  int64_t wordsOfTile = keys / kWordKeys;
  // The words of a tile stand in neighbouring lanes, its first word in the last of them.
  Value count = math::CtPopOp::create(device, kept), masks = leftOut;
  for (int64_t mask = 1; mask < wordsOfTile; mask *= 2) {
    count = device.add(count, device.exchange(count, mask));
    masks = device.logicalOr(masks, device.exchange(masks, mask));
  }
  Value dense = device.less(device.i32(keys / 2), count);
  Value masked = device.logicalOr(device.less(count, device.i32(keys)), isNotZero(device, masks));
  Value isFirst = device.equal(device.bitAnd(device.toI32(word), wordsOfTile - 1), device.i32(0));
  appendVisits(device, layout, device.logicalAnd(dense, isFirst), device.toI32(firstKey), masked);
  return device.select(dense, device.i32(0), kept);
}

void KeyLister::listKeys(Value firstKey, Value kept, Value leftOut) {
  auto [before, total] = device.prefixSum(math::CtPopOp::create(device, kept));
  Value first = device.toI32(firstKey);
  device.ifElse(
      device.lessOrEqual(total, device.i32(kMostAppended)),
      [&] {
        device.ifThen(isNotZero(device, total),
                      [&] { appendWords(device, layout, first, kept, leftOut, before, total); });
      },
      [&] { listOneByOne(first, kept, leftOut); });
}

void KeyLister::listOneByOne(Value firstKey, Value kept, Value leftOut) {
  Type i32 = device.getI32Type();
  auto walkBits = scf::WhileOp::create(device, TypeRange(i32), ValueRange(kept));
  OpBuilder::InsertionGuard guard(device);
  Block *head = device.createBlock(&walkBits.getBefore(), {}, i32, device.getLoc());
  Value rest = head->getArgument(0);
  scf::ConditionOp::create(device, device.any(isNotZero(device, rest)), rest);
  Block *body = device.createBlock(&walkBits.getAfter(), {}, i32, device.getLoc());
  rest = body->getArgument(0);
  // Each lane lists the first key that it has left.
  Value has = isNotZero(device, rest);
  Value bit = device.select(has, math::CountTrailingZerosOp::create(device, rest), device.i32(0));
  Value masked = isNotZero(device, device.bitAnd(arith::ShRUIOp::create(device, leftOut, bit), 1));
  appendKeys(device, layout, has, device.add(firstKey, bit), masked);
  Value left = device.logicalAnd(rest, device.sub(rest, device.i32(1)));
  scf::YieldOp::create(device, left);
}
