#include "codegen/nvvm/LaneEndPoints.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

static constexpr size_t kLanes = 32;

void LaneEndPoints::append(Value lower, Value upper) {
  if (intervals % kLanes == 0)
    words.push_back({device.i32(0), device.i32(0), {}});
  Word &word = words.back();
  Value own = device.isLane(static_cast<int64_t>(intervals++ % kLanes));
  word.lower = device.select(own, device.toI32(lower), word.lower);
  word.upper = device.select(own, device.toI32(upper), word.upper);
}

Value LaneEndPoints::goesOn(Value from, Value end, cpu::WalkOrder order) {
  // In 32 bits, so that the end occupies one register.
  Value start = device.toI32(from);
  return order == cpu::WalkOrder::Ascending ? device.less(start, device.toI32(end))
                                            : device.less(device.i32(0), start);
}

Value LaneEndPoints::next(Value from, Value end, cpu::WalkOrder order) {
  bool ascending = order == cpu::WalkOrder::Ascending;
  // Minima with the end must not be kept for the loop.
  Value start = device.toI32(from);
  Value last = ascending ? device.pin(device.toI32(end)) : device.i32(0), to = last;
  for (const Word &word : words)
    for (Value own : {word.lower, word.upper}) {
      Value behind = ascending ? device.less(start, own) : device.less(own, start);
      Value point = device.select(behind, own, last);
      to = ascending ? device.min(to, point) : device.max(to, point);
    }
  Value all = NVVM::ReduxOp::create(device, to.getType(), to,
                                    ascending ? NVVM::ReduxKind::MIN : NVVM::ReduxKind::MAX,
                                    device.i32(-1));
  return device.toIndex(all);
}

cpu::Code::Values LaneEndPoints::active(Value bottom, Value top) {
  Value first = device.toI32(bottom), end = device.toI32(top);
  for (Word &word : words)
    word.active = device.ballot(device.logicalAnd(device.lessOrEqual(word.lower, first),
                                                  device.lessOrEqual(end, word.upper)));
  return bits([](Value active) { return active; });
}

std::optional<cpu::Code::Values> LaneEndPoints::activeAgain() {
  // Tests of single bits must not be moved out of the loop over tiles.
  return bits([&](Value active) { return device.pin(active); });
}

cpu::Code::Values LaneEndPoints::bits(llvm::function_ref<Value(Value)> read) {
  cpu::Code::Values bits;
  Value word;
  for (size_t i = 0; i < intervals; ++i) {
    if (i % kLanes == 0)
      word = read(words[i / kLanes].active);
    Value bit = device.bitAnd(word, int64_t(1) << i % kLanes);
    bits.push_back(device.logicalNot(device.equal(bit, device.i32(0))));
  }
  return bits;
}
