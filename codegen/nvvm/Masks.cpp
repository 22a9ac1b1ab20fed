// Masks and score modifications in registers.
#include "codegen/nvvm/HopperOps.h"
#include "codegen/nvvm/MaskConditions.h"
#include "codegen/nvvm/Registers.h"

#include "codegen/cpu/RegionEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

namespace {

/// The records of a visit and of its item.
struct Records {
  tile::VisitRecordOp visit;
  tile::ItemRecordOp item;
};
FailureOr<Records> recordsOf(Operation *op, Value visit) {
  FailureOr<tile::VisitRecordOp> record = cpu::visitRecord(op, visit);
  if (failed(record))
    return failure();
  FailureOr<tile::ItemRecordOp> item = cpu::itemRecord(op, record->getItem());
  if (failed(item))
    return failure();
  return Records{*record, *item};
}

/// The scores of the first `count` keys of a list.
cpu::Code::Values cut(Device &device, ArrayRef<Value> scores, Value count) {
  int64_t keys = static_cast<int64_t>(scores.size() * 2);
  return device.choose(
      device.less(count, device.index(keys)),
      [&]() -> cpu::Code::Values {
        Value end = device.sub(device.toI32(count), firstColumnOfThread(device));
        cpu::Code::Values values;
        for (auto [i, score] : llvm::enumerate(scores)) {
          Value column = device.i32(FragmentPositions::columnOfRegister(i));
          values.push_back(
              device.select(device.less(column, end), score, device.negativeInfinity()));
        }
        return values;
      },
      [&] { return cpu::Code::Values(scores); });
}

/// The product of these scores, where nothing but waiting and maps of scores stand between; null
/// otherwise.
Operation *productOf(Value scores) {
  while (Operation *op = scores.getDefiningOp()) {
    if (isa<tile::IssueDotOp>(op))
      return op;
    if (auto wait = dyn_cast<hopper::WaitOp>(op))
      scores = wait.getValue();
    else if (auto map = dyn_cast<tile::MapScoresOp>(op))
      scores = map.getScores();
    else
      return nullptr;
  }
  return nullptr;
}

/// Accumulators of so many columns leave registers for little beside scores and their bounds.
constexpr int64_t kManyColumns = 160;

/// Whether the bits of a mask are evaluated ahead of the product of its scores, which then occupy
/// no registers. Bounds need few, and are known sooner than the scores.
bool isAhead(tile::MaskOp op, bool listed) {
  cpu::KernelInfo info = cpu::kernelInfo(op);
  MaskShape shape(op.getBody(), info.schedule.getKeys(), listed);
  return shape.evaluatesKeys() || (info.problem.getValueDim() >= kManyColumns && !shape.isBounds());
}

/// Evaluates the bits of a mask in front of `product`.
FailureOr<cpu::Code::Values> evaluateAhead(tile::MaskOp op, Operation *product) {
  FailureOr<Records> records = recordsOf(op, op.getVisit());
  if (failed(records))
    return failure();
  Device device = Device::before(product);
  auto count = static_cast<size_t>(op.getScores().getType().getColumns() / 2);
  LogicalResult evaluated = success();
  auto none = [&] { return cpu::Code::Values((count + kWordBits - 1) / kWordBits, device.i32(0)); };
  auto words = [&](Value listed) {
    FragmentPositions positions(device, records->item, records->visit, listed);
    FailureOr<cpu::Code::Values> kept = MaskConditions(positions, op.getBody()).keptWords(count);
    evaluated = success(succeeded(kept) && succeeded(evaluated));
    return succeeded(kept) ? *kept : none();
  };
  Value listed = records->visit.getPositions();
  cpu::Code::Values kept = device.choose(
      records->visit.getMasked(),
      [&] {
        if (!listed)
          return words({});
        return device.choose(
            device.equal(listed, device.i32(0)),
            [&] { return isAhead(op, /*listed=*/false) ? words({}) : none(); },
            [&] { return words(listed); });
      },
      none);
  if (failed(evaluated))
    return failure();
  return kept;
}

class LowerMask : public OpConversionPattern<tile::MaskOp> {
public:
  LowerMask(const RegisterTypes &types, MLIRContext *context, const MasksAhead &ahead)
      : OpConversionPattern(types, context), ahead(ahead) {}

