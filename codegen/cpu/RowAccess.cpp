#include "codegen/cpu/RowAccess.h"

#include "codegen/cpu/Elements.h"
#include "codegen/cpu/KernelArguments.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

namespace {

/// What does not change within an item.
struct Rows {
  Value head;       ///< address of the KV head's element 0 of page 0
  Value pageBytes;  ///< from page to page
  Value tokenBytes; ///< from token to token
  Value paged;
  Value table; ///< the request's row of the block table
  Value pageSize;
  Value firstSlot; ///< of the request, where not paged
};

} // namespace

static Rows loadRows(tile::ItemRecordOp item, tile::Operand operand) {
  Code code = Code::after(item);
  Value arguments = item.getArguments();
  bool keys = operand == tile::Operand::Keys;
  Value bytes = code.index(elementBytes(kernelInfo(item).problem.getOperand()));
  auto stride = [&](Argument ofKeys, Argument ofValues) {
    return code.mul(loadArgument(code, arguments, keys ? ofKeys : ofValues), bytes);
  };
  Rows rows;
  Value data = loadArgument(code, arguments, keys ? Argument::KeyData : Argument::ValueData);
  Value headBytes = stride(Argument::KeyHeadStride, Argument::ValueHeadStride);
  rows.head = code.offset(data, code.mul(item.getKvHead(), headBytes));
  rows.pageBytes = stride(Argument::KeyPageStride, Argument::ValuePageStride);
  rows.tokenBytes = stride(Argument::KeyTokenStride, Argument::ValueTokenStride);
  Value table = loadArgument(code, arguments, Argument::BlockTable);
  rows.paged = code.notNull(table);
  Value entries =
      code.mul(item.getRequest(), loadArgument(code, arguments, Argument::BlockTableStride));
  rows.table = code.offset(table, code.mul(entries, code.index(4)));
  rows.pageSize = loadArgument(code, arguments, Argument::PageSize);
  rows.firstSlot = code.choose(
      rows.paged, [&]() -> Code::Values { return {code.index(0)}; },
      [&]() -> Code::Values {
        Value starts = loadArgument(code, arguments, Argument::CuSeqlensKv);
        return {
            code.loadIndex(32, code.offset(starts, code.mul(item.getRequest(), code.index(4))))};
      })[0];
  return rows;
}

void skim::cpu::forEachTokenRow(Code &code, tile::ItemRecordOp item, tile::Operand operand,
                                Value first, Value count,
                                function_ref<void(Value j, Value address)> body) {
  Rows rows = loadRows(item, operand);
  auto runs = scf::WhileOp::create(code, TypeRange(code.getIndexType()), ValueRange(code.index(0)));
  OpBuilder::InsertionGuard guard(code);
  Block *condition = code.createBlock(&runs.getBefore(), {}, code.getIndexType(), code.getLoc());
  Value done = condition->getArgument(0);
  scf::ConditionOp::create(code, code.less(done, count), done);

  Block *block = code.createBlock(&runs.getAfter(), {}, code.getIndexType(), code.getLoc());
  Value start = block->getArgument(0);
  Value token = code.add(first, start), left = code.sub(count, start);
  Code::Values run = code.choose(
      rows.paged,
      [&]() -> Code::Values {
        Value entry = code.floorDiv(token, rows.pageSize);
        Value slot = code.sub(token, code.mul(entry, rows.pageSize));
        Value page = code.loadIndex(32, code.offset(rows.table, code.mul(entry, code.index(4))));
        Value bytes = code.add(code.mul(page, rows.pageBytes), code.mul(slot, rows.tokenBytes));
        return {bytes, code.min(code.sub(rows.pageSize, slot), left)};
      },
      [&]() -> Code::Values {
        return {code.mul(code.add(rows.firstSlot, token), rows.tokenBytes), left};
      });
  Value address = code.offset(rows.head, run[0]);
  code.loop(code.index(0), run[1], 1, [&](Value i) {
    body(code.add(start, i), code.offset(address, code.mul(i, rows.tokenBytes)));
  });
  scf::YieldOp::create(code, code.add(start, run[1]));
}

Value skim::cpu::tokenAddress(Code &code, tile::ItemRecordOp item, tile::Operand operand,
                              Value token) {
  Rows rows = loadRows(item, operand);
  Code::Values bytes = code.choose(
      rows.paged,
      [&]() -> Code::Values {
        Value entry = code.floorDiv(token, rows.pageSize);
        Value slot = code.sub(token, code.mul(entry, rows.pageSize));
        Value page = code.loadIndex(32, code.offset(rows.table, code.mul(entry, code.index(4))));
        return {code.add(code.mul(page, rows.pageBytes), code.mul(slot, rows.tokenBytes))};
      },
      [&]() -> Code::Values {
        return {code.mul(code.add(rows.firstSlot, token), rows.tokenBytes)};
      });
  return code.offset(rows.head, bytes[0]);
}

Value skim::cpu::queryAddress(Code &code, tile::ItemRecordOp item, Value position) {
  Code start = Code::after(item);
  Value arguments = item.getArguments();
  Value bytes = start.index(elementBytes(kernelInfo(item).problem.getOperand()));
  Value tokenBytes = start.mul(loadArgument(start, arguments, Argument::QueryTokenStride), bytes);
  Value headBytes = start.mul(loadArgument(start, arguments, Argument::QueryHeadStride), bytes);
  Value data = start.offset(loadArgument(start, arguments, Argument::QueryData),
                            start.mul(item.getHead(), headBytes));
  // Row 0 of the request has position base.
  Value first = start.sub(item.getFirstToken(), start.sub(item.getKvLen(), item.getQLen()));
  return code.offset(data, code.mul(code.add(first, position), tokenBytes));
}

void skim::cpu::forEachColumn(Code &code, int64_t columns, unsigned lanes,
                              function_ref<void(Value column, unsigned lanes)> body) {
  int64_t whole = columns / lanes * lanes;
  if (whole > 0)
    code.loop(code.index(0), code.index(whole), lanes, [&](Value column) { body(column, lanes); });
  if (whole < columns)
    code.loop(code.index(whole), code.index(columns), 1, [&](Value column) { body(column, 1); });
}

void skim::cpu::copyRow(Code &code, const Target &target, Type element, Value address, Value tile,
                        Value row, int64_t columns) {
  Value bytes = code.index(elementBytes(element));
  forEachColumn(code, columns, target.lanes, [&](Value column, unsigned lanes) {
    Value values =
        loadElements(code, target, element, code.offset(address, code.mul(column, bytes)), lanes);
    if (lanes == 1)
      code.storeScalar(values, tile, {row, column});
    else
      code.storeVector(values, tile, {row, column});
  });
}
