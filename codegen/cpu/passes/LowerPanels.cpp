// Queries, smoothed rows and selections of panels.
#include "codegen/cpu/Accumulator.h"
#include "codegen/cpu/Items.h"
#include "codegen/cpu/Layout.h"
#include "codegen/cpu/PanelAccess.h"
#include "codegen/cpu/QueryTile.h"
#include "codegen/cpu/RuntimeCalls.h"
#include "codegen/cpu/TargetPass.h"
#include "dialect/Tile/PanelLayout.h"

#include <limits>

namespace skim::cpu {
#define GEN_PASS_DEF_LOWERPANELS
#include "codegen/cpu/Passes.h.inc"
} // namespace skim::cpu

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

/// Row cells and columns of a panel that is being made.
namespace {
struct Opened {
  tile::ItemRecordOp item;
  Value data;
  Value rowsBegin, rowsEnd; ///< row cells with existing positions
  Value columns;
};
} // namespace

template <typename Op> static FailureOr<Opened> open(Code &code, Op op) {
  FailureOr<tile::ItemRecordOp> item = itemRecord(op, op.getItem());
  if (failed(item))
    return failure();
  tile::PanelType type = op.getPanel().getType();
  FailureOr<Value> data = scratchOf(op, *item, op.getScratch(), panelElementBytes(type));
  if (failed(data))
    return failure();
  return Opened{*item, *data, rowCellsBegin(code, *item, type), rowCellsEnd(code, *item, type),
                columnsOf(code, *item, type)};
}

static LogicalResult lower(tile::LoadPanelOp op, const Target &target) {
  Code code = Code::before(op);
  FailureOr<Opened> panel = open(code, op);
  if (failed(panel))
    return failure();
  tile::PanelType type = op.getPanel().getType();
  // Products run over whole blocks of rows.
  int64_t block = Layout(target).rowBlock();
  transposeQueries(code, target, panel->item, code.roundDown(panel->rowsBegin, block),
                   code.roundUp(panel->rowsEnd, block),
                   [&](Value values, Value element, Value row) {
                     code.store(values, panelCell(code, panel->data, type, element, row));
                   });
  replacePanel(code, op.getPanel(), panel->data);
  op.erase();
  return success();
}

static LogicalResult lower(tile::SmoothPanelOp op, const Target &target) {
  Code code = Code::before(op);
  FailureOr<Opened> panel = open(code, op);
  if (failed(panel))
    return failure();
  tile::PanelType type = op.getPanel().getType();
  unsigned lanes = target.lanes;
  Type vector = code.vectorType(lanes, code.getF32Type());
  Value input = panelData(code, op.getInput());
  Value half = code.floorDiv(op.getWidth(), 2);
  Value odd = code.equal(code.sub(op.getWidth(), code.mul(half, code.index(2))), code.index(1));
  Value centred = code.logicalAnd(odd, code.less(code.index(0), op.getWidth()));
  Value undefined = code.splat(code.f32(std::numeric_limits<double>::quiet_NaN()), lanes);
  Accumulator mean(code, tile::Reduction::Mean, code.getF32Type());
  code.loop(code.roundDown(panel->rowsBegin, lanes), panel->rowsEnd, lanes, [&](Value row) {
    auto load = [&](Value column) {
      return code.load(vector, panelCell(code, input, type, column, row));
    };
    code.loop(code.index(0), panel->columns, 1, [&](Value column) {
      Value first = code.max(code.sub(column, half), code.index(0));
      Value end = code.min(code.add(code.add(column, half), code.index(1)), panel->columns);
      Code::Values total =
          code.loop(code.select(centred, first, end), end, 1, mean.identity(lanes),
                    [&](Value at, ValueRange carried) { return mean.combine(carried, load(at)); });
      Value here = load(column);
      Value defined = arith::CmpFOp::create(code, arith::CmpFPredicate::ORD, here, here);
      code.store(code.select(defined, mean.finish(total), undefined),
                 panelCell(code, panel->data, type, column, row));
    });
  });
  replacePanel(code, op.getPanel(), panel->data);
  op.erase();
  return success();
}

static void clearBytes(Code &code, Value data, tile::PanelType type, Value columns) {
  constexpr unsigned chunk = 64;
  Value zeros = arith::ConstantOp::create(
      code, cast<TypedAttr>(code.getZeroAttr(code.vectorType(chunk, code.getIntegerType(8)))));
  code.loop(code.index(0), code.mul(columns, code.index(tile::paddedRows(type))), chunk,
            [&](Value cell) { code.store(zeros, code.offset(data, cell)); });
}

