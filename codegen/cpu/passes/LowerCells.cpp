// Covers, lists, selections and block means.
#include "codegen/cpu/CellAccess.h"
#include "codegen/cpu/Elements.h"
#include "codegen/cpu/Items.h"
#include "codegen/cpu/Layout.h"
#include "codegen/cpu/RegionEvaluator.h"
#include "codegen/cpu/RowAccess.h"
#include "codegen/cpu/RuntimeCalls.h"
#include "codegen/cpu/TargetPass.h"

#include <skim/abi.h>

#include <limits>

namespace skim::cpu {
#define GEN_PASS_DEF_LOWERCELLS
#include "codegen/cpu/Passes.h.inc"
} // namespace skim::cpu

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

/// A byte for each row of the fragment, padded to whole vectors.
static MemRefType cellsType(Code &code, tile::FragmentType type, const Target &target) {
  int64_t rows = type.getRows() == 1 ? 1 : llvm::alignTo(type.getRows(), target.lanes);
  return MemRefType::get({rows}, code.getIntegerType(8));
}

static Value byteConstant(Code &code, int8_t value) {
  return arith::ConstantOp::create(code, code.getI8IntegerAttr(value));
}

/// The item's query cell counted from the first of an array; null without a query axis.
static Value queryCellOfItem(Code &code, tile::ItemRecordOp item, int64_t queryCell) {
  if (queryCell == 0)
    return {};
  Value base = code.sub(item.getKvLen(), item.getQLen());
  return code.sub(item.getTile(), code.floorDiv(base, queryCell));
}

/// Calls `body` with the first key of each cell of `keyCell` keys that the visit touches.
static Code::Values forEachKeyCell(Code &code, tile::VisitRecordOp visit, int64_t keyCell,
                                   ValueRange initial, Code::CarryingBody body) {
  Value first = visit.getFirstKey();
  Value end = code.add(first, visit.getCount());
  return code.loop(code.floorDiv(first, keyCell), code.ceilDiv(end, keyCell), 1, initial,
                   [&](Value cell, ValueRange carried) {
                     return body(code.max(first, code.mul(cell, code.index(keyCell))), carried);
                   });
}

/// Of cells with several rows, each is evaluated once, where its last existing row meets its first
/// key: the pair of the cell that is visible if any is.
static LogicalResult anyOfCells(tile::AnyOp op, tile::VisitRecordOp visit, tile::ItemRecordOp item,
                                Value buffer) {
  Code code = Code::before(op);
  auto queryCell = static_cast<int64_t>(op.getQueryCell());
  Value first = firstRow(code, item), end = endRow(code, item);
  Value none = code.i1(false);
  LogicalResult result = success();
  Code::Values any =
      code.loop(code.floorDiv(first, queryCell), code.ceilDiv(end, queryCell), 1, none,
                [&](Value cell, ValueRange outer) {
                  Value next = code.mul(code.add(cell, code.index(1)), code.index(queryCell));
                  Value position = code.sub(code.min(next, end), code.index(1));
                  return forEachKeyCell(code, visit, static_cast<int64_t>(op.getKeyCell()), outer,
                                        [&](Value key, ValueRange carried) -> Code::Values {
                                          Code::Values values;
                                          result = RegionEvaluator(code, 1).evaluate(
                                              op.getBody(), {position, key}, values);
                                          if (failed(result))
                                            return Code::Values(carried);
                                          return {code.logicalOr(carried[0], values.front())};
                                        });
                });
  Value byte = arith::ExtUIOp::create(code, code.getIntegerType(8), any[0]);
  code.storeScalar(byte, buffer, code.index(0));
  return result;
}

