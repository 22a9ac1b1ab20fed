#include "codegen/nvvm/KeyLister.h"

#include "codegen/cpu/CellAccess.h"
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
/// Bytes of one load, and of the boundary that it needs.
constexpr int64_t kLoadBytes = 16;

Value shiftLeft(Device &device, Value value, Value amount) {
  return arith::ShLIOp::create(device, value, amount);
}
Value isNotZero(Device &device, Value value) {
  Value zero = arith::ConstantOp::create(device, device.getIntegerAttr(value.getType(), 0));
  return device.logicalNot(device.equal(value, zero));
}

/// The load that a literal consists of, where it is one byte for each key, the same for all rows of
/// a tile.
tile::LoadCellOp byteOfKey(tile::LiteralOp literal, int64_t rows) {
  Block &body = literal.getBody().front();
  auto load = dyn_cast<tile::LoadCellOp>(body.front());
  if (!load || body.getTerminator()->getOperand(0) != load.getValue() ||
      load->getNextNode() != body.getTerminator())
    return {};
  bool plain = load.getValue().getType().isInteger(1) && load.getKeyCell() == 1 &&
               !load.getDiagonal() && load.getQueryCell() % rows == 0 &&
               load.getQuery() == body.getArgument(0) && load.getKey() == body.getArgument(1);
  return plain ? load : tile::LoadCellOp();
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
  LogicalResult result = success();
  for (Value value : op.getLiterals())
    if (auto literal = value.getDefiningOp<tile::LiteralOp>(); literal && !aheadRow)
      aheadRow = byteRow(literal);
  Value first = device.floorDiv(bottom, tiles);
  Value count = device.sub(device.ceilDiv(top, tiles), first);
  Value lane = device.toIndex(device.lane()), none = bits(0);
  auto firstKeyOf = [&](Value number) {
    return device.mul(device.add(first, number), device.index(kKeysOfLane));
  };
  // Each step copies bytes for itself, and tests and lists the keys whose bytes were copied two
  // steps before.
  constexpr int64_t kAhead = SharedLayout::kAheadSteps * kLanes;
  Value end = device.add(count, device.index(kAhead));
  device.loop(device.index(0), end, kLanes, [&](Value step) {
    Value number = device.add(device.sub(step, device.index(kAhead)), lane);
    Value buffer = device.bitAnd(device.shiftRight(device.toI32(step), llvm::Log2_64(kLanes)),
                                 SharedLayout::kAheadSteps - 1);
    if (aheadRow) {
      NVVM::CpAsyncWaitGroupOp::create(device, SharedLayout::kAheadSteps - 1);
      device.syncWarp();
    }
    Value firstKey = firstKeyOf(number);
    Value exists =
        device.logicalAnd(device.lessOrEqual(device.index(0), number), device.less(number, count));
    Code::Values tested = device.choose(
        exists,
        [&]() -> Code::Values {
          FailureOr<Code::Values> answers = testKeys(firstKey, bottom, top, buffer);
          result = success(succeeded(answers));
          return succeeded(answers) ? *answers : Code::Values{none, none};
        },
        [&]() -> Code::Values { return {none, none}; });
    if (aheadRow) {
      Value copied = firstKeyOf(step);
      Value whole = device.floorDiv(device.sub(walk.sourceLength(), copied), kKeysOfLane);
      device.syncWarp();
      copyAhead(copied, device.min(device.sub(count, step), whole), buffer);
    }
    device.ifThen(device.any(isNotZero(device, tested[0])),
                  [&] { listKeys(firstKey, tested[0], tested[1]); });
  });
  return result;
}

