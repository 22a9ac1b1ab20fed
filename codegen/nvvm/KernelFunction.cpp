#include "codegen/nvvm/KernelFunction.h"

#include "codegen/nvvm/PackedKeys.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

LLVM::LLVMFuncOp skim::nvvm::createKernelFunction(Device &device, llvm::StringRef name,
                                                  int64_t threads) {
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(device.getContext()),
                                          SmallVector<Type>(7, device.pointerType()));
  auto function = LLVM::LLVMFuncOp::create(device, name, type);
  device.kernel = function;
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), device.getUnitAttr());
  function->setAttr("nvvm.reqntid", device.getDenseI32ArrayAttr({static_cast<int32_t>(threads)}));
  function->setAttr("nvvm.minctasm", device.getI32IntegerAttr(1));
  Type map = LLVM::LLVMArrayType::get(device.getI8Type(), 128);
  for (unsigned argument = 4; argument < 7; ++argument) {
    function.setArgAttr(argument, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(map));
    function.setArgAttr(argument, LLVM::LLVMDialect::getAlignAttrName(),
                        device.getI64IntegerAttr(64));
    function.setArgAttr(argument, NVVM::NVVMDialect::getGridConstantAttrName(),
                        device.getUnitAttr());
  }
  return function;
}

void skim::nvvm::createWarpKernel(
    tile::ProgramOp program,
    function_ref<void(Device &device, Value arguments, Value items, Value ordinal)> write) {
  Device device = Device::before(program);
  LLVM::LLVMFuncOp kernel = createKernelFunction(device, program.getSymName(), kThreadsOfItems);
  cpu::setKernelInfo(kernel, {program.getProblem(), program.getSchedule(), program.getItems()});
  device.setInsertionPointToStart(kernel.addEntryBlock(device));
  Value count = device.toIndex(device.load(device.getI32Type(), kernel.getArgument(2)));
  constexpr int64_t lanes = 32;
  Value warpsOfBlock = device.i32(kThreadsOfItems / lanes);
  Value block = NVVM::BlockIdXOp::create(device, device.getI32Type());
  Value blocks = NVVM::GridDimXOp::create(device, device.getI32Type());
  Value first = device.add(device.mul(block, warpsOfBlock), device.shiftRight(device.thread(), 5));
  auto loop = scf::ForOp::create(device, device.toIndex(first), count,
                                 device.toIndex(device.mul(blocks, warpsOfBlock)));
  device.setInsertionPointToStart(loop.getBody());
  write(device, kernel.getArgument(0), kernel.getArgument(1), device.toI32(loop.getInductionVar()));
  device.setInsertionPointAfter(loop);
  LLVM::ReturnOp::create(device, ValueRange());
}

bool skim::nvvm::isAttention(tile::ProgramOp program) {
  return program.walk([](tile::FinishOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool skim::nvvm::isPooling(tile::ProgramOp program) {
  return program.walk([](tile::PoolOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool skim::nvvm::isCounting(tile::ProgramOp program) {
  return program.walk([](hopper::CountOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

Type skim::nvvm::bufferElement(tile::ProgramOp program, int64_t slot) {
  for (auto plan : program->getParentOfType<ModuleOp>().getOps<tile::PlanOp>())
    for (auto buffer : plan.getBody().getOps<tile::BufferOp>())
      if (static_cast<int64_t>(buffer.getSlot()) == slot)
        return buffer.getElement();
  return {};
}

int64_t skim::nvvm::pageSizeOf(tile::ProgramOp program) {
  for (auto plan : program->getParentOfType<ModuleOp>().getOps<tile::PlanOp>())
    if (std::optional<uint64_t> size = plan.getPageSize())
      return static_cast<int64_t>(*size);
  return 0;
}

void skim::nvvm::describeLaunches(ModuleOp module, LaunchPlan &plan) {
  for (KernelDescription &kernel : plan.kernels) {
    auto program = module.lookupSymbol<tile::ProgramOp>(kernel.symbol);
    CudaLaunch &launch = kernel.cuda.emplace();
    if (!isAttention(program)) {
      launch.threads = kThreadsOfItems;
      // Pools and counts wait for memory alone: all threads that a multiprocessor holds.
      bool waits = isPooling(program) || isCounting(program);
      launch.blocksPerMultiprocessor = waits ? 2048 / kThreadsOfItems : 8;
      continue;
    }
    tile::ScheduleAttr schedule = program.getSchedule();
    launch.threads = 128 * (1 + schedule.getConsumers());
    launch.sharedBytes = SharedLayout(program.getProblem(), schedule).bytes;
    launch.blocksPerMultiprocessor = 1;
    launch.tensorMaps = true;
    launch.rowsPerTile = schedule.getRows();
    launch.keysPerTile = schedule.getCopyRows() ? 0 : schedule.getKeys();
    if (auto norms = program->getAttrOfType<IntegerAttr>(kKeyNormsAttr))
      launch.keyNorms = norms.getInt();
    if (auto counting = program->getAttrOfType<FlatSymbolRefAttr>(kOrderedByAttr)) {
      auto found = llvm::find_if(plan.kernels, [&](const KernelDescription &other) {
        return other.symbol == counting.getValue();
      });
      launch.orderedBy = std::distance(plan.kernels.begin(), found);
    }
    launch.packedKeys = packedKeysOf(program);
  }
}