static LogicalResult lower(tile::AnyOp op, const Target &target) {
  Code code = Code::before(op);
  FailureOr<tile::VisitRecordOp> visit = visitRecord(op, op.getVisit());
  if (failed(visit))
    return failure();
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, visit->getItem());
  if (failed(item))
    return failure();
  tile::FragmentType type = op.getCells().getType();
  MemRefType bufferType = cellsType(code, type, target);
  Value buffer = allocateInFrame(op, bufferType);
  unsigned lanes = target.lanes;
  bool oneCell = type.getRows() == 1;
  LogicalResult result = success();
  if (oneCell && op.getQueryCell() > 1) {
    if (failed(anyOfCells(op, *visit, *item, buffer)))
      return failure();
    op.replaceAllUsesWith(asTile(code, buffer, type));
    op.erase();
    return success();
  }
  if (oneCell)
    code.storeScalar(byteConstant(code, 0), buffer, code.index(0));
  Value begin = code.roundDown(item->getRowsBegin(), lanes);
  code.loop(begin, item->getRowsEnd(), lanes, [&](Value row) {
    RowLanes rows = makeRowLanes(code, *item, row, lanes);
    Value none = arith::ConstantOp::create(
        code, DenseElementsAttr::get(code.vectorType(lanes, code.getI1Type()), false));
    Code::Values any =
        forEachKeyCell(code, *visit, static_cast<int64_t>(op.getKeyCell()), none,
                       [&](Value key, ValueRange carried) -> Code::Values {
                         RegionEvaluator evaluator(code, lanes);
                         evaluator.setRows(rows);
                         Code::Values values;
                         result = evaluator.evaluate(op.getBody(), {rows.positions, key}, values);
                         if (failed(result))
                           return Code::Values(carried);
                         return {code.logicalOr(carried[0], evaluator.toLanes(values.front()))};
                       });
    if (oneCell) {
      // Lanes beyond the existing rows repeat positions that exist, but panels have no values
      // there.
      Value numbers = code.add(code.splat(row, lanes), code.laneNumbers(lanes));
      Value exists =
          code.logicalAnd(code.lessOrEqual(code.splat(item->getRowsBegin(), lanes), numbers),
                          code.less(numbers, code.splat(item->getRowsEnd(), lanes)));
      Value found = vector::ReductionOp::create(code, vector::CombiningKind::OR,
                                                code.logicalAnd(any[0], exists));
      code.ifThen(found, [&] { code.storeScalar(byteConstant(code, 1), buffer, code.index(0)); });
    } else {
      Value bytes =
          arith::ExtUIOp::create(code, code.vectorType(lanes, code.getIntegerType(8)), any[0]);
      code.storeVector(bytes, buffer, row);
    }
  });
  if (failed(result))
    return failure();
  op.replaceAllUsesWith(asTile(code, buffer, type));
  op.erase();
  return success();
}

static LogicalResult lower(tile::StoreCellOp op, const Target &target) {
  Code code = Code::before(op);
  FailureOr<tile::VisitRecordOp> visit = visitRecord(op, op.getVisit());
  if (failed(visit))
    return failure();
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, visit->getItem());
  if (failed(item))
    return failure();
  KernelInfo info = kernelInfo(op);
  tile::FragmentType type = op.getCells().getType();
  Value cells = asBuffer(code, op.getCells(), cellsType(code, type, target));
  Value keyCell = code.floorDiv(visit->getFirstKey(), info.schedule.getKeys());
  tile::HeadKind head = info.items.getHead();
  Value zero = byteConstant(code, 0), one = byteConstant(code, 1);
  auto storeWhere = [&](Value row, Value queryCell) {
    Value holds =
        arith::CmpIOp::create(code, arith::CmpIPredicate::ne, code.loadScalar(cells, row), zero);
    code.ifThen(holds, [&] {
      CellRow map = cellRow(code, *item, tile::Space::Buffer, op.getSlot(), head, queryCell, 1);
      code.store(one, code.offset(map.address, code.mul(keyCell, map.stride)));
    });
  };
  if (type.getRows() == 1) {
    storeWhere(code.index(0), queryCellOfItem(code, *item, info.schedule.getRows()));
  } else {
    Value base = code.sub(item->getKvLen(), item->getQLen());
    Value start = code.sub(tileStart(code, *item), base);
    code.loop(item->getRowsBegin(), item->getRowsEnd(), 1,
              [&](Value row) { storeWhere(row, code.add(start, row)); });
  }
  op.erase();
  return success();
}

