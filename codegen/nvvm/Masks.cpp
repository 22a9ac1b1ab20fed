// Masks and score modifications in registers.
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

struct LowerMask : OpConversionPattern<tile::MaskOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::MaskOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    FailureOr<Records> records = recordsOf(op, op.getVisit());
    if (failed(records))
      return failure();
    Device device = deviceAt(rewriter, op);
    SmallVector<Value> scores = unpack(device, adaptor.getScores());
    LogicalResult evaluated = success();
    Value none = device.negativeInfinity();
    auto masked = [&](Value listed) {
      FragmentPositions positions(device, records->item, records->visit, listed);
      MaskConditions conditions(positions, op.getBody());
      cpu::Code::Values values;
      for (auto [i, score] : llvm::enumerate(scores)) {
        FailureOr<Value> keeps = conditions.keeps(i);
        if (failed(keeps)) {
          evaluated = failure();
          return cpu::Code::Values(scores);
        }
        values.push_back(device.select(*keeps, score, none));
      }
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

void skim::nvvm::addMaskPatterns(const RegisterTypes &types, RewritePatternSet &patterns) {
  patterns.add<LowerMask, LowerMapScores>(types, patterns.getContext());
}
