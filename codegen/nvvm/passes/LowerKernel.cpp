// Kernels to functions whose warps branch to their roles.
#include "codegen/cpu/Items.h"
#include "codegen/cpu/KernelArguments.h"
#include "codegen/nvvm/Batches.h"
#include "codegen/nvvm/KernelFunction.h"
#include "codegen/nvvm/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace skim::nvvm {
#define GEN_PASS_DEF_LOWERKERNEL
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;
using hopper::Role;

namespace {

constexpr int64_t kThreadsOfGroup = 128;

class KernelLowering {
public:
  explicit KernelLowering(hopper::KernelOp kernel)
      : kernel(kernel), layout(kernel.getProblem(), kernel.getSchedule()),
        device(Device::before(kernel)) {}

  LogicalResult run();

private:
  LLVM::LLVMFuncOp createFunction();
  void initializeBarriers();
  LogicalResult lowerScheduler();
  LogicalResult lowerLoader(Role role);
  LogicalResult lowerConsumer();
  /// Moves the body of a role here, for `item`.
  LogicalResult inlineRole(Role role, const ItemFields &item);
  Value loadKeyNorm(const ItemFields &item, int64_t buffer);
  /// Loops while `head` gives a true value.
  LogicalResult repeat(llvm::function_ref<Value()> head, llvm::function_ref<LogicalResult()> body);

  hopper::KernelOp kernel;
  SharedLayout layout;
  Device device;
  Value arguments, items, itemCount, nextItem;
};

} // namespace

LLVM::LLVMFuncOp KernelLowering::createFunction() {
  LLVM::LLVMFuncOp function = createKernelFunction(
      device, kernel.getSymName(), kThreadsOfGroup * (1 + kernel.getSchedule().getConsumers()));
  cpu::setKernelInfo(function, {kernel.getProblem(), kernel.getSchedule(), kernel.getItems()});
  function->setAttr(kPageSizeAttr, kernel.getPageSizeAttr());
  return function;
}

void KernelLowering::initializeBarriers() {
  int64_t consumerWarps = 4 * kernel.getSchedule().getConsumers();
  int64_t loaders = kernel.getRole(Role::ValueLoader) ? 2 : 1;
  device.ifThen(device.equal(device.thread(), device.i32(0)), [&] {
    auto initialize = [&](int64_t offset, int64_t arrivals) {
      NVVM::MBarrierInitOp::create(device, device.shared(offset), device.i32(arrivals), Value());
    };
    for (const Ring *ring : {&layout.queries, &layout.keys, &layout.values, &layout.batches})
      for (int64_t slot = 0; slot < ring->slots; ++slot) {
        initialize(ring->barriers + 16 * slot, 1);
        initialize(ring->barriers + 16 * slot + 8,
                   ring == &layout.batches ? loaders : consumerWarps);
      }
    initialize(layout.tail, 1);
    NVVM::FenceMbarrierInitOp::create(device);
  });
  NVVM::Barrier0Op::create(device);
}

LogicalResult KernelLowering::repeat(llvm::function_ref<Value()> head,
                                     llvm::function_ref<LogicalResult()> body) {
  OpBuilder::InsertionGuard guard(device);
  auto walk = scf::WhileOp::create(device, TypeRange(), ValueRange());
  device.createBlock(&walk.getBefore());
  Value goesOn = head();
  scf::ConditionOp::create(device, goesOn, ValueRange());
  device.createBlock(&walk.getAfter());
  LogicalResult result = body();
  scf::YieldOp::create(device);
  return result;
}

Value KernelLowering::loadKeyNorm(const ItemFields &item, int64_t buffer) {
  cpu::BufferView norms = cpu::loadBuffer(device, arguments, tile::Space::Buffer, buffer);
  Value cell = device.add(device.mul(device.toIndex(item.request), norms.strides[0]),
                          device.mul(kvHeadOf(device, item), norms.strides[1]));
  return device.load(device.getI32Type(),
                     device.offset(norms.data, device.mul(cell, device.index(4))));
}

LogicalResult KernelLowering::inlineRole(Role role, const ItemFields &item) {
  tile::ItemRecordOp record = createItemRecord(device, arguments, item);
  hopper::RoleOp source = kernel.getRole(role);
  source.getItem().replaceAllUsesWith(record);
  Block *block = device.getInsertionBlock();
  block->getOperations().splice(device.getInsertionPoint(),
                                source.getBody().front().getOperations());
  cpu::lowerItemUsers(record);
  return cpu::evaluateItemScalars(*block);
}

