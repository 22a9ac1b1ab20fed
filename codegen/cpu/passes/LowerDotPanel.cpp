// Products of panels: tiles of key vectors against the item's rows.
#include "codegen/cpu/CellAccess.h"
#include "codegen/cpu/DotBlock.h"
#include "codegen/cpu/Items.h"
#include "codegen/cpu/Layout.h"
#include "codegen/cpu/PanelAccess.h"
#include "codegen/cpu/RowAccess.h"
#include "codegen/cpu/TargetPass.h"

#include <limits>

namespace skim::cpu {
#define GEN_PASS_DEF_LOWERDOTPANEL
#include "codegen/cpu/Passes.h.inc"
} // namespace skim::cpu

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

namespace {

class DotPanelLowering {
public:
  DotPanelLowering(tile::DotPanelOp op, const Target &target)
      : op(op), target(target), layout(target), code(Code::before(op)),
        rowsType(op.getRows().getType()), type(op.getPanel().getType()) {}

  LogicalResult run();

private:
  /// The columns that some row of the item sees, and those that all of them see.
  void findColumns();
  void loadKeys(Value first, Value count);
  void multiply(Value first, Value count);
  /// Cells of columns [first, end) become NaN where a row does not see its column.
  void hideCells(Value first, Value end);
  void clearColumns(Value first, Value end);

  tile::DotPanelOp op;
  const Target &target;
  Layout layout;
  Code code;
  tile::PanelType rowsType, type;
  tile::ItemRecordOp item;
  Value rows, keys, data; ///< the factors and the result in memory
  Value rowsBegin, rowsEnd;
  Value columns, seenBySome, seenByAll;
};

} // namespace

/// Key vectors of one tile: whole register blocks of every target.
static constexpr int64_t keysOfTile = 48;

void DotPanelLowering::findColumns() {
  columns = columnsOf(code, item, type);
  seenBySome = seenByAll = columns;
  if (op.getNoncausal())
    return;
  // The existing positions of the first and of the last row cell.
  Value first = firstRow(code, item), last = code.sub(endRow(code, item), code.index(1));
  int64_t query = type.getQuery(), key = type.getKey();
  Value endOfFirst =
      code.mul(code.add(code.floorDiv(first, query), code.index(1)), code.index(query));
  Value lastOfFirst = code.min(code.sub(endOfFirst, code.index(1)), last);
  Value firstOfLast = code.max(code.mul(code.floorDiv(last, query), code.index(query)), first);
  // A position that sees all keys sees the last column, though it is not whole.
  auto whole = [&](Value position) {
    Value end = code.add(position, code.index(1));
    Value all = code.lessOrEqual(item.getKvLen(), end);
    return code.select(all, columns, code.floorDiv(end, key));
  };
  auto begun = [&](Value position) { return code.ceilDiv(code.add(position, code.index(1)), key); };
  bool all = op.getVisible() == tile::Visible::All;
  auto clamp = [&](Value count) { return code.min(code.max(count, code.index(0)), columns); };
  seenByAll = clamp(all ? whole(first) : begun(lastOfFirst));
  seenBySome = clamp(all ? whole(firstOfLast) : begun(last));
}

void DotPanelLowering::loadKeys(Value first, Value count) {
  int64_t elements = rowsType.getElements();
  if (op.getSource() == tile::VectorSource::Buffer) {
    CellRow row = cellRow(code, item, tile::Space::Buffer, static_cast<int64_t>(*op.getBuffer()),
                          op.getHead(), {}, 4);
    Value bytes = code.mul(row.stride, code.index(4));
    code.loop(code.index(0), count, 1, [&](Value j) {
      Value cell = code.mul(code.add(first, j), bytes);
      copyRow(code, target, code.getF32Type(), code.offset(row.address, cell), keys, j, elements);
    });
  } else {
    Type element = kernelInfo(op).problem.getOperand();
    tile::Operand operand =
        op.getSource() == tile::VectorSource::Keys ? tile::Operand::Keys : tile::Operand::Values;
    forEachTokenRow(code, item, operand, first, count, [&](Value j, Value address) {
      copyRow(code, target, element, address, keys, j, elements);
    });
  }
  // The last block of the product reads whole blocks of keys.
  Value zero = code.f32(0);
  code.loop(count, code.roundUp(count, target.keysInRegisters), 1, [&](Value j) {
    code.loop(code.index(0), code.index(elements), 1,
              [&](Value i) { code.storeScalar(zero, keys, {j, i}); });
  });
}

