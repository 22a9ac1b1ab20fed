// Copies of operands to f32 tiles, and stores of results.
#include "codegen/cpu/CellAccess.h"
#include "codegen/cpu/Elements.h"
#include "codegen/cpu/Items.h"
#include "codegen/cpu/Layout.h"
#include "codegen/cpu/QueryTile.h"
#include "codegen/cpu/RegionEvaluator.h"
#include "codegen/cpu/RowAccess.h"
#include "codegen/cpu/TargetPass.h"

namespace skim::cpu {
#define GEN_PASS_DEF_LOWERMEMORY
#include "codegen/cpu/Passes.h.inc"
} // namespace skim::cpu

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

/// The token index, in the query and output arrays, of the tile's row 0.
static Value firstTokenOfTile(Code &code, tile::ItemRecordOp item) {
  Value base = code.sub(item.getKvLen(), item.getQLen());
  return code.add(item.getFirstToken(), code.sub(tileStart(code, item), base));
}

static LogicalResult lower(tile::LoadQueriesOp op, const Target &target) {
  Code code = Code::before(op);
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  Layout layout(target);
  tile::SharedType type = op.getQueries().getType();
  Value buffer = allocateInFrame(op, layout.queries(type));
  Value rows = code.index(layout.paddedRows(type.getRows()));
  transposeQueries(code, target, *item, code.index(0), rows,
                   [&](Value values, Value element, Value row) {
                     if (isa<VectorType>(values.getType()))
                       code.storeVector(values, buffer, {element, row});
                     else
                       code.storeScalar(values, buffer, {element, row});
                   });
  op.replaceAllUsesWith(asTile(code, buffer, op.getQueries().getType()));
  op.erase();
  return success();
}

/// Copies pooled blocks first_key + j, 0 <= j < count.
static void copyPooled(Code &code, const Target &target, tile::ItemRecordOp item,
                       tile::VisitRecordOp visit, bool keys, Value buffer, int64_t columns) {
  tile::SourceAttr source = visit.getSource();
  CellRow row = cellRow(code, item, tile::Space::Buffer,
                        keys ? source.getKeys() : source.getValues(), tile::HeadKind::Kv, {}, 4);
  Value bytes = code.mul(row.stride, code.index(4));
  code.loop(code.index(0), visit.getCount(), 1, [&](Value j) {
    Value block = code.add(visit.getFirstKey(), j);
    copyRow(code, target, code.getF32Type(), code.offset(row.address, code.mul(block, bytes)),
            buffer, j, columns);
  });
}

static LogicalResult lower(tile::IssueLoadOp op, const Target &target) {
  Code code = Code::before(op);
  FailureOr<tile::VisitRecordOp> visit = visitRecord(op, op.getVisit());
  if (failed(visit))
    return failure();
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, visit->getItem());
  if (failed(item))
    return failure();
  Layout layout(target);
  tile::SharedType tileType = op.getTile().getType();
  bool keys = op.getOperand() == tile::Operand::Keys;
  MemRefType type = keys ? layout.keys(tileType) : layout.values(tileType);
  Value buffer = allocateInFrame(op, type);
  int64_t columns = tileType.getColumns();
  if (visit->getSource().getPooled()) {
    copyPooled(code, target, *item, *visit, keys, buffer, columns);
  } else {
    Type element = kernelInfo(op).problem.getOperand();
    forEachTokenRow(code, *item, op.getOperand(), visit->getFirstKey(), visit->getCount(),
                    [&](Value j, Value address) {
                      copyRow(code, target, element, address, buffer, j, columns);
                    });
  }
  // The last block of the score product reads whole blocks of keys.
  Value zero = code.f32(0);
  if (keys) {
    Value end = code.roundUp(visit->getCount(), target.keysInRegisters);
    code.loop(visit->getCount(), end, 1, [&](Value j) {
      code.loop(code.index(0), code.index(columns), 1,
                [&](Value column) { code.storeScalar(zero, buffer, {j, column}); });
    });
  } else if (columns < layout.paddedColumns(columns)) {
    code.loop(code.index(0), visit->getCount(), 1, [&](Value j) {
      code.loop(code.index(columns), code.index(layout.paddedColumns(columns)), 1,
                [&](Value column) { code.storeScalar(zero, buffer, {j, column}); });
    });
  }
  op.getTile().replaceAllUsesWith(asTile(code, buffer, tileType));
  op.erase();
  return success();
}

