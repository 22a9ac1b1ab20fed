#include "codegen/cpu/Code.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

Code Code::before(Operation *op) { return Code(op->getLoc(), op); }

Code Code::after(Operation *op) {
  Code code(op->getLoc(), op->getContext());
  code.setInsertionPointAfter(op);
  return code;
}

Type Code::pointerType() { return LLVM::LLVMPointerType::get(getContext()); }

Value Code::index(int64_t value) { return arith::ConstantIndexOp::create(*this, value); }
Value Code::f32(double value) {
  return arith::ConstantOp::create(*this, getF32FloatAttr(static_cast<float>(value)));
}
Value Code::i1(bool value) { return arith::ConstantOp::create(*this, getBoolAttr(value)); }
Value Code::negativeInfinity() { return f32(-std::numeric_limits<double>::infinity()); }

Value Code::add(Value a, Value b) { return createOrFold<arith::AddIOp>(a, b); }
Value Code::sub(Value a, Value b) { return createOrFold<arith::SubIOp>(a, b); }
Value Code::mul(Value a, Value b) { return createOrFold<arith::MulIOp>(a, b); }
Value Code::min(Value a, Value b) { return createOrFold<arith::MinSIOp>(a, b); }
Value Code::max(Value a, Value b) { return createOrFold<arith::MaxSIOp>(a, b); }

Value Code::floorDiv(Value a, int64_t divisor) {
  if (divisor == 1)
    return a;
  if (llvm::isPowerOf2_64(divisor))
    return createOrFold<arith::ShRSIOp>(a, index(llvm::Log2_64(divisor)));
  return floorDiv(a, index(divisor));
}

Value Code::floorDiv(Value a, Value positiveDivisor) {
  Value quotient = createOrFold<arith::DivSIOp>(a, positiveDivisor);
  Value remainder = createOrFold<arith::RemSIOp>(a, positiveDivisor);
  return select(less(remainder, index(0)), sub(quotient, index(1)), quotient);
}

Value Code::ceilDiv(Value a, int64_t divisor) {
  return floorDiv(add(a, index(divisor - 1)), divisor);
}
Value Code::roundDown(Value a, int64_t multiple) {
  return mul(floorDiv(a, multiple), index(multiple));
}
Value Code::roundUp(Value a, int64_t multiple) {
  return mul(ceilDiv(a, multiple), index(multiple));
}

Value Code::less(Value a, Value b) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, a, b);
}
Value Code::lessOrEqual(Value a, Value b) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, a, b);
}
Value Code::equal(Value a, Value b) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, a, b);
}
Value Code::logicalAnd(Value a, Value b) { return createOrFold<arith::AndIOp>(a, b); }
Value Code::logicalOr(Value a, Value b) { return createOrFold<arith::OrIOp>(a, b); }
Value Code::logicalNot(Value a) { return createOrFold<arith::XOrIOp>(a, i1(true)); }
Value Code::select(Value condition, Value a, Value b) {
  return createOrFold<arith::SelectOp>(condition, a, b);
}

