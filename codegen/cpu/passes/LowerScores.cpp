// Masks and score functions on vectors of rows.
#include "codegen/cpu/Items.h"
#include "codegen/cpu/Layout.h"
#include "codegen/cpu/RegionEvaluator.h"
#include "codegen/cpu/Statistics.h"
#include "codegen/cpu/TargetPass.h"

namespace skim::cpu {
#define GEN_PASS_DEF_LOWERSCORES
#include "codegen/cpu/Passes.h.inc"
} // namespace skim::cpu

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

namespace {

/// The rows and keys of a visit.
struct Scores {
  tile::VisitRecordOp visit;
  tile::ItemRecordOp item;
  Value buffer;
};

} // namespace

static FailureOr<Scores> openScores(Code &code, Operation *op, Value visit,
                                    TypedValue<tile::FragmentType> scores, const Target &target) {
  FailureOr<tile::VisitRecordOp> record = visitRecord(op, visit);
  if (failed(record))
    return failure();
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, record->getItem());
  if (failed(item))
    return failure();
  return Scores{*record, *item, asBuffer(code, scores, Layout(target).scores(scores.getType()))};
}

/// Evaluates `region` for every vector of rows and every key of the visit.
static LogicalResult forEachScore(
    Code &code, Scores scores, const Target &target, Region &region,
    function_ref<Code::Values(const RowLanes &rows, Value key, Value row, Value j)> arguments,
    function_ref<void(Value result, Value row, Value j)> body) {
  unsigned lanes = target.lanes;
  LogicalResult result = success();
  Value begin = code.roundDown(scores.item.getRowsBegin(), lanes);
  code.loop(begin, scores.item.getRowsEnd(), lanes, [&](Value row) {
    RowLanes rows = makeRowLanes(code, scores.item, row, lanes);
    code.loop(code.index(0), scores.visit.getCount(), 1, [&](Value j) {
      Value key = code.add(scores.visit.getFirstKey(), j);
      RegionEvaluator evaluator(code, lanes);
      evaluator.setRows(rows);
      Code::Values results;
      result = evaluator.evaluate(region, arguments(rows, key, row, j), results);
      if (succeeded(result))
        body(evaluator.toLanes(results.front()), row, j);
    });
  });
  return result;
}

static LogicalResult lower(tile::MapScoresOp op, const Target &target) {
  Code code = Code::before(op);
  FailureOr<Scores> scores = openScores(code, op, op.getVisit(), op.getScores(), target);
  if (failed(scores))
    return failure();
  LogicalResult result = forEachScore(
      code, *scores, target, op.getBody(),
      [&](const RowLanes &rows, Value key, Value row, Value j) -> Code::Values {
        return {code.loadVector(target.lanes, scores->buffer, {j, row}), rows.positions, key};
      },
      [&](Value mapped, Value row, Value j) {
        code.storeVector(mapped, scores->buffer, {j, row});
      });
  if (failed(result))
    return failure();
  op.replaceAllUsesWith(op.getScores());
  op.erase();
  return success();
}

namespace {

/// Counts the pairs that a visit keeps and writes them to the caller's relation.
class KeptRecorder {
public:
  KeptRecorder(tile::MaskOp op, Scores scores, const Target &target)
      : op(op), scores(scores), target(target), code(Code::before(op)),
        pooled(scores.visit.getSource().getPooled()) {}

  LogicalResult run() {
    Code start = Code::after(scores.item);
    Value arguments = scores.item.getArguments();
    Value kept = loadArgument(start, arguments, Argument::Kept);
    Value writes = start.notNull(kept);
    Value counts = start.notNull(loadArgument(start, arguments, Argument::Statistics));
    Value records = start.logicalOr(writes, counts);
    Value rowBytes = loadArgument(start, arguments, Argument::KeptRowStride);
    Value headBytes = loadArgument(start, arguments, Argument::KeptHeadStride);
    head = start.offset(kept, start.mul(scores.item.getHead(), headBytes));
    keptRowBytes = rowBytes;
    writesKept = pooled ? start.i1(false) : writes;
    LogicalResult result = success();
    code.ifThen(records, [&] {
      code.ifElse(
          scores.visit.getMasked(), [&] { result = recordMasked(); }, [&] { recordFull(); });
    });
    return result;
  }

private:
  void count(Value pairs) {
    addToCounter(code, scores.item, pooled ? Counter::RestEntries : Counter::PairsKept, pairs);
  }

