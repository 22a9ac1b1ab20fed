#include "codegen/nvvm/KernelFunction.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

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

bool skim::nvvm::isAttention(tile::ProgramOp program) {
  return program.walk([](tile::FinishOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool skim::nvvm::isPooling(tile::ProgramOp program) {
  return program.walk([](tile::PoolOp) { return WalkResult::interrupt(); }).wasInterrupted();
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
      // Pools wait for memory alone: all threads that a multiprocessor holds.
      launch.blocksPerMultiprocessor = isPooling(program) ? 2048 / kThreadsOfItems : 8;
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
  }
}
