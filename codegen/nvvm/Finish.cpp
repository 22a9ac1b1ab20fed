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

/// What a row's accumulator is multiplied by, and its log-sum-exp.
struct RowEnd {
  Value factor, logSumExp;
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
      unit = device.get(frame(device, Frame::Scale), device.getF32Type());
    for (size_t row = 0; row < 2; ++row) {
      Value sum = acrossColumns(device, state.sum[row],
                                [&](Value a, Value b) { return nvvm::sum(device, a, b); });
      RowEnd end =
          endRow(device, multiply(device, state.maximum[row], unit), sum, adaptor.getSink());
      storeRow(device, *item, state, row, end);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
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
    Value factor = arith::DivFOp::create(device, scale, total);
    Value logarithm = multiply(device, log2(device, total), device.f32(std::numbers::ln2));
    return {device.select(empty, zero, factor),
            device.select(empty, none, nvvm::sum(device, origin, logarithm))};
  }

  /// Stores the thread's row `row`. The item is read again from shared memory: kept in registers,
  /// it would lack them in the loop over visits.
  static void storeRow(Device &device, tile::ItemRecordOp record, const State &state, size_t row,
                       const RowEnd &end) {
    SharedLayout layout = sharedLayout(record);
    ItemFields item = loadItem(device, layout, device.getI32(frame(device, Frame::Item)));
    Value base = device.sub(item.kvLen, item.qLen);
    Value inTile = device.add(firstRowOfThread(device), device.i32(static_cast<int64_t>(8 * row)));
    auto tileRows = static_cast<int64_t>(record.getTileRows());
    Value position = device.add(device.mul(item.tile, device.i32(tileRows)), inTile);
    Value exists =
        device.logicalAnd(device.lessOrEqual(base, position), device.less(position, item.kvLen));
    Value token = device.toIndex(device.add(item.firstToken, device.sub(position, base)));
    Value head = device.toIndex(item.head);
    Type element = cpu::kernelInfo(record).problem.getOut();
    SmallVector<Value> words = wordsOfRow(device, state, row, end.factor, element);
    device.ifThen(exists, [&] {
      Value arguments = record.getArguments();
      auto stride = [&](Argument argument) { return loadArgument(device, arguments, argument); };
      auto bytes = static_cast<int64_t>(element.getIntOrFloatBitWidth() / 8);
      Value start = device.add(device.mul(token, stride(Argument::OutTokenStride)),
                               device.mul(head, stride(Argument::OutHeadStride)));
      size_t stored = element.isF32() ? 2 : 4;
      int64_t columns = static_cast<int64_t>(stored) * 4 / bytes;
      Value column = device.mul(device.bitAnd(device.lane(), 3), device.i32(columns));
      start = device.add(start, device.toIndex(column));
      Value address = device.offset(loadArgument(device, arguments, Argument::OutData),
                                    device.mul(start, device.index(bytes)));
      for (size_t i = 0; i < words.size(); i += stored)
        storeWords(device, ArrayRef(words).slice(i, stored),
                   device.offset(address, static_cast<int64_t>(i) * 16));
      Value lse = loadArgument(device, arguments, Argument::Lse);
      Value first = device.equal(device.bitAnd(device.lane(), 3), device.i32(0));
      device.ifThen(device.logicalAnd(first, device.notNull(lse)), [&] {
        Value entry = device.add(device.mul(token, stride(Argument::LseTokenStride)),
                                 device.mul(head, stride(Argument::LseHeadStride)));
        device.store(end.logSumExp, device.offset(lse, device.mul(entry, device.index(4))));
      });
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