  LogicalResult matchAndRewrite(tile::MaskOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<Records> records = recordsOf(op, op.getVisit());
    if (failed(records))
      return failure();
    Device device = deviceAt(rewriter, op);
    SmallVector<Value> scores = unpack(device, adaptor.getScores());
    LogicalResult evaluated = success();
    Value none = device.negativeInfinity();
    auto known = ahead.find(op);
    auto masked = [&](Value listed) {
      FailureOr<cpu::Code::Values> registers;
      if (known != ahead.end() && isAhead(op, listed != nullptr)) {
        registers = unpackBits(device, known->second, scores.size());
      } else {
        FragmentPositions positions(device, records->item, records->visit, listed);
        registers = MaskConditions(positions, op.getBody()).keptRegisters(scores.size());
      }
      evaluated = success(succeeded(registers) && succeeded(evaluated));
      if (failed(registers))
        return cpu::Code::Values(scores);
      cpu::Code::Values values;
      for (auto [keeps, score] : llvm::zip(*registers, scores))
        values.push_back(device.select(keeps, score, none));
      return values;
    };
    auto unmasked = [&] { return cpu::Code::Values(scores); };
    cpu::Code::Values kept;
    Value listed = records->visit.getPositions();
    if (!listed) {
      kept = device.choose(records->visit.getMasked(), [&] { return masked({}); }, unmasked);
    } else {
      Value isTile = device.equal(listed, device.i32(0));
      kept = device.choose(
          records->visit.getMasked(),
          [&] {
            return device.choose(
                isTile, [&] { return masked({}); }, [&] { return masked(listed); });
          },
          [&] {
            return device.choose(isTile, unmasked,
                                 [&] { return cut(device, scores, records->visit.getCount()); });
          });
    }
    if (failed(evaluated))
      return failure();
    rewriter.replaceOp(op, pack(device, kept));
    return success();
  }

private:
  const MasksAhead &ahead;
};

struct LowerMapScores : OpConversionPattern<tile::MapScoresOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::MapScoresOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<Records> records = recordsOf(op, op.getVisit());
    if (failed(records))
      return failure();
    if (records->visit.getPositions() && !op.getBody().getArgument(2).use_empty())
      return op.emitOpError() << "cannot read the positions of keys that may be gathered; expected "
                                 "a schedule without 'gather_keys'";
    Device device = deviceAt(rewriter, op);
    FragmentPositions positions(device, records->item, records->visit);
    // Products are not scaled; what maps them sees scores.
    bool scaled = op.getScores().getDefiningOp<tile::MapScoresOp>();
    Value scale = device.get(frame(device, Frame::Scale), device.getF32Type());
    SmallVector<Value> mapped;
    for (auto [i, score] : llvm::enumerate(unpack(device, adaptor.getScores()))) {
      cpu::RegionEvaluator evaluator(device, /*lanes=*/1);
      cpu::Code::Values results;
      Value argument = scaled ? score : multiply(device, score, scale);
      if (failed(evaluator.evaluate(
              op.getBody(), {argument, positions.query(i / 2 % 2), positions.keyOfRegister(i)},
              results)))
        return failure();
      mapped.push_back(results.front());
    }
    rewriter.replaceOp(op, pack(device, mapped));
    return success();
  }
};

} // namespace

LogicalResult skim::nvvm::evaluateMasksAhead(Operation *root, MasksAhead &ahead) {
  SmallVector<tile::MaskOp> masks;
  root->walk([&](tile::MaskOp op) { masks.push_back(op); });
  for (tile::MaskOp op : masks) {
    FailureOr<Records> records = recordsOf(op, op.getVisit());
    if (failed(records))
      return failure();
    bool listed = records->visit.getPositions() != nullptr;
    Operation *product = productOf(op.getScores());
    if (!product || product->getBlock() != op->getBlock() || !(listed || isAhead(op, false)))
      continue;
    FailureOr<cpu::Code::Values> words = evaluateAhead(op, product);
    if (failed(words))
      return failure();
    ahead[op] = *words;
  }
  return success();
}

void skim::nvvm::addMaskPatterns(const RegisterTypes &types, RewritePatternSet &patterns,
                                 const MasksAhead &ahead) {
  patterns.add<LowerMask>(types, patterns.getContext(), ahead);
  patterns.add<LowerMapScores>(types, patterns.getContext());
}
