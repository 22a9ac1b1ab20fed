// The online softmax in registers.
#include "codegen/nvvm/Batches.h"
#include "codegen/nvvm/Registers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numbers>

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

namespace {

/// A reference is replaced when a score passes it by more than this power of two: what weights of
/// the operands' type can hold, and sums of a million of them.
double slackOf(Operation *op) { return cpu::kernelInfo(op).problem.getOperand().isBF16() ? 32 : 8; }

/// What bounds are enlarged by for the rounding of norms and products.
constexpr double kRounding = 1 + 1.0 / 64;

/// Chains into which a reduction over a thread's columns is split, so that its steps overlap.
constexpr size_t kChains = 4;

/// Reduces the values of row `row` of the thread.
Value overColumns(ArrayRef<Value> scores, size_t row,
                  llvm::function_ref<Value(Value, Value)> combine) {
  Value chains[kChains] = {};
  size_t next = 0;
  for (size_t i = 2 * row; i < scores.size(); i += 4)
    for (size_t column = 0; column < 2; ++column) {
      Value &chain = chains[next++ % kChains];
      chain = chain ? combine(chain, scores[i + column]) : scores[i + column];
    }
  Value reduced = chains[0];
  for (size_t chain = 1; chain < kChains; ++chain)
    reduced = combine(reduced, chains[chain]);
  return reduced;
}

struct LowerEmptyState : OpConversionPattern<tile::EmptyStateOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::EmptyStateOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Device device = deviceAt(rewriter, op);
    Value zero = device.f32(0), one = device.f32(1), none = device.negativeInfinity();
    Value no = device.i1(false);
    State state{{none, none}, {zero, zero}, {one, one}, no, no, {}};
    state.output.assign(static_cast<size_t>(op.getState().getType().getColumns() / 2), zero);
    rewriter.replaceOp(op, state.pack(device));
    return success();
  }
};

class LowerOnlineSoftmax : public OpConversionPattern<hopper::OnlineSoftmaxOp> {
public:
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(hopper::OnlineSoftmaxOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Device device = deviceAt(rewriter, op);
    SmallVector<Value> scores = unpack(device, adaptor.getScores());
    State state = State::unpack(device, adaptor.getState());
    // What turns scores into exponents of two.
    Value factor = device.f32(std::numbers::log2e);
    if (!op.getScaled())
      factor =
          multiply(device, factor, device.get(frame(device, Frame::Scale), device.getF32Type()));
    auto maxima = [&](size_t row) {
      return overColumns(scores, row, [&](Value a, Value b) { return maximum(device, a, b); });
    };
    if (op.getFirst()) {
      for (size_t row = 0; row < 2; ++row)
        state.maximum[row] = acrossRow(device, maxima(row));
      state.isBounded = boundScores(device, op, adaptor.getQueries(), state.maximum, factor);
    } else {
      raiseReferences(device, op, adaptor.getQueries(), state, maxima, factor);
    }

    SmallVector<Value> weights(scores.size());
    for (size_t row = 0; row < 2; ++row) {
      Value offset = negate(device, scaledReference(device, state.maximum[row], factor));
      for (size_t i = 2 * row; i < scores.size(); i += 4)
        for (size_t at : {i, i + 1})
          weights[at] = exp2(device, fusedMultiplyAdd(device, scores[at], factor, offset));
      Value added = overColumns(weights, row, [&](Value a, Value b) { return sum(device, a, b); });
      state.sum[row] = op.getFirst() ? added : sum(device, state.sum[row], added);
    }
    rewriter.replaceOp(op, {pack(device, weights), state.pack(device)});
    return success();
  }

private:
  static Value acrossRow(Device &device, Value value) {
    return acrossColumns(device, value, [&](Value a, Value b) { return maximum(device, a, b); });
  }