FailureOr<Code::Values> KeyLister::testKeys(Value firstKey, Value bottom, Value top, Value number) {
  if (failed(walk.testLiteralsOfKeys(kKeysOfLane, [&](tile::LiteralOp literal) {
        return testLiteral(literal, firstKey, number);
      })))
    return failure();
  // Bits of keys that exist.
  Value left = device.sub(walk.sourceLength(), firstKey);
  Value missing =
      device.toI32(device.max(device.sub(device.index(kKeysOfLane), left), device.index(0)));
  Value amount = arith::ExtUIOp::create(device, device.getIntegerType(kKeysOfLane), missing);
  Value existing = arith::ShRUIOp::create(device, bits(-1), amount);
  Value firstTile = device.floorDiv(firstKey, keys), kept = bits(0), leftOut = bits(0);
  for (int64_t part = 0; part < tiles; ++part) {
    Value tile = device.add(firstTile, device.index(part));
    Value inStretch = device.logicalAnd(device.lessOrEqual(bottom, tile), device.less(tile, top));
    Value here = bitsOfTile(device.logicalAnd(existing, toBits(inStretch)), part);
    kept = device.logicalOr(kept, device.logicalAnd(here, walk.touchedKeys(tile, kKeysOfLane)));
    leftOut =
        device.logicalOr(leftOut, device.logicalAnd(here, walk.hiddenKeys(tile, kKeysOfLane)));
  }
  return Code::Values{kept, device.logicalAnd(leftOut, kept)};
}

