// Programs that threads run item by item to kernels.
#include "codegen/nvvm/Device.h"
#include "codegen/nvvm/KernelFunction.h"
#include "codegen/nvvm/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace skim::nvvm {
#define GEN_PASS_DEF_WRAPPROGRAMS
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

static void wrap(func::FuncOp program) {
  std::string name = program.getSymName().str();
  program.setSymName(name + "_items");
  program.setPrivate();
  Device device = Device::before(program);
  LLVM::LLVMFuncOp kernel = createKernelFunction(device, name, kThreadsOfItems);
  device.setInsertionPointToStart(kernel.addEntryBlock(device));
  Value arguments = kernel.getArgument(0), items = kernel.getArgument(1);
  Value count = device.load(device.getI32Type(), kernel.getArgument(2));
  Value block = NVVM::BlockIdXOp::create(device, device.getI32Type());
  Value blocks = NVVM::GridDimXOp::create(device, device.getI32Type());
  Value threads = device.i32(kThreadsOfItems);
  Value first = device.add(device.mul(block, threads), device.thread());
  Value step = device.toIndex(device.mul(blocks, threads));
  Type i64 = device.getI64Type();
  Value one = arith::ConstantOp::create(device, device.getI64IntegerAttr(1));
  Value worker = arith::ConstantOp::create(device, device.getI64IntegerAttr(0));
  auto loop = scf::ForOp::create(device, device.toIndex(first), device.toIndex(count), step);
  device.setInsertionPointToStart(loop.getBody());
  Value item = arith::IndexCastOp::create(device, i64, loop.getInductionVar());
  func::CallOp::create(device, program, ValueRange{arguments, items, item, one, worker});
  device.setInsertionPointAfter(loop);
  LLVM::ReturnOp::create(device, ValueRange());
}

namespace {

struct WrapProgramsPass : skim::nvvm::impl::WrapProgramsBase<WrapProgramsPass> {
  void runOnOperation() override {
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      if (function.isDeclaration()) {
        function.emitError() << "sm_90a: '" << function.getSymName()
                             << "' of the runtime library cannot be called on a GPU";
        return signalPassFailure();
      }
      wrap(function);
    }
  }
};

} // namespace