static LogicalResult lower(tile::ScatterListOp op, const Target &) {
  Code code = Code::before(op);
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  Value arguments = item->getArguments();
  Value queryCell = queryCellOfItem(code, *item, op.getQueryCell());
  auto list = static_cast<int64_t>(op.getList());
  CellRow entries = cellRow(code, *item, tile::Space::Input, list, op.getHead(), queryCell, 4);
  CellRow map = cellRow(code, *item, tile::Space::Buffer, op.getMap(), op.getHead(), queryCell, 1);
  Value count = loadBufferCapacity(code, arguments, tile::Space::Input, list);
  Value outOfRange = code.i1(false);
  if (std::optional<uint64_t> counts = op.getCounts()) {
    CellRow row = cellRow(code, *item, tile::Space::Input, static_cast<int64_t>(*counts),
                          op.getHead(), queryCell, 4);
    Value used = code.loadIndex(32, row.address);
    Value fits =
        code.logicalAnd(code.lessOrEqual(code.index(0), used), code.lessOrEqual(used, count));
    outOfRange = code.logicalNot(fits);
    count = code.select(fits, used, code.index(0));
  }
  Value cells = code.ceilDiv(item->getKvLen(), static_cast<int64_t>(op.getKeyCell()));
  Value zero = code.index(0), stride = code.mul(entries.stride, code.index(4));
  Value one = byteConstant(code, 1);
  Value padding = code.index(-1);
  Code::Values bad =
      code.loop(zero, count, 1, outOfRange, [&](Value i, ValueRange carried) -> Code::Values {
        Value entry = code.loadIndex(32, code.offset(entries.address, code.mul(i, stride)));
        Value inside = code.logicalAnd(code.lessOrEqual(zero, entry), code.less(entry, cells));
        code.ifThen(inside, [&] {
          code.store(one, code.offset(map.address, code.mul(entry, map.stride)));
        });
        Value outside = code.logicalNot(code.logicalOr(inside, code.equal(entry, padding)));
        return {code.logicalOr(carried[0], outside)};
      });
  Value status = loadArgument(code, arguments, Argument::Status);
  code.ifThen(code.logicalAnd(bad[0], code.notNull(status)), [&] {
    Value bit =
        arith::ConstantOp::create(code, code.getI32IntegerAttr(SKIM_STATUS_INDEX_OUT_OF_RANGE));
    LLVM::AtomicRMWOp::create(code, LLVM::AtomicBinOp::_or, status, bit,
                              LLVM::AtomicOrdering::monotonic);
  });
  op.erase();
  return success();
}

static LogicalResult lower(tile::SelectOp op, const Target &) {
  Code code = Code::before(op);
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  tile::HeadKind head = kernelInfo(op).items.getHead();
  Value queryCell = queryCellOfItem(code, *item, op.getQueryCell());
  CellRow scratch = cellRow(code, *item, tile::Space::Buffer, op.getScratch(), head, queryCell, 4);
  CellRow map = cellRow(code, *item, tile::Space::Buffer, op.getMap(), head, queryCell, 1);
  auto keyCell = static_cast<int64_t>(op.getKeyCell());
  Value count = code.ceilDiv(item->getKvLen(), keyCell), firstKey = code.index(0);
  if (op.getNoncausal()) {
    // The smallest distance is that of the first row and the last key.
    firstKey = code.sub(code.index(1), item->getQLen());
    count = code.sub(count, firstKey);
  }
  Value position = firstPosition(code, *item);
  Value undefined = code.f32(std::numeric_limits<double>::quiet_NaN());
  LogicalResult result = success();
  code.loop(code.index(0), count, 1, [&](Value cell) {
    RegionEvaluator evaluator(code, 1);
    Code::Values values;
    Value key = code.add(firstKey, code.mul(cell, code.index(keyCell)));
    result = evaluator.evaluate(op.getBody(), {position, key}, values);
    if (failed(result))
      return;
    Value score = code.select(values[1], values[0], undefined);
    code.store(score, code.offset(scratch.address, code.mul(cell, code.index(4))));
  });
  if (failed(result))
    return failure();

  Value order = code.offset(scratch.address, code.mul(count, code.index(4)));
  callSelection(code, op, op.getKind(),
                {scratch.address, count, op.getAmount(), map.address, order});
  op.erase();
  return success();
}

