// Functions of math to the instructions of the special function unit, those of f64 to arithmetic.
#include "codegen/nvvm/Passes.h"
#include "codegen/nvvm/Registers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

#include <limits>
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

namespace {

/// ln 2 in two parts: products of the first with whole numbers up to 2^20 are exact.
constexpr double kLn2High = 0x1.62e42fefap-1, kLn2Low = 0x1.cf79abc9e3b39p-40;
constexpr int64_t kMantissaBits = 52, kExponentBias = 1023;

/// Arithmetic on f64, and on its bits. What follows is right to about 1e-15 of the result: rounded
/// to f32 it is what every other target has (rule 9).
class Wide {
public:
  explicit Wide(Device &device) : device(device) {}

  Value real(double value) {
    return arith::ConstantOp::create(device, device.getF64FloatAttr(value));
  }
  Value integer(int64_t value) {
    return arith::ConstantOp::create(device, device.getI64IntegerAttr(value));
  }
  Value add(Value a, Value b) { return arith::AddFOp::create(device, a, b); }
  Value sub(Value a, Value b) { return arith::SubFOp::create(device, a, b); }
  Value mul(Value a, Value b) { return arith::MulFOp::create(device, a, b); }
  Value div(Value a, Value b) { return arith::DivFOp::create(device, a, b); }
  Value bits(Value x) { return arith::BitcastOp::create(device, device.getI64Type(), x); }
  Value fromBits(Value x) { return arith::BitcastOp::create(device, device.getF64Type(), x); }
  Value compare(arith::CmpFPredicate predicate, Value a, double b) {
    return arith::CmpFOp::create(device, predicate, a, real(b));
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(device, condition, a, b);
  }
  /// Of powers of x, the lowest first, by Horner's rule.
  Value polynomial(Value x, llvm::ArrayRef<double> coefficients) {
    Value result = real(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      result = add(mul(result, x), real(coefficient));
    return result;
  }

private:
  Device &device;
};

} // namespace

/// Arguments beyond 700 in magnitude count as 700, whose power f32 does not hold either.
static Value expOfF64(Device &device, Value x) {
  constexpr double kMost = 700, kToWhole = 0x1.8p52;
  Wide wide(device);
  x = wide.select(wide.compare(arith::CmpFPredicate::OGT, x, kMost), wide.real(kMost), x);
  x = wide.select(wide.compare(arith::CmpFPredicate::OLT, x, -kMost), wide.real(-kMost), x);
  // x = n ln 2 + rest. Beside this number the last place is 1, so its bits count n.
  Value shifted = wide.add(wide.mul(x, wide.real(0x1.71547652b82fep0)), wide.real(kToWhole));
  Value whole = wide.sub(shifted, wide.real(kToWhole));
  Value rest = wide.sub(wide.sub(x, wide.mul(whole, wide.real(kLn2High))),
                        wide.mul(whole, wide.real(kLn2Low)));
  llvm::SmallVector<double> coefficients = {1};
  for (int n = 1; n <= 13; ++n)
    coefficients.push_back(coefficients.back() / n);
  Value power = wide.polynomial(rest, coefficients);
  Value exponent = arith::AddIOp::create(
      device, arith::SubIOp::create(device, wide.bits(shifted), wide.bits(wide.real(kToWhole))),
      wide.integer(kExponentBias));
  Value scale = wide.fromBits(arith::ShLIOp::create(device, exponent, wide.integer(kMantissaBits)));
  return wide.mul(power, scale);
}

static Value logOfF64(Device &device, Value x) {
  constexpr double kRootOfTwo = 0x1.6a09e667f3bcdp0;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Wide wide(device);
  // x = m 2^e with m from 2^-1/2 to 2^1/2.
  Value bits = wide.bits(x);
  Value mantissa = wide.fromBits(arith::OrIOp::create(
      device, arith::AndIOp::create(device, bits, wide.integer((int64_t{1} << kMantissaBits) - 1)),
      wide.integer(kExponentBias << kMantissaBits)));
  Value exponent = arith::SIToFPOp::create(
      device, device.getF64Type(),
      arith::SubIOp::create(device,
                            arith::ShRUIOp::create(device, bits, wide.integer(kMantissaBits)),
                            wide.integer(kExponentBias)));
  Value isLarge = wide.compare(arith::CmpFPredicate::OGT, mantissa, kRootOfTwo);
  mantissa = wide.select(isLarge, wide.mul(mantissa, wide.real(0.5)), mantissa);
  exponent = wide.select(isLarge, wide.add(exponent, wide.real(1)), exponent);
  // 2 artanh((m - 1) / (m + 1))
  Value quotient = wide.div(wide.sub(mantissa, wide.real(1)), wide.add(mantissa, wide.real(1)));
  llvm::SmallVector<double> coefficients;
  for (int n = 0; n <= 11; ++n)
    coefficients.push_back(2.0 / (2 * n + 1));
  Value ofMantissa =
      wide.mul(quotient, wide.polynomial(wide.mul(quotient, quotient), coefficients));
  Value result = wide.add(wide.mul(exponent, wide.real(kLn2High)),
                          wide.add(wide.mul(exponent, wide.real(kLn2Low)), ofMantissa));
  result = wide.select(wide.compare(arith::CmpFPredicate::OEQ, x, kInfinity), x, result);
  result =
      wide.select(wide.compare(arith::CmpFPredicate::OEQ, x, 0), wide.real(-kInfinity), result);
  return wide.select(wide.compare(arith::CmpFPredicate::OGE, x, 0), result,
                     wide.real(std::numeric_limits<double>::quiet_NaN()));
}

static Value tanhOfF64(Device &device, Value x) {
  constexpr double kSmall = 0.15; // Below, the difference from 1 would lose places.
  Wide wide(device);
  Value size = math::AbsFOp::create(device, x);
  Value power = expOfF64(device, wide.add(size, size));
  Value large = wide.sub(wide.real(1), wide.div(wide.real(2), wide.add(power, wide.real(1))));
  Value small =
      wide.mul(size, wide.polynomial(wide.mul(size, size),
                                     {1, -1.0 / 3, 2.0 / 15, -17.0 / 315, 62.0 / 2835,
                                      -1382.0 / 155925, 21844.0 / 6081075, -929569.0 / 638512875,
                                      6404582.0 / 10854718875.0, -443861162.0 / 1856156927625.0}));
  Value isSmall = wide.compare(arith::CmpFPredicate::OLT, size, kSmall);
  return math::CopySignOp::create(device, wide.select(isSmall, small, large), x);
}

static Value expandWide(Operation *op, Device &device) {
  Value x = op->getOperand(0);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::ExpOp) { return expOfF64(device, x); })
      .Case([&](math::LogOp) { return logOfF64(device, x); })
      .Case([&](math::TanhOp) { return tanhOfF64(device, x); })
      .Default(Value());
}

static Value expand(Operation *op, Device &device) {
  if (op->getResult(0).getType().isF64())
    return expandWide(op, device);
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
      if (isa<math::ExpOp, math::LogOp, math::TanhOp>(op) &&
          isa<FloatType>(op->getResult(0).getType()))
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
