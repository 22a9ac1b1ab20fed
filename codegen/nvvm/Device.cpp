#include "codegen/nvvm/Device.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

static constexpr unsigned kSharedSpace = 3;
static constexpr llvm::StringLiteral kFrameAttr = "hopper.frame";
/// The dynamic shared memory of every kernel.
static constexpr llvm::StringLiteral kSharedSymbol = "skim_shared";

Device Device::before(Operation *op) {
  Device device(op->getLoc(), op);
  device.kernel = op->getParentOfType<LLVM::LLVMFuncOp>();
  return device;
}

Value Device::i32(int64_t value) {
  return arith::ConstantOp::create(*this, getI32IntegerAttr(static_cast<int32_t>(value)));
}
Value Device::toI32(Value index) { return createOrFold<arith::IndexCastOp>(getI32Type(), index); }
Value Device::toIndex(Value i32) { return createOrFold<arith::IndexCastOp>(getIndexType(), i32); }
Value Device::saturateToI32(Value index) {
  Value wide = createOrFold<arith::IndexCastOp>(getI64Type(), index);
  return LLVM::InlineAsmOp::create(*this, getI32Type(), wide, "cvt.sat.s32.s64 $0, $1;", "=r,l",
                                   /*has_side_effects=*/false, /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
                                   ArrayAttr())
      .getRes();
}
Value Device::pin(Value value) {
  return LLVM::InlineAsmOp::create(*this, value.getType(), value, "mov.b32 $0, $1;", "=r,r",
                                   /*has_side_effects=*/true, /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
                                   ArrayAttr())
      .getRes();
}
Value Device::shiftRight(Value a, int64_t bits) {
  return createOrFold<arith::ShRUIOp>(a, i32(bits));
}
Value Device::bitAnd(Value a, int64_t mask) { return createOrFold<arith::AndIOp>(a, i32(mask)); }

Value Device::shared(Value offset) {
  Type pointer = LLVM::LLVMPointerType::get(getContext(), kSharedSpace);
  Value start = LLVM::AddressOfOp::create(*this, pointer, kSharedSymbol);
  return LLVM::GEPOp::create(*this, pointer, getI8Type(), start, ArrayRef<LLVM::GEPArg>{offset});
}
Value Device::loadShared(Value offset, int64_t plus) {
  return LLVM::LoadOp::create(*this, getI32Type(), shared(add(offset, i32(plus))), /*alignment=*/4);
}
void Device::storeShared(Value value, Value offset, int64_t plus) {
  LLVM::StoreOp::create(*this, value, shared(add(offset, i32(plus))), /*alignment=*/4);
}

Value Device::filled(const Ring &ring, Value slot) {
  return shared(add(mul(slot, i32(16)), i32(ring.barriers)));
}
Value Device::empty(const Ring &ring, Value slot) {
  return shared(add(mul(slot, i32(16)), i32(ring.barriers + 8)));
}
Value Device::slotOf(const Ring &ring, Value number) { return bitAnd(number, ring.slots - 1); }
Value Device::parityOf(const Ring &ring, Value number) {
  return bitAnd(shiftRight(number, llvm::Log2_64(ring.slots)), 1);
}