FailureOr<Code::Values> KeyLister::testLiteral(tile::LiteralOp literal, Value firstKey,
                                               Value number) {
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
  std::optional<ByteRow> row = byteRow(literal);
  if (!row)
    return testKeyByKey(literal, firstKey);
  bool isAhead = aheadRow && aheadRow->literal == literal;
  bool failedInside = false;
  Code::Values words = device.choose(
      isWhole(*row, firstKey),
      [&]() -> Code::Values {
        Value packed = packBytes([&](bool again) {
          return isAhead ? copiedBytes(number, again) : loadBytes(*row, firstKey, again);
        });
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

std::optional<KeyLister::ByteRow> KeyLister::byteRow(tile::LiteralOp literal) {
  if (aheadRow && aheadRow->literal == literal)
    return aheadRow;
  tile::LoadCellOp load = byteOfKey(literal, cpu::kernelInfo(op).schedule.getRows());
  if (!load)
    return std::nullopt;
  // Where the row starts is known outside of all loops.
  Code start = Code::after(item);
  auto queryCell = static_cast<int64_t>(load.getQueryCell());
  Value queryIndex;
  if (queryCell != 0) {
    Value base = start.sub(item.getKvLen(), item.getQLen());
    queryIndex = start.sub(cpu::cellIndex(start, cpu::firstRow(start, item), queryCell),
                           cpu::cellIndex(start, base, queryCell));
  }
  cpu::CellRow row = cpu::cellRow(start, item, load.getSpace(), load.getSlot(), load.getHead(),
                                  queryIndex, /*elementBytes=*/1);
  Value number = LLVM::PtrToIntOp::create(start, start.getI64Type(), row.address);
  Value mask = arith::ConstantOp::create(start, start.getI64IntegerAttr(kLoadBytes - 1));
  Value zero = arith::ConstantOp::create(start, start.getI64IntegerAttr(0));
  Value aligned = start.equal(arith::AndIOp::create(start, number, mask), zero);
  return ByteRow{literal, row.address,
                 start.logicalAnd(aligned, start.equal(row.stride, start.index(1)))};
}

Value KeyLister::isWhole(const ByteRow &row, Value firstKey) {
  Value end = device.add(firstKey, device.index(kKeysOfLane));
  return device.logicalAnd(row.aligned, device.lessOrEqual(end, walk.sourceLength()));
}

/// An address in global memory, for loads and copies.
static Value inGlobalMemory(Device &device, Value address) {
  constexpr unsigned kGlobalSpace = 1;
  return LLVM::AddrSpaceCastOp::create(
      device, LLVM::LLVMPointerType::get(device.getContext(), kGlobalSpace), address);
}
static Value offsetBy(Device &device, Value pointer, int64_t bytes) {
  return LLVM::GEPOp::create(device, pointer.getType(), device.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}
/// A chunk that is loaded again is not kept in registers in between.
static Value loadChunk(Device &device, Value address, bool again) {
  Type chunk = VectorType::get({kLoadBytes / 4}, device.getI32Type());
  return LLVM::LoadOp::create(device, chunk, address, /*alignment=*/kLoadBytes,
                              /*isVolatile=*/again);
}

Code::Values KeyLister::loadBytes(const ByteRow &row, Value firstKey, bool again) {
  Value address = inGlobalMemory(device, device.offset(row.address, firstKey));
  Code::Values chunks;
  for (int64_t i = 0; i < kKeysOfLane; i += kLoadBytes)
    chunks.push_back(loadChunk(device, offsetBy(device, address, i), again));
  return chunks;
}

// A lane's 128 bytes lie side by side in a buffer, its chunks of 16 bytes permuted by the number of
// the lane: so lanes that read chunk c of their own meet in no bank.
constexpr int64_t kChunks = KeyLister::kKeysOfLane / kLoadBytes;

void KeyLister::copyAhead(Value firstKey, Value lanes, Value number) {
  // Each copy is of consecutive bytes, those of four lanes.
  constexpr int64_t kLanesOfCopy = kLanes / kChunks;
  Value lane = device.lane();
  Value owner = device.shiftRight(lane, llvm::Log2_64(kChunks));
  Value chunk = device.bitAnd(lane, kChunks - 1);
  Value present = device.toI32(device.min(lanes, device.index(kLanes)));
  device.ifThen(aheadRow->aligned, [&] {
    Value start = device.offset(aheadRow->address, firstKey);
    Value source = inGlobalMemory(
        device, device.offset(start, device.toIndex(device.mul(lane, device.i32(kLoadBytes)))));
    Value buffer = device.mul(number, device.i32(SharedLayout::kAheadBytes));
    Value moved = arith::XOrIOp::create(device, chunk, owner);
    Value offset = device.add(device.mul(owner, device.i32(kKeysOfLane)),
                              device.mul(moved, device.i32(kLoadBytes)));
    // Four lanes on, one bit of the permutation changes.
    Value even = device.add(buffer, offset);
    Value odd = arith::XOrIOp::create(device, even, device.i32(kLanesOfCopy * kLoadBytes));
    for (int64_t copy = 0; copy < kChunks; ++copy) {
      int64_t first = copy * kLanes * kLoadBytes;
      Value left = device.sub(present, device.i32(copy * kLanesOfCopy));
      Value bytes = device.select(device.less(owner, left), device.i32(kLoadBytes), device.i32(0));
      Value to = device.add(copy % 2 == 0 ? even : odd, device.i32(layout.ahead + first));
      NVVM::CpAsyncOp::create(device, device.shared(to), offsetBy(device, source, first),
                              static_cast<uint32_t>(kLoadBytes), NVVM::LoadCacheModifierKind::CG,
                              bytes);
    }
  });
  NVVM::CpAsyncCommitGroupOp::create(device);
}

Code::Values KeyLister::copiedBytes(Value number, bool again) {
  Value lane = device.lane();
  Value buffer = device.add(device.mul(number, device.i32(SharedLayout::kAheadBytes)),
                            device.mul(lane, device.i32(kKeysOfLane)));
  Value first =
      device.add(buffer, device.mul(device.bitAnd(lane, kChunks - 1), device.i32(kLoadBytes)));
  Code::Values chunks;
  for (int64_t chunk = 0; chunk < kChunks; ++chunk) {
    // The buffer starts at a multiple of its size: the bits of the chunk stand alone.
    Value offset = arith::XOrIOp::create(device, first, device.i32(chunk * kLoadBytes));
    chunks.push_back(
        loadChunk(device, device.shared(device.add(offset, device.i32(layout.ahead))), again));
  }
  return chunks;
}

Value KeyLister::packBytes(llvm::function_ref<Code::Values(bool again)> load) {
  Value some = device.i32(0);
  // Eight bytes of 0 or 1, each times the bit that it becomes, add up to eight bits.
  auto pack = [&](ValueRange chunks, llvm::function_ref<Value(Value)> ones) {
    Value all = bits(0);
    for (auto [i, chunk] : llvm::enumerate(chunks))
      for (int64_t half : {0, 1}) {
        Value sum = device.i32(0);
        for (int64_t quad : {0, 1}) {
          Value bytes = LLVM::ExtractElementOp::create(device, chunk, device.i32(2 * half + quad));
          sum = device.dotBytes(ones(bytes), quad == 0 ? 0x08040201 : 0x80402010, sum);
        }
        Value wide = arith::ExtUIOp::create(device, device.getIntegerType(kKeysOfLane), sum);
        int64_t first = static_cast<int64_t>(i) * kLoadBytes + 8 * half;
        all = device.logicalOr(all, shiftLeft(device, wide, bits(first)));
      }
    return all;
  };
  Value packed = pack(load(/*again=*/false), [&](Value bytes) {
    some = device.logicalOr(some, bytes);
    return bytes;
  });
  // Truths are mostly 0 or 1 in memory, but any other byte is true as well.
  Value others = device.bitAnd(some, 0xFEFEFEFE);
  return device.choose(
      device.equal(others, device.i32(0)), [&]() -> Code::Values { return {packed}; },
      [&]() -> Code::Values {
        return {pack(load(/*again=*/true), [&](Value bytes) {
          Value low = device.add(device.bitAnd(bytes, 0x7F7F7F7F), device.i32(0x7F7F7F7F));
          return device.bitAnd(device.shiftRight(device.logicalOr(low, bytes), 7), 0x01010101);
        })};
      })[0];
}

void KeyLister::listKeys(Value firstKey, Value kept, Value leftOut) {
  // Tiles that hold the item's own positions are always listed: which keys they have depends on
  // where the batch ends, and what is visited before them must not.
  int64_t rows = cpu::kernelInfo(op).schedule.getRows();
  Value start = cpu::tileStart(device, item), end = device.add(start, device.index(rows));
  Value dense[kKeysOfLane / kLanes], masked[kKeysOfLane / kLanes], anyDense = device.i1(false);
  auto firstOf = [&](int64_t number) { return device.add(firstKey, device.index(number * keys)); };
  Value listed = kept;
  for (int64_t number = 0; number < tiles; ++number) {
    Value ofTile = bitsOfTile(kept, number);
    Value count =
        arith::TruncIOp::create(device, device.getI32Type(), math::CtPopOp::create(device, ofTile));
    Value first = firstOf(number);
    Value apart = device.logicalOr(device.lessOrEqual(device.add(first, device.index(keys)), start),
                                   device.lessOrEqual(end, first));
    dense[number] = device.logicalAnd(device.less(device.i32(keys / 2), count), apart);
    masked[number] = device.logicalOr(device.less(count, device.i32(keys)),
                                      isNotZero(device, bitsOfTile(leftOut, number)));
    anyDense = device.logicalOr(anyDense, dense[number]);
    listed = device.select(dense[number], arith::XOrIOp::create(device, listed, ofTile), listed);
  }
  device.ifThen(device.any(anyDense), [&] {
    for (int64_t number = 0; number < tiles; ++number)
      appendVisits(device, layout, dense[number], device.toI32(firstOf(number)), masked[number]);
  });
  Value words[kWords];
  for (int64_t word = 0; word < kWords; ++word)
    words[word] = wordOf(listed, word);
  appendKeys(device, layout, device.toI32(firstKey), words,
             isNotZero(device, device.logicalAnd(listed, leftOut)));
}
