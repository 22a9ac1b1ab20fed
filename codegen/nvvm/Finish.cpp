// The end of an item: division by the sums, stores of output and log-sum-exp.
#include "codegen/cpu/KernelArguments.h"
#include "codegen/nvvm/Batches.h"
#include "codegen/nvvm/Registers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numbers>

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;
using cpu::Argument;

namespace {

/// Of a thread of three consumers.
constexpr int64_t kEnoughRegisters = 152;

/// What a row's accumulator is multiplied by, and its log-sum-exp.
struct RowEnd {
  Value factor, logSumExp;
};

/// Whether a row is of the request, and where the thread's part of it and its log-sum-exp go.
struct RowAddresses {
  Value exists, out, logSumExp;
};

/// Where an item's rows go. The item is read again from shared memory: kept in registers, it would
/// lack them in the loop over visits.
class Destination {
public:
  Destination(Device &device, tile::ItemRecordOp record)
      : element(cpu::kernelInfo(record).problem.getOut()), wordsAtOnce(element.isF32() ? 2 : 4),
        device(device), rows(static_cast<int64_t>(record.getTileRows())) {
    item = loadItem(device, sharedLayout(record), device.getI32(frame(device, Frame::Item)));
    Value arguments = record.getArguments();
    auto load = [&](Argument argument) { return loadArgument(device, arguments, argument); };
    out = load(Argument::OutData);
    lse = load(Argument::Lse);
    tokenStride = load(Argument::OutTokenStride);
    headStride = load(Argument::OutHeadStride);
    lseTokenStride = load(Argument::LseTokenStride);
    lseHeadStride = load(Argument::LseHeadStride);
    Value first = device.equal(device.bitAnd(device.lane(), 3), device.i32(0));
    storesLogSumExp = device.logicalAnd(first, device.notNull(lse));
  }

  RowAddresses row(size_t number) {
    Value base = device.sub(item.kvLen, item.qLen);
    TileRow inTile = rowOfThread(device, number);
    Value position = device.add(device.mul(item.tile, device.i32(rows)), inTile.position);
    Value exists =
        device.logicalAnd(device.lessOrEqual(base, position), device.less(position, item.kvLen));
    Value token = device.toIndex(device.add(item.firstToken, device.sub(position, base)));
    Value head = device.toIndex(device.add(item.head, inTile.head));
    auto at = [&](Value data, Value tokenStride, Value headStride, Value column, int64_t bytes) {
      Value start = device.add(device.mul(token, tokenStride), device.mul(head, headStride));
      return device.offset(data, device.mul(device.add(start, column), device.index(bytes)));
    };
    auto bytes = static_cast<int64_t>(element.getIntOrFloatBitWidth() / 8);
    int64_t columns = static_cast<int64_t>(wordsAtOnce) * 4 / bytes;
    Value column = device.toIndex(device.mul(device.bitAnd(device.lane(), 3), device.i32(columns)));
    return {exists, at(out, tokenStride, headStride, column, bytes),
            at(lse, lseTokenStride, lseHeadStride, device.index(0), 4)};
  }

  Type element;
  size_t wordsAtOnce; ///< in one store
  Value storesLogSumExp;

private:
  Device &device;
  ItemFields item;
  int64_t rows; ///< of a tile, of each of its heads
  Value out, lse, tokenStride, headStride, lseTokenStride, lseHeadStride;
};

class LowerFinish : public OpConversionPattern<tile::FinishOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::FinishOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<tile::ItemRecordOp> item = cpu::itemRecord(op, op.getItem());
    if (failed(item))
      return failure();
    Device device = deviceAt(rewriter, op);
    State state = State::unpack(device, adaptor.getState());
    // The softmax says whether its scores carry the scale.
    Value unit = device.f32(1);
    if (!carriesScale(op.getState()))
      unit = scaleOf(device, item->getArguments());
    Destination to(device, *item);
    RowEnd ends[2];
    for (size_t row = 0; row < 2; ++row) {
      Value sum = acrossColumns(device, state.sum[row],
                                [&](Value a, Value b) { return nvvm::sum(device, a, b); });
      ends[row] =
          endRow(device, multiply(device, state.maximum[row], unit), sum, adaptor.getSink());
    }
    // Everything is known before the first store: loads behind stores would wait for them.
    SmallVector<Value> words[2];
    RowAddresses addresses[2];
    for (size_t row = 0; row < 2; ++row) {
      words[row] = wordsOfRow(device, state, row, ends[row].factor, to.element);
      addresses[row] = to.row(row);
    }
    for (size_t row = 0; row < 2; ++row)
      storeRow(device, to, addresses[row], words[row], ends[row].logSumExp);
    rewriter.eraseOp(op);
    return success();
  }