void Device::waitFor(Value barrier, Value parity) {
  auto wait = scf::WhileOp::create(*this, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(*this);
  createBlock(&wait.getBefore());
  Value done =
      NVVM::MBarrierTryWaitOp::create(*this, getI1Type(), barrier, parity, /*ticks=*/Value());
  scf::ConditionOp::create(*this, logicalNot(done), ValueRange());
  createBlock(&wait.getAfter());
  scf::YieldOp::create(*this);
}
void Device::waitFilled(const Ring &ring, Value number) {
  waitFor(filled(ring, slotOf(ring, number)), parityOf(ring, number));
}
void Device::waitEmpty(const Ring &ring, Value number) {
  // The first use of each slot finds it empty: the phase before the first counts as ended.
  waitFor(empty(ring, slotOf(ring, number)),
          createOrFold<arith::XOrIOp>(parityOf(ring, number), i32(1)));
}
void Device::arrive(Value barrier) {
  NVVM::MBarrierArriveOp::create(*this, getI64Type(), barrier, /*count=*/Value());
}
void Device::arriveExpecting(Value barrier, int64_t bytes) {
  NVVM::MBarrierArriveExpectTxOp::create(*this, Type(), barrier, i32(bytes),
                                         NVVM::MemScopeKind::CTA, /*relaxed=*/false, Value());
}
void Device::arriveOnce(Value barrier, Value elected) {
  Value number = arith::ExtUIOp::create(*this, getI32Type(), elected);
  LLVM::InlineAsmOp::create(
      *this, Type(), ValueRange{barrier, number},
      "{ .reg .pred p; setp.ne.b32 p, $1, 0; @p mbarrier.arrive.shared::cta.b64 _, [$0]; }",
      "r,r,~{memory}", /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
}

Value Device::thread() { return NVVM::ThreadIdXOp::create(*this, getI32Type()); }
Value Device::lane() { return bitAnd(thread(), 31); }
Value Device::isLane(int64_t number) { return equal(lane(), i32(number)); }
Value Device::ballot(Value predicate) {
  return NVVM::VoteSyncOp::create(*this, getI32Type(), i32(-1), predicate,
                                  NVVM::VoteSyncKind::ballot);
}
Value Device::any(Value predicate) {
  return NVVM::VoteSyncOp::create(*this, getI1Type(), i32(-1), predicate, NVVM::VoteSyncKind::any);
}
Value Device::broadcast(Value value) {
  return NVVM::ShflOp::create(*this, value.getType(), i32(-1), value, i32(0), i32(31),
                              NVVM::ShflKind::idx, UnitAttr());
}
Value Device::exchange(Value value, int64_t mask) {
  return NVVM::ShflOp::create(*this, value.getType(), i32(-1), value, i32(mask), i32(31),
                              NVVM::ShflKind::bfly, UnitAttr());
}
std::pair<Value, Value> Device::prefixSum(Value value) {
  Value sum = value;
  Type answer = LLVM::LLVMStructType::getLiteral(getContext(), {getI32Type(), getI1Type()});
  for (int64_t distance = 1; distance < 32; distance *= 2) {
    Value before = NVVM::ShflOp::create(*this, answer, i32(-1), sum, i32(distance), i32(0),
                                        NVVM::ShflKind::up, getUnitAttr());
    // A lane that has none before it gets its own.
    Value exists = LLVM::ExtractValueOp::create(*this, before, 1);
    Value other = LLVM::ExtractValueOp::create(*this, before, 0);
    sum = select(exists, add(other, sum), other);
  }
  Value total = NVVM::ShflOp::create(*this, getI32Type(), i32(-1), sum, i32(31), i32(31),
                                     NVVM::ShflKind::idx, UnitAttr());
  return {sub(sum, value), total};
}
Value Device::dotBytes(Value bytes, uint32_t weights, Value sum) {
  auto type = VectorType::get({4}, getI8Type());
  SmallVector<int8_t> factors;
  for (int64_t i = 0; i < 4; ++i)
    factors.push_back(static_cast<int8_t>(weights >> (8 * i)));
  Value constant =
      arith::ConstantOp::create(*this, DenseElementsAttr::get(type, ArrayRef(factors)));
  return NVVM::DotAccumulate4WayOp::create(
      *this, getI32Type(), LLVM::BitcastOp::create(*this, type, bytes),
      NVVM::DotAccumulateType::UNSIGNED, constant, NVVM::DotAccumulateType::UNSIGNED, sum);
}
void Device::prefetch(Value address) {
  NVVM::PrefetchOp::create(
      *this, NVVM::PrefetchCacheLevelAttr::get(getContext(), NVVM::PrefetchCacheLevel::L1),
      NVVM::CacheEvictionPriorityAttr(), address, /*predicate=*/Value());
}
void Device::syncWarp() { NVVM::SyncWarpOp::create(*this, i32(-1)); }

Value Device::get(Value variable, Type type) { return load(type, variable); }
void Device::set(Value variable, Value value) { store(value, variable); }

void skim::nvvm::declareSharedMemory(ModuleOp module) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Type bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
  LLVM::GlobalOp::create(builder, module.getLoc(), bytes, /*isConstant=*/false,
                         LLVM::Linkage::External, kSharedSymbol, Attribute(), /*alignment=*/1024,
                         kSharedSpace);
}

SharedLayout skim::nvvm::sharedLayout(Operation *op) {
  cpu::KernelInfo info = cpu::kernelInfo(op);
  return {info.problem, info.schedule};
}

Value skim::nvvm::frame(Device &device, Frame which) {
  for (auto alloca : device.kernel.getBody().front().getOps<LLVM::AllocaOp>()) {
    auto number = alloca->getAttrOfType<IntegerAttr>(kFrameAttr);
    if (number && number.getInt() == static_cast<int64_t>(which))
      return alloca;
  }
  return {};
}

void skim::nvvm::createFrame(Device &device) {
  for (Frame which : {Frame::Item, Frame::Visit, Frame::Batch, Frame::Fill, Frame::Tail,
                      Frame::Taken, Frame::Last, Frame::Warp, Frame::KeyToken, Frame::Listed,
                      Frame::MaskedLists, Frame::Scale}) {
    bool number = which != Frame::Scale;
    Type type = number ? Type(device.getI32Type()) : device.getF32Type();
    Value variable = LLVM::AllocaOp::create(device, device.pointerType(), type, device.i32(1));
    variable.getDefiningOp()->setAttr(kFrameAttr,
                                      device.getI64IntegerAttr(static_cast<int64_t>(which)));
    device.set(variable, number ? device.i32(0) : device.f32(0));
  }
}