static LogicalResult lower(tile::PoolOp op, const Target &target) {
  Code code = Code::before(op);
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  KernelInfo info = kernelInfo(op);
  bool keys = op.getOperand() == tile::Operand::Keys;
  int64_t columns = keys ? info.problem.getHeadDim() : info.problem.getValueDim();
  Type element = info.problem.getOperand(), f64 = code.getF64Type(), f32 = code.getF32Type();
  Value bytes = code.index(elementBytes(element));
  Value sums = allocateInFrame(op, MemRefType::get({columns}, f64));
  auto shaped = [&](Type type, unsigned lanes) -> Type {
    return lanes == 1 ? type : code.vectorType(lanes, type);
  };
  auto loadSum = [&](Value column, unsigned lanes) {
    return lanes == 1 ? code.loadScalar(sums, column) : code.loadVector(lanes, sums, column);
  };
  auto storeSum = [&](Value sum, Value column, unsigned lanes) {
    lanes == 1 ? code.storeScalar(sum, sums, column) : code.storeVector(sum, sums, column);
  };

  Value first = code.mul(item->getTile(), code.index(info.schedule.getKeys()));
  Value count = code.min(code.index(info.schedule.getKeys()), code.sub(item->getKvLen(), first));
  Value zero = arith::ConstantOp::create(code, code.getF64FloatAttr(0));
  code.loop(code.index(0), code.index(columns), 1,
            [&](Value column) { code.storeScalar(zero, sums, column); });
  forEachTokenRow(code, *item, op.getOperand(), first, count, [&](Value, Value address) {
    forEachColumn(code, columns, target.lanes, [&](Value column, unsigned lanes) {
      Value value =
          loadElements(code, target, element, code.offset(address, code.mul(column, bytes)), lanes);
      Value wide = arith::ExtFOp::create(code, shaped(f64, lanes), value);
      storeSum(arith::AddFOp::create(code, loadSum(column, lanes), wide), column, lanes);
    });
  });
  CellRow row = cellRow(code, *item, tile::Space::Buffer, op.getSlot(), tile::HeadKind::Kv, {}, 4);
  Value cell = code.mul(item->getTile(), code.mul(row.stride, code.index(4)));
  Value address = code.offset(row.address, cell);
  Value keysInBlock = arith::SIToFPOp::create(
      code, f64, arith::IndexCastOp::create(code, code.getI64Type(), count));
  forEachColumn(code, columns, target.lanes, [&](Value column, unsigned lanes) {
    Value divisor = lanes == 1 ? keysInBlock : code.splat(keysInBlock, lanes);
    Value mean = arith::DivFOp::create(code, loadSum(column, lanes), divisor);
    code.store(arith::TruncFOp::create(code, shaped(f32, lanes), mean),
               code.offset(address, code.mul(column, code.index(4))));
  });
  op.erase();
  return success();
}

namespace {

struct LowerCellsPass : skim::cpu::impl::LowerCellsBase<LowerCellsPass> {
  using LowerCellsBase::LowerCellsBase;

  void runOnOperation() override {
    if (failed(lowerOperations<tile::AnyOp, tile::StoreCellOp, tile::ScatterListOp, tile::SelectOp,
                               tile::PoolOp>(
            *this, getOperation(), target,
            [](auto op, const Target &cpu) { return lower(op, cpu); })))
      signalPassFailure();
  }
};

} // namespace