LogicalResult KernelLowering::lowerScheduler() {
  Value taken = frame(device, Frame::Taken);
  LogicalResult result = repeat(
      [&] {
        // Loaded for each item: the search needs its register.
        Value total = device.load(device.getI32Type(), itemCount);
        device.set(taken, device.i32(0));
        device.ifThen(device.isLane(0), [&] {
          device.set(taken,
                     LLVM::AtomicRMWOp::create(device, LLVM::AtomicBinOp::add, nextItem,
                                               device.i32(1), LLVM::AtomicOrdering::monotonic));
        });
        device.set(taken, device.broadcast(device.getI32(taken)));
        return device.less(device.getI32(taken), total);
      },
      [&] {
        ItemFields item = readItem(device, arguments, items, device.getI32(taken));
        if (std::optional<uint64_t> norms = kernel.getKeyNorms())
          item.keyNorm = loadKeyNorm(item, static_cast<int64_t>(*norms));
        beginBatches(device, layout, item);
        LogicalResult inlined = inlineRole(Role::Scheduler, item);
        publishBatch(device, layout, kLastOfItem);
        return inlined;
      });
  beginBatch(device, layout);
  publishBatch(device, layout, kLastOfAll);
  return result;
}

LogicalResult KernelLowering::lowerLoader(Role role) {
  LogicalResult result = repeat(
      [&] {
        Value flags = awaitBatch(device, layout);
        return device.equal(device.bitAnd(flags, kLastOfAll), device.i32(0));
      },
      [&] {
        ItemFields item = batchItem(device, layout);
        device.set(frame(device, Frame::KeyToken), item.firstKeyToken);
        LogicalResult inlined = inlineRole(role, item);
        Value number = frame(device, Frame::Item);
        device.set(number, device.add(device.getI32(number), device.i32(1)));
        return inlined;
      });
  if (role == Role::Loader)
    endItems(device, layout);
  return result;
}

LogicalResult KernelLowering::lowerConsumer() {
  return repeat(
      [&] {
        Value number = device.getI32(frame(device, Frame::Item));
        device.waitFilled(layout.queries, number);
        return device.lessOrEqual(device.i32(0), loadItem(device, layout, number).request);
      },
      [&] {
        Value number = frame(device, Frame::Item);
        LogicalResult inlined =
            inlineRole(Role::Consumer, loadItem(device, layout, device.getI32(number)));
        device.set(number, device.add(device.getI32(number), device.i32(1)));
        return inlined;
      });
}

LogicalResult KernelLowering::run() {
  LLVM::LLVMFuncOp function = createFunction();
  device.setInsertionPointToStart(function.addEntryBlock(device));
  arguments = function.getArgument(0);
  items = function.getArgument(1);
  itemCount = function.getArgument(2);
  nextItem = function.getArgument(3);
  createFrame(device);
  initializeBarriers();
  // The same for all lanes, which the compiler sees when it comes from a shuffle.
  Value warp = device.broadcast(device.shiftRight(device.thread(), 5));
  device.set(frame(device, Frame::Warp), warp);
  Value scale = cpu::loadArgument(device, arguments, cpu::Argument::SoftmaxScale);
  device.set(frame(device, Frame::Scale),
             arith::TruncFOp::create(device, device.getF32Type(), scale));
  LogicalResult lowered = success();
  auto also = [&](LogicalResult result) {
    lowered = success(succeeded(lowered) && succeeded(result));
  };
  device.ifElse(
      device.less(warp, device.i32(4)),
      [&] {
        NVVM::SetMaxRegisterOp::create(
            device, static_cast<int32_t>(kernel.getSchedule().getProducerRegisters()),
            NVVM::SetMaxRegisterAction::decrease);
        device.ifThen(device.equal(warp, device.i32(0)), [&] { also(lowerScheduler()); });
        device.ifThen(device.equal(warp, device.i32(1)), [&] { also(lowerLoader(Role::Loader)); });
        if (kernel.getRole(Role::ValueLoader))
          device.ifThen(device.equal(warp, device.i32(2)),
                        [&] { also(lowerLoader(Role::ValueLoader)); });
      },
      [&] {
        NVVM::SetMaxRegisterOp::create(
            device, static_cast<int32_t>(kernel.getSchedule().getConsumerRegisters()),
            NVVM::SetMaxRegisterAction::increase);
        also(lowerConsumer());
      });
  LLVM::ReturnOp::create(device, ValueRange());
  kernel.erase();
  return lowered;
}

namespace {

struct LowerKernelPass : skim::nvvm::impl::LowerKernelBase<LowerKernelPass> {
  void runOnOperation() override {
    auto kernels = llvm::to_vector(getOperation().getOps<hopper::KernelOp>());
    if (!kernels.empty())
      declareSharedMemory(getOperation());
    for (hopper::KernelOp kernel : kernels)
      if (failed(KernelLowering(kernel).run()))
        return signalPassFailure();
  }
};

} // namespace