void DotPanelLowering::multiply(Value first, Value count) {
  int64_t block = layout.rowBlock();
  Value scale = code.splat(op.getScale(), target.lanes);
  DotBlock product(code, target, rowsType.getElements());
  auto blockAt = [&](Value row, Value key, bool partial) {
    Code::Values sums = product.multiply(
        [&](Value i, int64_t lane) {
          Value address = panelCell(code, rows, rowsType, i, code.add(row, code.index(lane)));
          return code.load(code.vectorType(target.lanes, code.getF32Type()), address);
        },
        keys, key);
    for (unsigned j = 0; j < target.keysInRegisters; ++j) {
      Value column = code.add(key, code.index(j));
      auto store = [&] {
        for (unsigned v = 0; v < target.vectorsInRegisters; ++v) {
          int64_t lane = static_cast<int64_t>(v) * target.lanes;
          Value score = arith::MulFOp::create(code, sums[j * target.vectorsInRegisters + v], scale);
          code.store(score, panelCell(code, data, type, code.add(first, column),
                                      code.add(row, code.index(lane))));
        }
      };
      if (partial && j > 0)
        code.ifThen(code.less(column, count), store);
      else
        store();
    }
  };
  int64_t keyBlock = target.keysInRegisters;
  Value whole = code.roundDown(count, keyBlock);
  code.loop(code.roundDown(rowsBegin, block), rowsEnd, block, [&](Value row) {
    code.loop(code.index(0), whole, keyBlock, [&](Value key) { blockAt(row, key, false); });
    code.loop(whole, count, keyBlock, [&](Value key) { blockAt(row, key, true); });
  });
}

void DotPanelLowering::hideCells(Value first, Value end) {
  unsigned lanes = target.lanes;
  int64_t query = type.getQuery(), key = type.getKey();
  Type vector = code.vectorType(lanes, code.getF32Type());
  Value undefined = code.splat(code.f32(std::numeric_limits<double>::quiet_NaN()), lanes);
  auto repeat = [&](Value value) { return code.splat(value, lanes); };
  Value start = tileStart(code, item), firstExisting = firstRow(code, item);
  Value lastExisting = code.sub(endRow(code, item), code.index(1));
  bool all = op.getVisible() == tile::Visible::All;
  code.loop(first, end, 1, [&](Value column) {
    Value firstKey = code.mul(column, code.index(key));
    Value lastKey =
        code.sub(code.min(code.add(firstKey, code.index(key)), item.getKvLen()), code.index(1));
    code.loop(code.roundDown(rowsBegin, lanes), rowsEnd, lanes, [&](Value row) {
      Value cells = code.add(repeat(row), code.laneNumbers(lanes));
      Value position = code.add(repeat(start), code.mul(cells, repeat(code.index(query))));
      Value lastPosition = code.add(position, repeat(code.index(query - 1)));
      Value seen =
          all ? code.lessOrEqual(repeat(lastKey), code.max(position, repeat(firstExisting)))
              : code.lessOrEqual(repeat(firstKey), code.min(lastPosition, repeat(lastExisting)));
      Value address = panelCell(code, data, type, column, row);
      code.store(code.select(seen, code.load(vector, address), undefined), address);
    });
  });
}

void DotPanelLowering::clearColumns(Value first, Value end) {
  unsigned lanes = target.lanes;
  Value undefined = code.splat(code.f32(std::numeric_limits<double>::quiet_NaN()), lanes);
  code.loop(first, end, 1, [&](Value column) {
    code.loop(code.roundDown(rowsBegin, lanes), rowsEnd, lanes,
              [&](Value row) { code.store(undefined, panelCell(code, data, type, column, row)); });
  });
}

LogicalResult DotPanelLowering::run() {
  FailureOr<tile::ItemRecordOp> record = itemRecord(op, op.getItem());
  if (failed(record))
    return failure();
  item = *record;
  FailureOr<Value> scratch = scratchOf(op, item, op.getScratch(), 4);
  if (failed(scratch))
    return failure();
  data = *scratch;
  rows = panelData(code, op.getRows());
  keys = allocateInFrame(
      op, layout.keys(tile::SharedType::get(op.getContext(), keysOfTile, rowsType.getElements(),
                                            code.getF32Type())));
  rowsBegin = rowCellsBegin(code, item, type);
  rowsEnd = rowCellsEnd(code, item, type);
  findColumns();
  code.loop(code.index(0), seenBySome, keysOfTile, [&](Value first) {
    Value count = code.min(code.index(keysOfTile), code.sub(seenBySome, first));
    loadKeys(first, count);
    multiply(first, count);
  });
  hideCells(seenByAll, seenBySome);
  clearColumns(seenBySome, columns);
  replacePanel(code, op.getPanel(), data);
  op.erase();
  return success();
}

namespace {

struct LowerDotPanelPass : skim::cpu::impl::LowerDotPanelBase<LowerDotPanelPass> {
  using LowerDotPanelBase::LowerDotPanelBase;

  void runOnOperation() override {
    if (failed(lowerOperations<tile::DotPanelOp>(
            *this, getOperation(), target,
            [](auto op, const Target &cpu) { return DotPanelLowering(op, cpu).run(); })))
      signalPassFailure();
  }
};

} // namespace