  /// The reference as an exponent of two; 0 where the row has met no key, so that its weights are 0
  /// and not NaN.
  static Value scaledReference(Device &device, Value reference, Value factor) {
    return device.select(isMinusInfinity(device, reference), device.f32(0),
                         multiply(device, reference, factor));
  }

  /// Whether the norms of queries and keys keep all scores of the warp's rows below what would
  /// raise their references. Never where something is not a number.
  static Value boundScores(Device &device, hopper::OnlineSoftmaxOp op, Value queries,
                           const Value (&references)[2], Value factor) {
    if (!queries)
      return device.i1(false);
    ItemFields item = loadItem(device, sharedLayout(op), device.getI32(frame(device, Frame::Item)));
    Value keyNorm = LLVM::BitcastOp::create(device, device.getF32Type(), item.keyNorm);
    auto [first, second] = squaredNorms(device, op.getQueries().getType(), queries);
    Value unit = multiply(device, multiply(device, factor, factor),
                          multiply(device, keyNorm, device.f32(kRounding)));
    Value zero = device.f32(0);
    Value bounded = greater(device, keyNorm, zero);
    for (auto [norm, reference] : {std::pair(first, references[0]), {second, references[1]}}) {
      Value limit = fusedMultiplyAdd(device, reference, factor, device.f32(slackOf(op)));
      bounded = device.logicalAnd(bounded, greater(device, limit, zero));
      bounded = device.logicalAnd(
          bounded, greater(device, multiply(device, limit, limit), multiply(device, norm, unit)));
    }
    return device.logicalNot(device.any(device.logicalNot(bounded)));
  }

  /// Sums of squares of the thread's two rows of queries. The four threads of a row share its
  /// chunks of 16 bytes; which of them a chunk is does not matter, so that each takes one of other
  /// banks.
  static std::pair<Value, Value> squaredNorms(Device &device, tile::SharedType type,
                                              Value queries) {
    constexpr int64_t kChunk = 16, kThreadsOfRow = 4;
    int64_t width = type.getSwizzle(), chunks = width / kChunk;
    int64_t panelBytes = type.getRows() * width;
    int64_t panels = type.getColumns() * 2 / width, steps = chunks / kThreadsOfRow;
    Value row = firstRowOfThread(device);
    Value start = device.add(queries, device.mul(row, device.i32(width)));
    Value inRow = device.bitAnd(device.lane(), kThreadsOfRow - 1);
    Value swizzle = device.bitAnd(row, chunks - 1);
    auto addChunk = [&](Value sum, Value offset) {
      Type vector = VectorType::get({4}, device.getI32Type());
      Value words = LLVM::LoadOp::create(device, vector, device.shared(offset), kChunk);
      for (int64_t i = 0; i < 4; ++i) {
        Value word = LLVM::ExtractElementOp::create(device, words, device.i32(i));
        for (Value bits : {Value(arith::ShLIOp::create(device, word, device.i32(16))),
                           device.bitAnd(word, 0xFFFF0000)}) {
          Value element = LLVM::BitcastOp::create(device, device.getF32Type(), bits);
          sum = fusedMultiplyAdd(device, element, element, sum);
        }
      }
      return sum;
    };
    Value zero = device.f32(0);
    cpu::Code::Values sums = device.loop(
        device.index(0), device.index(panels * steps), 1, {zero, zero},
        [&](Value step, ValueRange carried) -> cpu::Code::Values {
          Value number = device.toI32(step);
          Value panel = device.shiftRight(number, llvm::Log2_64(static_cast<uint64_t>(steps)));
          Value chunk = device.add(
              device.mul(device.bitAnd(number, steps - 1), device.i32(kThreadsOfRow)), inRow);
          Value offset = device.add(
              device.add(start, device.mul(panel, device.i32(panelBytes))),
              device.mul(arith::XOrIOp::create(device, chunk, swizzle), device.i32(kChunk)));
          Value below = device.add(offset, device.i32(8 * width));
          return {addChunk(carried[0], offset), addChunk(carried[1], below)};
        });
    for (Value &sum : sums)
      sum = acrossColumns(device, sum, [&](Value a, Value b) { return nvvm::sum(device, a, b); });
    return {sums[0], sums[1]};
  }