/// Turns each row's sum into the factor of its accumulator (in place of the due scale), and its
/// maximum into its log-sum-exp.
static void finishRows(Code &code, const Target &target, Value state, tile::StateType type,
                       tile::ItemRecordOp item, Value sink) {
  Layout layout(target);
  unsigned lanes = target.lanes;
  Value begin = code.roundDown(item.getRowsBegin(), lanes);
  code.loop(begin, item.getRowsEnd(), lanes, [&](Value row) {
    auto at = [&](int64_t field) { return code.add(row, code.index(field)); };
    Value zero = code.splat(code.f32(0), lanes), one = code.splat(code.f32(1), lanes);
    Value infinity = code.splat(code.negativeInfinity(), lanes);
    Value maximum = code.loadVector(lanes, state, at(layout.maxima(type)));
    Value sum = code.loadVector(lanes, state, at(layout.sums(type)));
    Value empty = arith::CmpFOp::create(code, arith::CmpFPredicate::OEQ, sum, zero);
    Value scale = one, origin = maximum, total = sum;
    if (sink) {
      Value logit = code.splat(sink, lanes);
      origin = code.maximum(maximum, logit);
      scale = math::ExpOp::create(code, arith::SubFOp::create(code, maximum, origin));
      Value extra = math::ExpOp::create(code, arith::SubFOp::create(code, logit, origin));
      total = code.multiplyAdd(sum, scale, extra);
    }
    Value factor = arith::DivFOp::create(code, scale, total);
    Value logSumExp = arith::AddFOp::create(code, origin, math::LogOp::create(code, total));
    code.storeVector(code.select(empty, zero, factor), state, at(layout.scales(type)));
    code.storeVector(code.select(empty, infinity, logSumExp), state, at(layout.maxima(type)));
  });
}

static void storeOutput(Code &code, const Target &target, Value state, tile::StateType type,
                        tile::ItemRecordOp item) {
  Layout layout(target);
  Value arguments = item.getArguments();
  Type element = kernelInfo(item).problem.getOut();
  Value bytes = code.index(elementBytes(element));
  Value head = code.mul(item.getHead(), loadArgument(code, arguments, Argument::OutHeadStride));
  Value data = code.offset(loadArgument(code, arguments, Argument::OutData), code.mul(head, bytes));
  Value tokenStride = loadArgument(code, arguments, Argument::OutTokenStride);
  Value token = firstTokenOfTile(code, item);
  Value columns = code.index(layout.paddedColumns(type.getColumns()));
  code.loop(item.getRowsBegin(), item.getRowsEnd(), 1, [&](Value row) {
    Value factor = code.loadScalar(state, code.add(row, code.index(layout.scales(type))));
    Value elements = code.mul(code.add(token, row), tokenStride);
    Value address = code.offset(data, code.mul(elements, bytes));
    Value first = code.mul(row, columns);
    forEachColumn(code, type.getColumns(), target.lanes, [&](Value column, unsigned lanes) {
      Value position = code.add(first, column);
      Value value =
          lanes == 1 ? code.loadScalar(state, position) : code.loadVector(lanes, state, position);
      Value scale = lanes == 1 ? factor : code.splat(factor, lanes);
      storeElements(code, target, element, arith::MulFOp::create(code, value, scale),
                    code.offset(address, code.mul(column, bytes)));
    });
  });
}

