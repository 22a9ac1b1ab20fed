#include "codegen/nvvm/Registers.h"

#include "dialect/Tile/PackedHeads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

/// Fields of a state in front of the accumulator.
static constexpr size_t kStateHeader = 8;

RegisterTypes::RegisterTypes() {
  addConversion([](Type type) { return type; });
  addConversion(
      [](tile::SharedType type) -> Type { return IntegerType::get(type.getContext(), 32); });
  addConversion([](tile::FragmentType type) -> Type {
    MLIRContext *context = type.getContext();
    bool wide = type.getElement().isF32();
    Type field = wide ? Type(Float32Type::get(context)) : IntegerType::get(context, 32);
    return LLVM::LLVMStructType::getLiteral(
        context, SmallVector<Type>(type.getColumns() / (wide ? 2 : 4), field));
  });
  addConversion([](tile::StateType type) -> Type {
    MLIRContext *context = type.getContext();
    SmallVector<Type> fields(kStateHeader + type.getColumns() / 2, Float32Type::get(context));
    fields[kStateHeader - 2] = fields[kStateHeader - 1] = IntegerType::get(context, 1);
    return LLVM::LLVMStructType::getLiteral(context, fields);
  });
  auto cast = [](OpBuilder &builder, Type type, ValueRange inputs, Location loc) -> Value {
    return UnrealizedConversionCastOp::create(builder, loc, type, inputs).getResult(0);
  };
  addSourceMaterialization(cast);
  addTargetMaterialization(cast);
}

SmallVector<Value> skim::nvvm::unpack(Device &device, Value packed) {
  SmallVector<Value> fields;
  auto type = mlir::cast<LLVM::LLVMStructType>(packed.getType());
  for (size_t i = 0; i < type.getBody().size(); ++i)
    fields.push_back(
        LLVM::ExtractValueOp::create(device, packed, ArrayRef<int64_t>{static_cast<int64_t>(i)}));
  return fields;
}

Value skim::nvvm::pack(Device &device, ValueRange fields) {
  auto types = llvm::to_vector(fields.getTypes());
  Type type = LLVM::LLVMStructType::getLiteral(device.getContext(), types);
  Value packed = LLVM::PoisonOp::create(device, type);
  for (auto [i, field] : llvm::enumerate(fields))
    packed = LLVM::InsertValueOp::create(device, packed, field,
                                         ArrayRef<int64_t>{static_cast<int64_t>(i)});
  return packed;
}

State State::unpack(Device &device, Value packed) {
  SmallVector<Value> fields = nvvm::unpack(device, packed);
  State state{{fields[0], fields[1]},
              {fields[2], fields[3]},
              {fields[4], fields[5]},
              fields[6],
              fields[7],
              {}};
  state.output.assign(fields.begin() + kStateHeader, fields.end());
  return state;
}

Value State::pack(Device &device) const {
  SmallVector<Value> fields = {maximum[0], maximum[1], sum[0], sum[1],
                               due[0],     due[1],     isDue,  isBounded};
  llvm::append_range(fields, output);
  return nvvm::pack(device, fields);
}

Value skim::nvvm::firstRowOfThread(Device &device) {
  // Not from the number of the warp, which would have to be kept for it.
  Value warp = device.shiftRight(device.sub(device.thread(), device.i32(128)), 5);
  return device.add(device.mul(warp, device.i32(16)), device.shiftRight(device.lane(), 2));
}
TileRow skim::nvvm::rowOfThread(Device &device, size_t row) {
  Value number = device.add(firstRowOfThread(device), device.i32(static_cast<int64_t>(8 * row)));
  cpu::KernelInfo info = cpu::kernelInfo(&device.kernel.getBody().front().front());
  if (tile::headsOfTile(info.problem, info.items.getHead()) == 1)
    return {number, device.i32(0)};
  Value rows = device.i32(info.schedule.getRows());
  Value head = arith::DivUIOp::create(device, number, rows);
  return {device.sub(number, device.mul(head, rows)), head};
}
Value skim::nvvm::firstColumnOfThread(Device &device) {
  return device.mul(device.bitAnd(device.lane(), 3), device.i32(2));
}
Value skim::nvvm::acrossColumns(Device &device, Value value,
                                llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t mask : {1, 2})
    value = combine(value, device.exchange(value, mask));
  return value;
}

Value skim::nvvm::maximum(Device &device, Value a, Value b) {
  return arith::MaxNumFOp::create(device, a, b);
}
Value skim::nvvm::multiply(Device &device, Value a, Value b) {
  return arith::MulFOp::create(device, a, b);
}
Value skim::nvvm::sum(Device &device, Value a, Value b) {
  return arith::AddFOp::create(device, a, b);
}
Value skim::nvvm::fusedMultiplyAdd(Device &device, Value a, Value b, Value c) {
  return math::FmaOp::create(device, a, b, c);
}
Value skim::nvvm::negate(Device &device, Value a) { return arith::NegFOp::create(device, a); }
Value skim::nvvm::exp2(Device &device, Value a) { return math::Exp2Op::create(device, a); }
Value skim::nvvm::log2(Device &device, Value a) {
  return LLVM::CallIntrinsicOp::create(device, device.getF32Type(),
                                       device.getStringAttr("llvm.nvvm.lg2.approx.ftz.f"),
                                       ValueRange{a})
      .getResult(0);
}
Value skim::nvvm::reciprocal(Device &device, Value a) {
  return LLVM::CallIntrinsicOp::create(device, device.getF32Type(),
                                       device.getStringAttr("llvm.nvvm.rcp.approx.ftz.f"),
                                       ValueRange{a})
      .getResult(0);
}
Value skim::nvvm::greater(Device &device, Value a, Value b) {
  return arith::CmpFOp::create(device, arith::CmpFPredicate::OGT, a, b);
}
Value skim::nvvm::isMinusInfinity(Device &device, Value a) {
  return arith::CmpFOp::create(device, arith::CmpFPredicate::OEQ, a, device.negativeInfinity());
}

Device skim::nvvm::deviceAt(OpBuilder &rewriter, Operation *op) {
  Device device = Device::before(op);
  device.setListener(rewriter.getListener());
  return device;
}
