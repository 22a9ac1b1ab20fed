#include "codegen/cpu/Items.h"

#include "codegen/cpu/KernelArguments.h"
#include "codegen/cpu/RegionEvaluator.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

Value skim::cpu::tileStart(Code &code, tile::ItemRecordOp item) {
  return code.mul(item.getTile(), code.index(static_cast<int64_t>(item.getTileRows())));
}
Value skim::cpu::firstRow(Code &code, tile::ItemRecordOp item) {
  return code.add(tileStart(code, item), item.getRowsBegin());
}
Value skim::cpu::endRow(Code &code, tile::ItemRecordOp item) {
  return code.add(tileStart(code, item), item.getRowsEnd());
}
Value skim::cpu::basePosition(Code &code, tile::ItemRecordOp item) {
  return code.sub(item.getKvLen(), item.getQLen());
}
Value skim::cpu::firstPosition(Code &code, tile::ItemRecordOp item) {
  return item.getTileRows() > 0 ? firstRow(code, item) : basePosition(code, item);
}

static Value uniformValue(Code &code, tile::ItemRecordOp item, tile::UniformKind kind) {
  switch (kind) {
  case tile::UniformKind::QLen:
    return item.getQLen();
  case tile::UniformKind::KvLen:
    return item.getKvLen();
  case tile::UniformKind::Base:
    return basePosition(code, item);
  case tile::UniformKind::Request:
    return item.getRequest();
  case tile::UniformKind::Head:
    return item.getHead();
  case tile::UniformKind::KvHead:
    return item.getKvHead();
  case tile::UniformKind::Layer:
    return item.getLayer();
  case tile::UniformKind::Tile:
    return item.getTile();
  case tile::UniformKind::FirstRow:
    return firstRow(code, item);
  case tile::UniformKind::EndRow:
    return endRow(code, item);
  }
  return {};
}

static Value parameterValue(Code &code, tile::ItemRecordOp item, tile::ParameterOp op) {
  Value entry = op.getPerHead() ? item.getHead() : code.index(0);
  Value address = parameterAddress(code, item.getArguments(), op.getSlot(), entry);
  Type type = op.getValue().getType();
  if (type.isF32())
    return arith::TruncFOp::create(code, type, code.load(code.getF64Type(), address));
  Value integer = code.loadIndex(64, address);
  return type.isIndex() ? integer : code.logicalNot(code.equal(integer, code.index(0)));
}

Value skim::cpu::itemValue(Code &code, tile::ItemRecordOp item, Operation *op) {
  if (auto uniform = dyn_cast<tile::UniformOp>(op))
    return uniformValue(code, item, uniform.getKind());
  if (auto parameter = dyn_cast<tile::ParameterOp>(op))
    return parameterValue(code, item, parameter);
  if (isa<tile::SoftmaxScaleOp>(op))
    return arith::TruncFOp::create(code, code.getF32Type(),
                                   loadArgument(code, item.getArguments(), Argument::SoftmaxScale));
  return {};
}

tile::ItemRecordOp skim::cpu::itemOfHead(Code &code, tile::ItemRecordOp item, Value head,
                                         bool ofKvHeads) {
  KernelInfo info = kernelInfo(item);
  int64_t group = info.problem.getQueryHeads() / info.problem.getKvHeads();
  auto part = cast<tile::ItemRecordOp>(code.clone(*item));
  Code before = Code::before(part);
  part.getHeadMutable().assign(ofKvHeads ? before.mul(head, before.index(group)) : head);
  part.getKvHeadMutable().assign(ofKvHeads ? head : before.floorDiv(head, group));
  return part;
}

std::pair<Value, Value> skim::cpu::headsOf(Code &code, tile::ItemRecordOp item,
                                           tile::HeadGroup heads) {
  KernelInfo info = kernelInfo(item);
  int64_t queryHeads = info.problem.getQueryHeads(), kvHeads = info.problem.getKvHeads();
  if (heads == tile::HeadGroup::Group) {
    Value group = code.index(queryHeads / kvHeads), first = code.mul(item.getKvHead(), group);
    return {first, code.add(first, group)};
  }
  return {code.index(0), code.index(heads == tile::HeadGroup::KvHeads ? kvHeads : queryHeads)};
}

static void raiseStatus(Code &code, tile::ItemRecordOp item, tile::RaiseStatusOp op) {
  Value status = loadArgument(code, item.getArguments(), Argument::Status);
  code.ifThen(code.logicalAnd(op.getCondition(), code.notNull(status)), [&] {
    Value bit =
        arith::ConstantOp::create(code, code.getI32IntegerAttr(static_cast<int32_t>(op.getBit())));
    LLVM::AtomicRMWOp::create(code, LLVM::AtomicBinOp::_or, status, bit,
                              LLVM::AtomicOrdering::monotonic);
  });
}

LogicalResult skim::cpu::evaluateItemScalars(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (!isa<tile::LoadCellOp, tile::ContainsOp, tile::LiteralValueOp, tile::LoadElementOp,
             tile::PanelValueOp, tile::ReduceElementsOp, tile::ReducePositionsOp>(op))
      continue;
    // What a part of the item reads is known once that part is.
    if (llvm::any_of(op.getOperands(), [](Value operand) {
          return isa<tile::ItemType>(operand.getType()) &&
                 !operand.getDefiningOp<tile::ItemRecordOp>();
        }))
      continue;
    Code code = Code::before(&op);
    FailureOr<Value> value = RegionEvaluator(code, /*lanes=*/1).evaluate(op);
    if (failed(value))
      return failure();
    op.getResult(0).replaceAllUsesWith(*value);
    op.erase();
  }
  return success();
}

void skim::cpu::lowerItemUsers(tile::ItemRecordOp item) {
  for (Operation *user : llvm::make_early_inc_range(item->getUsers())) {
    Code beside = Code::after(item);
    if (Value value = itemValue(beside, item, user))
      user->getResult(0).replaceAllUsesWith(value);
    else if (auto status = dyn_cast<tile::RaiseStatusOp>(user)) {
      Code code = Code::before(status);
      raiseStatus(code, item, status);
    } else {
      continue;
    }
    user->erase();
  }
}