static void storeLogSumExp(Code &code, const Target &target, Value state, tile::StateType type,
                           tile::ItemRecordOp item) {
  Value arguments = item.getArguments();
  Value lse = loadArgument(code, arguments, Argument::Lse);
  code.ifThen(code.notNull(lse), [&] {
    Value head = code.mul(item.getHead(), loadArgument(code, arguments, Argument::LseHeadStride));
    Value tokenStride = loadArgument(code, arguments, Argument::LseTokenStride);
    Value token = firstTokenOfTile(code, item);
    code.loop(item.getRowsBegin(), item.getRowsEnd(), 1, [&](Value row) {
      Value element = code.add(head, code.mul(code.add(token, row), tokenStride));
      Value value = code.loadScalar(state, code.add(row, code.index(Layout(target).maxima(type))));
      code.store(value, code.offset(lse, code.mul(element, code.index(4))));
    });
  });
}

static LogicalResult lower(tile::FinishOp op, const Target &target) {
  Code code = Code::before(op);
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  tile::StateType type = op.getState().getType();
  Value state = asBuffer(code, op.getState(), Layout(target).state(type));
  finishRows(code, target, state, type, *item, op.getSink());
  storeOutput(code, target, state, type, *item);
  storeLogSumExp(code, target, state, type, *item);
  op.erase();
  return success();
}

/// The item's row of a result that a launch may ask for.
struct WantedRow {
  Value wanted;
  Value address;
};
static WantedRow wantedRow(Code &code, tile::ItemRecordOp item, Argument data,
                           Argument requestStride, Argument headStride) {
  Value arguments = item.getArguments();
  Value pointer = loadArgument(code, arguments, data);
  Value request = code.mul(item.getRequest(), loadArgument(code, arguments, requestStride));
  Value head = code.mul(headOf(code, item, kernelInfo(item).items.getHead()),
                        loadArgument(code, arguments, headStride));
  return {code.notNull(pointer),
          code.offset(pointer, code.mul(code.add(request, head), code.index(4)))};
}

static LogicalResult lower(tile::StorePositionsOp op, const Target &) {
  Code code = Code::before(op);
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  WantedRow positions =
      wantedRow(code, *item, Argument::CompactPositions, Argument::CompactPositionsRequestStride,
                Argument::CompactPositionsHeadStride);
  WantedRow counts =
      wantedRow(code, *item, Argument::CompactCounts, Argument::CompactCountsRequestStride,
                Argument::CompactCountsHeadStride);
  auto keyCell = static_cast<int64_t>(op.getKeyCell());
  Value first = basePosition(code, *item), end = item->getKvLen();
  Value cells = code.select(code.logicalOr(positions.wanted, counts.wanted),
                            code.ceilDiv(end, keyCell), code.index(0));
  auto asI32 = [&](Value value) {
    return arith::IndexCastOp::create(code, code.getI32Type(), value);
  };
  LogicalResult result = success();
  Code::Values count = code.loop(
      code.index(0), cells, 1, code.index(0), [&](Value cell, ValueRange carried) -> Code::Values {
        Value key = code.mul(cell, code.index(keyCell));
        Code::Values holds;
        result = RegionEvaluator(code, 1).evaluate(op.getBody(), {first, key}, holds);
        if (failed(result))
          return Code::Values(carried);
        Value keys = code.select(holds.front(), code.min(code.index(keyCell), code.sub(end, key)),
                                 code.index(0));
        code.ifThen(positions.wanted, [&] {
          code.loop(code.index(0), keys, 1, [&](Value i) {
            Value entry = code.mul(code.add(carried[0], i), code.index(4));
            code.store(asI32(code.add(key, i)), code.offset(positions.address, entry));
          });
        });
        return {code.add(carried[0], keys)};
      });
  if (failed(result))
    return failure();
  code.ifThen(counts.wanted, [&] { code.store(asI32(count[0]), counts.address); });
  op.erase();
  return success();
}

namespace {

struct LowerMemoryPass : skim::cpu::impl::LowerMemoryBase<LowerMemoryPass> {
  using LowerMemoryBase::LowerMemoryBase;

  void runOnOperation() override {
    if (failed(lowerOperations<tile::LoadQueriesOp, tile::IssueLoadOp, tile::FinishOp,
                               tile::StorePositionsOp>(
            *this, getOperation(), target,
            [](auto op, const Target &cpu) { return lower(op, cpu); })))
      signalPassFailure();
  }
};

} // namespace