  Value keptAddress(Value row, Value key) {
    tile::ItemRecordOp item = scores.item;
    Value base = code.sub(item.getKvLen(), item.getQLen());
    Value position = code.sub(code.add(tileStart(code, item), row), base);
    Value token = code.add(item.getFirstToken(), position);
    return code.offset(head, code.add(code.mul(token, keptRowBytes), key));
  }

  void write(Value kept, Value row, Value j) {
    code.store(kept, keptAddress(row, code.add(scores.visit.getFirstKey(), j)));
  }

  LogicalResult recordMasked() {
    unsigned lanes = target.lanes;
    Type byte = code.getIntegerType(8);
    Value bits = allocateInFrame(op, MemRefType::get({lanes}, byte));
    return forEachScore(
        code, scores, target, op.getBody(),
        [&](const RowLanes &rows, Value key, Value, Value) -> Code::Values {
          return {rows.positions, key};
        },
        [&](Value holds, Value row, Value j) {
          // Lanes beyond the existing rows repeat others: they do not count.
          Value begin = code.max(code.sub(scores.item.getRowsBegin(), row), code.index(0));
          Value end = code.min(code.sub(scores.item.getRowsEnd(), row), code.index(lanes));
          Value lane = code.laneNumbers(lanes);
          Value exists = code.logicalAnd(code.lessOrEqual(code.splat(begin, lanes), lane),
                                         code.less(lane, code.splat(end, lanes)));
          Value ones = arith::ExtUIOp::create(code, code.vectorType(lanes, byte),
                                              code.logicalAnd(holds, exists));
          Value kept = vector::ReductionOp::create(code, vector::CombiningKind::ADD, ones);
          count(arith::IndexCastUIOp::create(code, code.getIndexType(), kept));
          code.ifThen(writesKept, [&] {
            code.storeVector(ones, bits, code.index(0));
            code.loop(begin, end, 1,
                      [&](Value i) { write(code.loadScalar(bits, i), code.add(row, i), j); });
          });
        });
  }

  void recordFull() {
    Value begin = scores.item.getRowsBegin(), end = scores.item.getRowsEnd();
    count(code.mul(code.sub(end, begin), scores.visit.getCount()));
    code.ifThen(writesKept, [&] {
      Value one = arith::ConstantOp::create(code, code.getI8IntegerAttr(1));
      code.loop(begin, end, 1, [&](Value row) {
        code.loop(code.index(0), scores.visit.getCount(), 1, [&](Value j) { write(one, row, j); });
      });
    });
  }

  tile::MaskOp op;
  Scores scores;
  const Target &target;
  Code code;
  bool pooled;
  Value head, keptRowBytes, writesKept;
};

} // namespace

static LogicalResult lower(tile::MaskOp op, const Target &target) {
  Code code = Code::before(op);
  FailureOr<Scores> scores = openScores(code, op, op.getVisit(), op.getScores(), target);
  if (failed(scores))
    return failure();
  LogicalResult result = success();
  code.ifThen(scores->visit.getMasked(), [&] {
    Value hidden = code.splat(code.negativeInfinity(), target.lanes);
    result = forEachScore(
        code, *scores, target, op.getBody(),
        [&](const RowLanes &rows, Value key, Value, Value) -> Code::Values {
          return {rows.positions, key};
        },
        [&](Value holds, Value row, Value j) {
          Value score = code.loadVector(target.lanes, scores->buffer, {j, row});
          code.storeVector(code.select(holds, score, hidden), scores->buffer, {j, row});
        });
  });
  if (failed(result) || failed(KeptRecorder(op, *scores, target).run()))
    return failure();
  op.replaceAllUsesWith(op.getScores());
  op.erase();
  return success();
}

namespace {

struct LowerScoresPass : skim::cpu::impl::LowerScoresBase<LowerScoresPass> {
  using LowerScoresBase::LowerScoresBase;

  void runOnOperation() override {
    if (failed(lowerOperations<tile::MaskOp, tile::MapScoresOp>(
            *this, getOperation(), target,
            [](auto op, const Target &cpu) { return lower(op, cpu); })))
      signalPassFailure();
  }
};

} // namespace