private:
  /// Loaded again, as the item is, where registers are scarce: three consumers beside producers
  /// that search nothing have one for it.
  static Value scaleOf(Device &device, Value arguments) {
    tile::ScheduleAttr schedule =
        cpu::kernelInfo(&device.kernel.getBody().front().front()).schedule;
    if (schedule.getConsumers() == 3 && schedule.getConsumerRegisters() >= kEnoughRegisters)
      return device.get(frame(device, Frame::Scale), device.getF32Type());
    Value scale = cpu::loadArgument(device, arguments, Argument::SoftmaxScale);
    return arith::TruncFOp::create(device, device.getF32Type(), scale);
  }
  static bool carriesScale(Value state) {
    bool scaled = false;
    state.getParentRegion()->walk(
        [&](hopper::OnlineSoftmaxOp softmax) { scaled |= softmax.getScaled(); });
    return scaled;
  }

  static RowEnd endRow(Device &device, Value maximum, Value sum, Value sink) {
    Value zero = device.f32(0), none = device.negativeInfinity();
    Value empty = arith::CmpFOp::create(device, arith::CmpFPredicate::OEQ, sum, zero);
    Value origin = maximum, scale = device.f32(1), total = sum;
    if (sink) {
      Value log2e = device.f32(std::numbers::log2e);
      auto weight = [&](Value logit) {
        return exp2(device, multiply(device, arith::SubFOp::create(device, logit, origin), log2e));
      };
      origin = nvvm::maximum(device, maximum, sink);
      scale = weight(maximum);
      total = nvvm::sum(device, multiply(device, sum, scale), weight(sink));
    }
    Value factor = multiply(device, scale, reciprocal(device, total));
    Value logarithm = multiply(device, log2(device, total), device.f32(std::numbers::ln2));
    return {device.select(empty, zero, factor),
            device.select(empty, none, nvvm::sum(device, origin, logarithm))};
  }

  static void storeRow(Device &device, const Destination &to, const RowAddresses &row,
                       ArrayRef<Value> words, Value logSumExp) {
    device.ifThen(row.exists, [&] {
      for (size_t i = 0; i < words.size(); i += to.wordsAtOnce)
        storeWords(device, words.slice(i, to.wordsAtOnce),
                   device.offset(row.out, static_cast<int64_t>(i) * 16));
      device.ifThen(to.storesLogSumExp, [&] { device.store(logSumExp, row.logSumExp); });
    });
  }

  /// The thread's elements of a row as 32-bit words, in the order in which they are stored: of f32
  /// two at a time, as the fragment has them. Of 16-bit elements a thread has one word in each
  /// eight columns; the four threads of the row exchange theirs, so that each stores the four words
  /// of one eight columns at once.
  static SmallVector<Value> wordsOfRow(Device &device, const State &state, size_t row, Value factor,
                                       Type element) {
    SmallVector<Value> words;
    for (size_t i = 2 * row; i < state.output.size(); i += 4) {
      Value low = multiply(device, state.output[i], factor);
      Value high = multiply(device, state.output[i + 1], factor);
      if (element.isF32()) {
        for (Value value : {low, high})
          words.push_back(LLVM::BitcastOp::create(device, device.getI32Type(), value));
      } else {
        words.push_back(packPair(device, low, high, element));
      }
    }
    if (!element.isF32())
      for (size_t i = 0; i < words.size(); i += 4)
        transpose(device, MutableArrayRef(words).slice(i, 4));
    return words;
  }

  /// Word i of thread t becomes word t of thread i, among the four threads of a row.
  static void transpose(Device &device, MutableArrayRef<Value> words) {
    for (int64_t mask : {1, 2}) {
      Value upper =
          device.logicalNot(device.equal(device.bitAnd(device.lane(), mask), device.i32(0)));
      SmallVector<Value> next(words.begin(), words.end());
      for (size_t low = 0; low < 4; ++low) {
        if (low & mask)
          continue;
        size_t high = low | mask;
        Value received = device.exchange(device.select(upper, words[low], words[high]), mask);
        next[low] = device.select(upper, received, words[low]);
        next[high] = device.select(upper, words[high], received);
      }
      std::copy(next.begin(), next.end(), words.begin());
    }
  }

  /// Words side by side at once: rows of the output are aligned to the store.
  static void storeWords(Device &device, ArrayRef<Value> words, Value address) {
    Type type = VectorType::get({static_cast<int64_t>(words.size())}, device.getI32Type());
    Value vector = LLVM::PoisonOp::create(device, type);
    for (auto [i, word] : llvm::enumerate(words))
      vector =
          LLVM::InsertElementOp::create(device, vector, word, device.i32(static_cast<int64_t>(i)));
    LLVM::StoreOp::create(device, vector, address,
                          /*alignment=*/static_cast<unsigned>(4 * words.size()));
  }
};

} // namespace

void skim::nvvm::addFinishPatterns(const RegisterTypes &types, RewritePatternSet &patterns) {
  patterns.add<LowerFinish>(types, patterns.getContext());
}
