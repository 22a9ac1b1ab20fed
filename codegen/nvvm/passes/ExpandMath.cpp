// Functions of math to the instructions of the special function unit.
#include "codegen/nvvm/Passes.h"
#include "codegen/nvvm/Registers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

#include <numbers>

namespace skim::nvvm {
#define GEN_PASS_DEF_EXPANDMATH
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

static Value expOf(Device &device, Value value) {
  return exp2(device, multiply(device, value, device.f32(std::numbers::log2e)));
}

/// 1 - 2 / (exp(2 |x|) + 1) with the sign of x: exact to about 1e-7, and 1 where exp overflows.
static Value tanhOf(Device &device, Value value) {
  Value size = math::AbsFOp::create(device, value), one = device.f32(1);
  Value power = expOf(device, sum(device, size, size));
  Value quotient = arith::DivFOp::create(device, device.f32(2), sum(device, power, one));
  Value result = arith::SubFOp::create(device, one, quotient);
  return math::CopySignOp::create(device, result, value);
}

static Value expand(Operation *op, Device &device) {
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp exp) { return expOf(device, exp.getOperand()); })
      .Case([&](math::LogOp log) {
        return multiply(device, log2(device, log.getOperand()), device.f32(std::numbers::ln2));
      })
      .Case([&](math::TanhOp tanh) { return tanhOf(device, tanh.getOperand()); })
      .Default(Value());
}

namespace {

struct ExpandMathPass : skim::nvvm::impl::ExpandMathBase<ExpandMathPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<math::ExpOp, math::LogOp, math::TanhOp>(op) && op->getResult(0).getType().isF32())
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      Device device = Device::before(op);
      op->getResult(0).replaceAllUsesWith(expand(op, device));
      op->erase();
    }
  }
};

} // namespace
