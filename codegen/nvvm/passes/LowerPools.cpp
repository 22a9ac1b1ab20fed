// Block means to kernels in which a warp takes a block.
#include "codegen/cpu/CellAccess.h"
#include "codegen/cpu/Elements.h"
#include "codegen/cpu/RowAccess.h"
#include "codegen/nvvm/Batches.h"
#include "codegen/nvvm/KernelFunction.h"
#include "codegen/nvvm/Passes.h"
#include "dialect/Tile/PackedHeads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace skim::nvvm {
#define GEN_PASS_DEF_LOWERPOOLS
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

namespace {

constexpr int64_t kLanes = 32;
/// Columns that a lane loads at once.
constexpr int64_t kColumns = 2;

/// Writes what a warp does for one `tile.pool`: lane l has the pairs of columns l, l + 32, ...
class PoolWriter {
public:
  PoolWriter(Device &device, tile::PoolOp op, tile::ItemRecordOp item)
      : device(device), op(op), item(item) {
    cpu::KernelInfo info = cpu::kernelInfo(item);
    bool isKeys = op.getOperand() == tile::Operand::Keys;
    element = info.problem.getOperand();
    pairs = (isKeys ? info.problem.getHeadDim() : info.problem.getValueDim()) / kColumns;
    block = info.schedule.getKeys();
  }

  void write() {
    createSums();
    Value zero = arith::ConstantOp::create(device, device.getF64FloatAttr(0));
    for (Value sum : sums)
      device.set(sum, zero);
    Value first = device.mul(item.getTile(), device.index(block));
    Value count = device.min(device.index(block), device.sub(item.getKvLen(), first));
    cpu::forEachTokenRow(device, item, op.getOperand(), first, count,
                         [&](Value, Value address) { addRow(address); });
    storeMeans(count);
  }

private:
  /// Variables, promoted to registers later.
  void createSums() {
    OpBuilder::InsertionGuard guard(device);
    device.setInsertionPointToStart(&device.kernel.getBody().front());
    for (int64_t i = 0; i < (pairs + kLanes - 1) / kLanes * kColumns; ++i)
      sums.push_back(
          LLVM::AllocaOp::create(device, device.pointerType(), device.getF64Type(), device.i32(1)));
  }

  /// Of pair `step` of the lane; the last one where there are fewer.
  Value offsetOfPair(int64_t step) {
    Value pair = device.add(device.lane(), device.i32(step * kLanes));
    if ((step + 1) * kLanes > pairs)
      pair = device.min(pair, device.i32(pairs - 1));
    return device.mul(device.toIndex(pair), device.index(kColumns * cpu::elementBytes(element)));
  }

  void addRow(Value address) {
    Type pair = VectorType::get({kColumns}, element);
    for (size_t i = 0; i < sums.size(); i += kColumns) {
      auto step = static_cast<int64_t>(i / kColumns);
      Value loaded = device.load(pair, device.offset(address, offsetOfPair(step)));
      for (size_t column = 0; column < kColumns; ++column) {
        Value value = LLVM::ExtractElementOp::create(device, loaded,
                                                     device.i32(static_cast<int64_t>(column)));
        if (!element.isF32())
          value = arith::ExtFOp::create(device, device.getF32Type(), value);
        Value wide = arith::ExtFOp::create(device, device.getF64Type(), value);
        Value sum = device.get(sums[i + column], device.getF64Type());
        device.set(sums[i + column], arith::AddFOp::create(device, sum, wide));
      }
    }
  }

  void storeMeans(Value count) {
    cpu::CellRow row = cpu::cellRow(device, item, tile::Space::Buffer, op.getSlot(),
                                    tile::HeadKind::Kv, {}, cpu::elementBytes(element));
    Value cell = device.mul(item.getTile(),
                            device.mul(row.stride, device.index(cpu::elementBytes(element))));
    Value address = device.offset(row.address, cell);
    Value number = arith::SIToFPOp::create(device, device.getF64Type(), device.toI32(count));
    for (size_t i = 0; i < sums.size(); i += kColumns) {
      auto step = static_cast<int64_t>(i / kColumns);
      Value means = LLVM::PoisonOp::create(device, VectorType::get({kColumns}, element));
      for (size_t column = 0; column < kColumns; ++column) {
        Value sum = device.get(sums[i + column], device.getF64Type());
        Value mean = arith::TruncFOp::create(device, device.getF32Type(),
                                             arith::DivFOp::create(device, sum, number));
        if (!element.isF32())
          mean = arith::TruncFOp::create(device, element, mean);
        means = LLVM::InsertElementOp::create(device, means, mean,
                                              device.i32(static_cast<int64_t>(column)));
      }
      Value exists = device.less(device.lane(), device.i32(pairs - step * kLanes));
      device.ifThen(exists,
                    [&] { device.store(means, device.offset(address, offsetOfPair(step))); });
    }
  }

  Device &device;
  tile::PoolOp op;
  tile::ItemRecordOp item;
  Type element;
  int64_t pairs, block;
  SmallVector<Value> sums; ///< of the lane's columns
};

} // namespace

static tile::ItemRecordOp createRecord(Device &device, Value arguments, const ItemFields &item,
                                       int64_t block) {
  cpu::KernelInfo info = cpu::kernelInfo(&device.kernel.getBody().front().front());
  // Items name the first query head of theirs.
  Value kvHead = device.floorDiv(device.toIndex(item.head),
                                 tile::headsOfTile(info.problem, info.items.getHead()));
  Value zero = device.index(0), tile = device.toIndex(item.tile);
  Value kvLen = device.toIndex(item.kvLen), first = device.mul(tile, device.index(block));
  return tile::ItemRecordOp::create(
      device, device.getType<tile::ItemType>(), arguments, device.toIndex(item.request), zero,
      kvHead, cpu::loadArgument(device, arguments, cpu::Argument::Layer), tile,
      device.toIndex(item.qLen), kvLen, zero, zero, /*tile_rows=*/0, first,
      device.min(device.add(first, device.index(block)), kvLen), device.toIndex(item.firstToken),
      arguments);
}

static LogicalResult lowerProgram(tile::ProgramOp program) {
  auto source = cast<tile::ForEachWorkItemOp>(program.getBody().front().front());
  for (Operation &op : source.getBody().front())
    if (!isa<tile::PoolOp>(op))
      return op.emitOpError() << "sm_90a: cannot stand beside 'tile.pool'";
  createWarpKernel(program, [&](Device &device, Value arguments, Value items, Value ordinal) {
    ItemFields item = readItem(device, arguments, items, ordinal);
    tile::ItemRecordOp record =
        createRecord(device, arguments, item, program.getSchedule().getKeys());
    for (auto pool : source.getBody().getOps<tile::PoolOp>())
      PoolWriter(device, pool, record).write();
    record.erase();
  });
  program.erase();
  return success();
}

namespace {

struct LowerPoolsPass : skim::nvvm::impl::LowerPoolsBase<LowerPoolsPass> {
  void runOnOperation() override {
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<tile::ProgramOp>()))
      if (isPooling(program) && failed(lowerProgram(program)))
        return signalPassFailure();
  }
};

} // namespace