/// Stores 1 at `cellOf(column)` for each of the bytes that is not 0. Few are: eight are passed over
/// at once.
static void scatterSelected(Code &code, Value bytes, Value columns,
                            function_ref<Value(Value column)> cellOf) {
  Type byte = code.getIntegerType(8), i64 = code.getI64Type();
  Value one = arith::ConstantOp::create(code, code.getI8IntegerAttr(1));
  auto scatter = [&](Value begin, Value end) {
    code.loop(begin, end, 1, [&](Value column) {
      Value selected = code.load(byte, code.offset(bytes, column));
      Value zero = arith::ConstantOp::create(code, code.getI8IntegerAttr(0));
      Value taken = arith::CmpIOp::create(code, arith::CmpIPredicate::ne, selected, zero);
      code.ifThen(taken, [&] { code.store(one, cellOf(column)); });
    });
  };
  Value whole = code.roundDown(columns, 8);
  code.loop(code.index(0), whole, 8, [&](Value column) {
    Value word = LLVM::LoadOp::create(code, i64, code.offset(bytes, column), 1);
    Value zero = arith::ConstantOp::create(code, code.getI64IntegerAttr(0));
    Value any = arith::CmpIOp::create(code, arith::CmpIPredicate::ne, word, zero);
    code.ifThen(any, [&] { scatter(column, code.add(column, code.index(8))); });
  });
  scatter(whole, columns);
}

static LogicalResult lower(tile::SelectPanelOp op, const Target &target) {
  Code code = Code::before(op);
  FailureOr<Opened> panel = open(code, op);
  if (failed(panel))
    return failure();
  FailureOr<Value> scores = scratchOf(op, panel->item, op.getRow(), 4);
  if (failed(scores))
    return failure();
  tile::PanelType type = op.getPanel().getType();
  Value columns = panel->columns, key = code.index(type.getKey());
  // Behind the scores lie the bytes that are selected, and behind these the order.
  Value scoreBytes = code.mul(columns, code.index(4));
  Value bytes = code.offset(*scores, scoreBytes), order = code.offset(bytes, scoreBytes);
  Value start = tileStart(code, panel->item), first = firstRow(code, panel->item);
  clearBytes(code, panel->data, type, columns);
  LogicalResult result = success();
  code.loop(panel->rowsBegin, panel->rowsEnd, 1, [&](Value row) {
    Value position = code.max(first, code.add(start, code.mul(row, code.index(type.getQuery()))));
    // Vectors of columns, of which the last are single ones.
    auto fill = [&](Value begin, Value end, unsigned lanes) {
      code.loop(begin, end, lanes, [&](Value column) {
        Value keys = code.mul(column, key);
        if (lanes > 1)
          keys = code.add(code.splat(keys, lanes),
                          code.mul(code.laneNumbers(lanes), code.splat(key, lanes)));
        RegionEvaluator evaluator(code, lanes, &target);
        Code::Values values;
        result = evaluator.evaluate(op.getBody(), {position, keys}, values);
        if (failed(result))
          return;
        Value score = lanes > 1 ? evaluator.toLanes(values.front()) : values.front();
        code.store(score, code.offset(*scores, code.mul(column, code.index(4))));
      });
    };
    Value whole = code.roundDown(columns, target.lanes);
    fill(code.index(0), whole, target.lanes);
    if (succeeded(result))
      fill(whole, columns, 1);
    callSelection(code, op, op.getKind(), {*scores, columns, op.getAmount(), bytes, order});
    scatterSelected(code, bytes, columns,
                    [&](Value column) { return panelCell(code, panel->data, type, column, row); });
  });
  replacePanel(code, op.getPanel(), panel->data);
  op.erase();
  return result;
}

namespace {

struct LowerPanelsPass : skim::cpu::impl::LowerPanelsBase<LowerPanelsPass> {
  using LowerPanelsBase::LowerPanelsBase;

  void runOnOperation() override {
    if (failed(lowerOperations<tile::LoadPanelOp, tile::SmoothPanelOp, tile::SelectPanelOp>(
            *this, getOperation(), target,
            [](auto op, const Target &cpu) { return lower(op, cpu); })))
      signalPassFailure();
  }
};

} // namespace
