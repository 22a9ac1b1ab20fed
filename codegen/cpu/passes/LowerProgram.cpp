// Programs to functions over arrays of work items.
#include "codegen/cpu/Items.h"
#include "codegen/cpu/KernelArguments.h"
#include "codegen/cpu/Passes.h"
#include "dialect/Tile/PackedHeads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace skim::cpu {
#define GEN_PASS_DEF_LOWERPROGRAM
#include "codegen/cpu/Passes.h.inc"
} // namespace skim::cpu

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

/// Loads what item `ordinal` consists of.
static tile::ItemRecordOp loadItem(Code &code, const KernelInfo &info, Value arguments, Value items,
                                   Value ordinal, Value statistics) {
  WorkItem item = loadWorkItem(code, items, ordinal);
  Value zero = code.index(0);
  Value head = zero, kvHead = zero;
  if (info.items.getHead() == tile::HeadKind::Query) {
    head = item.head;
    kvHead = code.floorDiv(head, info.problem.getQueryHeads() / info.problem.getKvHeads());
  } else if (info.items.getHead() == tile::HeadKind::Kv) {
    kvHead = item.head;
  }

  auto entry = [&](Argument array, Value position) {
    Value address = loadArgument(code, arguments, array);
    return code.loadIndex(32, code.offset(address, code.mul(position, code.index(4))));
  };
  Value firstToken = entry(Argument::CuSeqlensQ, item.request);
  Value endToken = entry(Argument::CuSeqlensQ, code.add(item.request, code.index(1)));
  Value kvLen = entry(Argument::KvLens, item.request);
  Value qLen = code.sub(endToken, firstToken);

  Value rowsBegin = zero, rowsEnd = zero, keysBegin = zero, keysEnd = kvLen;
  int64_t tileRows = 0;
  if (info.items.getAxis() == tile::ItemAxis::Queries) {
    tileRows = info.schedule.getRows();
    Value rows = code.index(tileRows);
    Value start = code.mul(item.tile, rows);
    rowsBegin = code.max(code.sub(code.sub(kvLen, qLen), start), zero);
    rowsEnd = code.min(code.sub(kvLen, start), rows);
  } else if (info.items.getAxis() == tile::ItemAxis::Keys) {
    Value keys = code.index(info.schedule.getKeys());
    keysBegin = code.mul(item.tile, keys);
    keysEnd = code.min(code.add(keysBegin, keys), kvLen);
  }
  return tile::ItemRecordOp::create(code, code.getType<tile::ItemType>(), arguments, item.request,
                                    head, kvHead, loadArgument(code, arguments, Argument::Layer),
                                    item.tile, qLen, kvLen, rowsBegin, rowsEnd, tileRows, keysBegin,
                                    keysEnd, firstToken, statistics);
}

/// Adds the item's counters to the caller's array, where there is one.
static void storeStatistics(Code &code, Value arguments, Value ordinal, Value counters) {
  Value array = loadArgument(code, arguments, Argument::Statistics);
  code.ifThen(code.notNull(array), [&] {
    Value address = statisticsAddress(code, array, ordinal);
    for (int64_t counter = 0; counter < 4; ++counter)
      code.store(code.loadScalar(counters, code.index(counter)), code.offset(address, 8 * counter));
  });
}

static LogicalResult lowerProgram(tile::ProgramOp program) {
  KernelInfo info{program.getProblem(), program.getSchedule(), program.getItems()};
  auto body = cast<tile::ForEachWorkItemOp>(program.getBody().front().front());
  if (tile::headsOfTile(info.problem, info.items.getHead()) != 1)
    for (auto load : body.getBody().getOps<tile::LoadQueriesOp>())
      return load.emitError() << "tiles of several query heads are not compiled for this target";
  Code code = Code::before(program);
  Type pointer = code.pointerType(), i64 = code.getI64Type();
  auto function = func::FuncOp::create(code, program.getSymName(),
                                       code.getFunctionType({pointer, pointer, i64, i64, i64}, {}));
  setKernelInfo(function, info);
  code.setInsertionPointToStart(function.addEntryBlock());
  Value arguments = function.getArgument(0), items = function.getArgument(1);
  Value first = arith::IndexCastOp::create(code, code.getIndexType(), function.getArgument(2));
  Value count = arith::IndexCastOp::create(code, code.getIndexType(), function.getArgument(3));
  Value counters = allocateInFrame(function, MemRefType::get({4}, i64));

  LogicalResult evaluated = success();
  code.loop(first, code.add(first, count), 1, [&](Value ordinal) {
    Value zero = arith::ConstantOp::create(code, code.getI64IntegerAttr(0));
    for (int64_t counter = 0; counter < 4; ++counter)
      code.storeScalar(zero, counters, code.index(counter));
    tile::ItemRecordOp item = loadItem(code, info, arguments, items, ordinal, counters);
    body.getItem().replaceAllUsesWith(item);
    Block *block = code.getInsertionBlock();
    block->getOperations().splice(code.getInsertionPoint(), body.getBody().front().getOperations());
    storeStatistics(code, arguments, ordinal, counters);
    lowerItemUsers(item);
    evaluated = evaluateItemScalars(*block);
  });
  func::ReturnOp::create(code);
  program.erase();
  return evaluated;
}

namespace {

struct LowerProgramPass : skim::cpu::impl::LowerProgramBase<LowerProgramPass> {
  void runOnOperation() override {
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<tile::ProgramOp>()))
      if (failed(lowerProgram(program)))
        return signalPassFailure();
  }
};

} // namespace
