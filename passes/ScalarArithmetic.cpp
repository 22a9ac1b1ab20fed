// Arithmetic on maps as scalar operations.
#include "dialect/Skim/IndexBounds.h"
#include "passes/MapAnalysis.h"
#include "passes/ScalarEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

namespace skim {
namespace {

template <typename OpT> Value inF64(OpBuilder &builder, Location loc, Value x) {
  Value wide = arith::ExtFOp::create(builder, loc, builder.getF64Type(), x);
  return arith::TruncFOp::create(builder, loc, x.getType(), OpT::create(builder, loc, wide));
}

} // namespace

Scalar ScalarEmitter::emitArithmetic(mlir::Operation *op, Place &place) {
  OpBuilder &builder = place.builder;
  Location loc = op->getLoc();
  Value defined;
  llvm::SmallVector<Value, 2> operands;
  for (Value operand : op->getOperands()) {
    Scalar scalar = emit(operand, place);
    operands.push_back(scalar.value);
    defined = both(builder, loc, defined, scalar.defined);
  }
  Value x = operands.empty() ? Value() : operands[0],
        y = operands.size() > 1 ? operands[1] : Value();
  bool real = x && llvm::isa<mlir::FloatType>(x.getType());
  auto fastMath = [&] { return place.fastMath || isScored(op->getResult(0)); };
  auto zero = [&]() -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(x.getType()));
  };
  /// A divisor that is not positive makes the quotient undefined; 1 stands in for it.
  auto divisor = [&] {
    if (constantIndexOf(op->getOperand(1)).value_or(0) > 0)
      return y;
    Value positive = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, y, zero());
    defined = both(builder, loc, defined, positive);
    return Value(arith::SelectOp::create(builder, loc, positive, y,
                                         arith::ConstantIndexOp::create(builder, loc, 1)));
  };
  /// Of the division that rounds to zero; then the quotient is one more than the floor.
  auto remainderIsNegative = [&](Value by) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                 arith::RemSIOp::create(builder, loc, x, by), zero());
  };
  /// Saturates unless a factor is a constant. What exceeds the limit does so with any factor but 0.
  auto product = [&]() -> Value {
    if (constantIndexOf(op->getOperand(0)) || constantIndexOf(op->getOperand(1)))
      return arith::MulIOp::create(builder, loc, x, y);
    auto saturate = [&](Value value) -> Value {
      Value least = arith::ConstantIndexOp::create(builder, loc, -ir::kLargestIndex);
      Value most = arith::ConstantIndexOp::create(builder, loc, ir::kLargestIndex);
      return arith::MinSIOp::create(builder, loc,
                                    arith::MaxSIOp::create(builder, loc, value, least), most);
    };
    return saturate(arith::MulIOp::create(builder, loc, saturate(x), saturate(y)));
  };
  Value result =
      llvm::TypeSwitch<mlir::Operation *, Value>(op)
          .Case([&](ir::AddOp) -> Value {
            if (real)
              return arith::AddFOp::create(builder, loc, x, y);
            return arith::AddIOp::create(builder, loc, x, y);
          })
          .Case([&](ir::SubOp) -> Value {
            if (real)
              return arith::SubFOp::create(builder, loc, x, y);
            return arith::SubIOp::create(builder, loc, x, y);
          })
          .Case([&](ir::MulOp) -> Value {
            if (real)
              return arith::MulFOp::create(builder, loc, x, y);
            return product();
          })
          .Case([&](ir::DivOp) -> Value {
            if (real)
              return arith::DivFOp::create(builder, loc, x, y);
            Value by = divisor();
            Value quotient = arith::DivSIOp::create(builder, loc, x, by);
            Value less = arith::SubIOp::create(builder, loc, quotient,
                                               arith::ConstantIndexOp::create(builder, loc, 1));
            return arith::SelectOp::create(builder, loc, remainderIsNegative(by), less, quotient);
          })
          .Case([&](ir::ModOp) -> Value {
            Value by = divisor();
            Value remainder = arith::RemSIOp::create(builder, loc, x, by);
            Value more = arith::AddIOp::create(builder, loc, remainder, by);
            return arith::SelectOp::create(builder, loc, remainderIsNegative(by), more, remainder);
          })
          .Case([&](ir::MinOp) -> Value {
            if (real)
              return arith::MinimumFOp::create(builder, loc, x, y);
            return arith::MinSIOp::create(builder, loc, x, y);
          })
          .Case([&](ir::MaxOp) -> Value {
            if (real)
              return arith::MaximumFOp::create(builder, loc, x, y);
            return arith::MaxSIOp::create(builder, loc, x, y);
          })
          .Case([&](ir::ReluOp) -> Value {
            if (real)
              return arith::MaximumFOp::create(builder, loc, x, zero());
            return arith::MaxSIOp::create(builder, loc, x, zero());
          })
          .Case([&](ir::NegOp) -> Value {
            if (real)
              return arith::NegFOp::create(builder, loc, x);
            return arith::SubIOp::create(builder, loc, zero(), x);
          })
          .Case([&](ir::AbsOp) -> Value {
            if (real)
              return math::AbsFOp::create(builder, loc, x);
            return math::AbsIOp::create(builder, loc, x);
          })
          .Case([&](ir::ConvertOp) -> Value {
            Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), x);
            return arith::SIToFPOp::create(builder, loc, builder.getF32Type(), wide);
          })
          .Case([&](ir::ExpOp) -> Value {
            return fastMath() ? Value(math::ExpOp::create(builder, loc, x))
                              : inF64<math::ExpOp>(builder, loc, x);
          })
          .Case([&](ir::LogOp) -> Value {
            return fastMath() ? Value(math::LogOp::create(builder, loc, x))
                              : inF64<math::LogOp>(builder, loc, x);
          })
          .Case([&](ir::TanhOp) -> Value {
            return fastMath() ? Value(math::TanhOp::create(builder, loc, x))
                              : inF64<math::TanhOp>(builder, loc, x);
          })
          .Default([&](mlir::Operation *) { return emitUnsupported(op, builder); });
  return {result, defined};
}

Value ScalarEmitter::emitUnsupported(mlir::Operation *op, OpBuilder &builder) {
  op->emitError("expected an operation with a value at each position but got '")
      << op->getName() << "'";
  failed = true;
  auto map = llvm::dyn_cast<ir::MapType>(op->getResult(0).getType());
  mlir::Type type = map ? scalarTypeOf(map) : mlir::Type(builder.getI1Type());
  return arith::ConstantOp::create(builder, op->getLoc(), builder.getZeroAttr(type));
}

} // namespace skim