Value Code::offset(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(*this, pointerType(), getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}
Value Code::offset(Value pointer, Value bytes) {
  Value wide = arith::IndexCastOp::create(*this, getI64Type(), bytes);
  return LLVM::GEPOp::create(*this, pointerType(), getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{wide});
}

/// Vectors in the operands are only as aligned as their elements.
static unsigned alignmentOf(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 8;
  return std::max(1u, getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8);
}
Value Code::load(Type type, Value address) {
  return LLVM::LoadOp::create(*this, type, address, alignmentOf(type));
}
void Code::store(Value value, Value address) {
  LLVM::StoreOp::create(*this, value, address, alignmentOf(value.getType()));
}
Value Code::loadIndex(unsigned bits, Value address) {
  return arith::IndexCastOp::create(*this, getIndexType(), load(getIntegerType(bits), address));
}
Value Code::isNull(Value pointer) {
  Value null = LLVM::ZeroOp::create(*this, pointerType());
  return LLVM::ICmpOp::create(*this, LLVM::ICmpPredicate::eq, pointer, null);
}

void Code::loop(Value lower, Value upper, int64_t step, LoopBody body) {
  auto loop = scf::ForOp::create(*this, lower, upper, index(step));
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Code::Values Code::loop(Value lower, Value upper, int64_t step, ValueRange initial,
                        CarryingBody body) {
  auto loop = scf::ForOp::create(*this, lower, upper, index(step), initial);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(loop.getBody());
  Values next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(*this, next);
  return Values(loop.getResults());
}

void Code::ifThen(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  body();
}

void Code::ifElse(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  then();
  setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

Code::Values Code::choose(Value condition, function_ref<Values()> then,
                          function_ref<Values()> otherwise) {
  auto branch = scf::IfOp::create(
      *this, condition,
      [&](OpBuilder &builder, Location) {
        OpBuilder::InsertionGuard guard(*this);
        setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
        Values values = then();
        scf::YieldOp::create(*this, values);
      },
      [&](OpBuilder &builder, Location) {
        OpBuilder::InsertionGuard guard(*this);
        setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
        Values values = otherwise();
        scf::YieldOp::create(*this, values);
      });
  return Values(branch.getResults());
}

VectorType Code::vectorType(unsigned lanes, Type element) {
  return VectorType::get({static_cast<int64_t>(lanes)}, element);
}
Value Code::splat(Value scalar, unsigned lanes) {
  return vector::BroadcastOp::create(*this, vectorType(lanes, scalar.getType()), scalar);
}
Value Code::laneNumbers(unsigned lanes) {
  SmallVector<Attribute> numbers;
  for (unsigned lane = 0; lane < lanes; ++lane)
    numbers.push_back(getIndexAttr(lane));
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(vectorType(lanes, getIndexType()), numbers));
}
Value Code::loadVector(unsigned lanes, Value tile, ValueRange indices) {
  Type element = cast<MemRefType>(tile.getType()).getElementType();
  return vector::LoadOp::create(*this, vectorType(lanes, element), tile, indices);
}
void Code::storeVector(Value vector, Value tile, ValueRange indices) {
  vector::StoreOp::create(*this, vector, tile, indices);
}
Value Code::loadScalar(Value tile, ValueRange indices) {
  return memref::LoadOp::create(*this, tile, indices);
}
void Code::storeScalar(Value scalar, Value tile, ValueRange indices) {
  memref::StoreOp::create(*this, scalar, tile, indices);
}
Value Code::multiplyAdd(Value a, Value b, Value c) { return vector::FMAOp::create(*this, a, b, c); }
Value Code::maximum(Value a, Value b) {
  Value greater = arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, a, b);
  return arith::SelectOp::create(*this, greater, a, b);
}

static FunctionOpInterface enclosingFunction(Operation *op) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return function ? function : op->getParentOfType<FunctionOpInterface>();
}

KernelInfo skim::cpu::kernelInfo(Operation *op) {
  FunctionOpInterface function = enclosingFunction(op);
  return {function->getAttrOfType<tile::ProblemAttr>("tile.problem"),
          function->getAttrOfType<tile::ScheduleAttr>("tile.schedule"),
          function->getAttrOfType<tile::ItemsAttr>("tile.items")};
}

void skim::cpu::setKernelInfo(Operation *function, const KernelInfo &info) {
  function->setAttr("tile.problem", info.problem);
  function->setAttr("tile.schedule", info.schedule);
  function->setAttr("tile.items", info.items);
}

Value skim::cpu::allocateInFrame(Operation *user, MemRefType type) {
  FunctionOpInterface function = enclosingFunction(user);
  Code code(user->getLoc(), user->getContext());
  code.setInsertionPointToStart(&function.getFunctionBody().front());
  return memref::AllocaOp::create(code, type, code.getI64IntegerAttr(64));
}

FailureOr<tile::ItemRecordOp> skim::cpu::itemRecord(Operation *user, Value item) {
  if (auto record = item.getDefiningOp<tile::ItemRecordOp>())
    return record;
  return user->emitOpError() << "expected its work item to be a 'tile.item_record'; run "
                                "'skim-cpu-lower-program' first";
}

FailureOr<tile::VisitRecordOp> skim::cpu::visitRecord(Operation *user, Value visit) {
  if (auto record = visit.getDefiningOp<tile::VisitRecordOp>())
    return record;
  return user->emitOpError() << "expected its visit to be a 'tile.visit_record'; run "
                                "'skim-cpu-lower-visits' first";
}

Value skim::cpu::asBuffer(Code &code, Value value, MemRefType type) {
  return UnrealizedConversionCastOp::create(code, type, value).getResult(0);
}

Value skim::cpu::asTile(Code &code, Value buffer, Type type) {
  return UnrealizedConversionCastOp::create(code, type, buffer).getResult(0);
}