  /// Raises the references of rows whose maximum has passed them, with what their sums and
  /// accumulators are due. Nothing is compared where the scores are known to be bounded.
  static void raiseReferences(Device &device, hopper::OnlineSoftmaxOp op, Value queries,
                              State &state, llvm::function_ref<Value(size_t)> maxima,
                              Value factor) {
    Value one = device.f32(1), no = device.i1(false);
    cpu::Code::Values kept = {state.maximum[0], state.sum[0], one, state.maximum[1],
                              state.sum[1],     one,          no,  state.isBounded};
    auto compare = [&]() -> cpu::Code::Values {
      Value slack = arith::DivFOp::create(device, device.f32(slackOf(op)), factor);
      Value largest[2], limits[2], passes[2];
      for (size_t row = 0; row < 2; ++row) {
        largest[row] = maxima(row);
        limits[row] = sum(device, state.maximum[row], slack);
        passes[row] = greater(device, largest[row], limits[row]);
      }
      return device.choose(
          device.any(device.logicalOr(passes[0], passes[1])),
          [&] { return raise(device, op, queries, state, largest, limits, factor); },
          [&] { return kept; });
    };
    cpu::Code::Values raised =
        queries ? device.choose(state.isBounded, [&] { return kept; }, compare) : compare();
    for (size_t row = 0; row < 2; ++row) {
      state.maximum[row] = raised[3 * row];
      state.sum[row] = raised[3 * row + 1];
      state.due[row] = raised[3 * row + 2];
    }
    state.isDue = raised[6];
    state.isBounded = raised[7];
  }

  static cpu::Code::Values raise(Device &device, hopper::OnlineSoftmaxOp op, Value queries,
                                 const State &state, const Value (&largest)[2],
                                 const Value (&limits)[2], Value factor) {
    cpu::Code::Values values;
    Value references[2];
    for (size_t row = 0; row < 2; ++row) {
      Value old = state.maximum[row];
      Value whole = acrossRow(device, largest[row]);
      references[row] = device.select(greater(device, whole, limits[row]), whole, old);
      Value exponent = fusedMultiplyAdd(
          device, old, factor, negate(device, scaledReference(device, references[row], factor)));
      // Equal references need no factor, also where both are -inf.
      Value same = arith::CmpFOp::create(device, arith::CmpFPredicate::OEQ, old, references[row]);
      Value due = device.select(same, device.f32(1), exp2(device, exponent));
      values.append({references[row], multiply(device, state.sum[row], due), due});
    }
    values.append({device.i1(true), boundScores(device, op, queries, references, factor)});
    return values;
  }
};

struct LowerRescale : OpConversionPattern<hopper::RescaleOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(hopper::RescaleOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Device device = deviceAt(rewriter, op);
    State state = State::unpack(device, adaptor.getState());
    cpu::Code::Values scaled = device.choose(
        state.isDue,
        [&]() -> cpu::Code::Values {
          cpu::Code::Values values;
          for (auto [i, value] : llvm::enumerate(state.output))
            values.push_back(multiply(device, value, state.due[i / 2 % 2]));
          return values;
        },
        [&]() -> cpu::Code::Values { return cpu::Code::Values(state.output); });
    state.output.assign(scaled.begin(), scaled.end());
    state.isDue = device.i1(false);
    state.due[0] = state.due[1] = device.f32(1);
    rewriter.replaceOp(op, state.pack(device));
    return success();
  }
};

} // namespace

void skim::nvvm::addSoftmaxPatterns(const RegisterTypes &types, RewritePatternSet &patterns) {
  patterns.add<LowerEmptyState, LowerOnlineSoftmax, LowerRescale>(types, patterns.getContext());
}
