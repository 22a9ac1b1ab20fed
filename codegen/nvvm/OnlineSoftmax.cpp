// The online softmax in registers.
#include "codegen/nvvm/Registers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numbers>

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

namespace {

/// A reference is replaced when a score passes it by more than this power of two.
constexpr double kSlack = 8;

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
    State state{{none, none}, {zero, zero}, {one, one}, device.i1(false), {}};
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
    Value maxima[2];
    for (size_t row = 0; row < 2; ++row)
      maxima[row] =
          overColumns(scores, row, [&](Value a, Value b) { return maximum(device, a, b); });
    if (op.getFirst())
      for (size_t row = 0; row < 2; ++row)
        state.maximum[row] = acrossRow(device, maxima[row]);
    else
      raiseReference(device, state, maxima, factor);

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

  /// Raises the references of rows whose maximum has passed them, with what their sums and
  /// accumulators are due.
  static void raiseReference(Device &device, State &state, const Value (&maxima)[2], Value factor) {
    Value slack = arith::DivFOp::create(device, device.f32(kSlack), factor);
    Value limits[2], passes[2];
    for (size_t row = 0; row < 2; ++row) {
      limits[row] = sum(device, state.maximum[row], slack);
      passes[row] = greater(device, maxima[row], limits[row]);
    }
    Value some = device.any(device.logicalOr(passes[0], passes[1]));
    cpu::Code::Values raised = device.choose(
        some,
        [&]() -> cpu::Code::Values {
          cpu::Code::Values values;
          for (size_t row = 0; row < 2; ++row) {
            Value old = state.maximum[row];
            Value whole = acrossRow(device, maxima[row]);
            Value reference = device.select(greater(device, whole, limits[row]), whole, old);
            Value exponent = fusedMultiplyAdd(
                device, old, factor, negate(device, scaledReference(device, reference, factor)));
            // Equal references need no factor, also where both are -inf.
            Value same = arith::CmpFOp::create(device, arith::CmpFPredicate::OEQ, old, reference);
            Value due = device.select(same, device.f32(1), exp2(device, exponent));
            values.append({reference, multiply(device, state.sum[row], due), due});
          }
          return values;
        },
        [&]() -> cpu::Code::Values {
          return {state.maximum[0], state.sum[0], device.f32(1),
                  state.maximum[1], state.sum[1], device.f32(1)};
        });
    for (size_t row = 0; row < 2; ++row) {
      state.maximum[row] = raised[3 * row];
      state.sum[row] = raised[3 * row + 1];
      state.due[row] = raised[3 * row + 2];
    }
    state.isDue = some;
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
