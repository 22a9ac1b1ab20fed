#include "codegen/nvvm/KeyStores.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;
using cpu::Code;

/// Stores where `condition` holds. A predicate costs less than a branch.
static void storeSharedIf(Device &device, Value condition, Value value, Value address) {
  LLVM::InlineAsmOp::create(device, Type(), ValueRange{condition, address, value},
                            "@$0 st.shared.b32 [$1], $2;", "b,r,r,~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
                            ArrayAttr());
}

/// The same value, of which nobody knows what it is a sum of: loops would add the terms each time.
static Value opaque(Device &device, Value value) {
  return LLVM::InlineAsmOp::create(device, value.getType(), value, "mov.b32 $0, $1;", "=r,r",
                                   /*has_side_effects=*/false, /*is_align_stack=*/false,
                                   LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
                                   ArrayAttr())
      .getRes();
}

/// The bits of `word` without the `count` lowest.
static Value withoutLowest(Device &device, Value word, Value count) {
  return device.loop(device.index(0), device.toIndex(count), 1, {word},
                     [&](Value, ValueRange rest) -> Code::Values {
                       return {device.logicalAnd(rest[0], device.sub(rest[0], device.i32(1)))};
                     })[0];
}

/// Of each word, whose keys' ranks start at those of `ranks`, the bits of ranks from `end` on.
static Code::Values bitsBehind(Device &device, ValueRange words, ValueRange ranks, Value end) {
  Code::Values behind;
  Value zero = device.i32(0);
  for (auto [word, rank] : llvm::zip(words, ranks)) {
    Value last = device.add(rank, math::CtPopOp::create(device, word));
    Value whole = device.lessOrEqual(last, end);
    Value cut = device.select(whole, zero, device.max(device.sub(end, rank), zero));
    behind.push_back(device.select(whole, zero, withoutLowest(device, word, cut)));
  }
  return behind;
}

/// Stores the keys of all words: the lowest of each in every turn.
static void storeAll(Device &device, Value firstKey, ValueRange words, ValueRange places) {
  size_t count = words.size();
  Code::Values initial(places);
  llvm::append_range(initial, words);
  SmallVector<Type> types(2 * count, device.getI32Type());
  SmallVector<Location> locations(types.size(), device.getLoc());
  auto turns = scf::WhileOp::create(device, types, initial);
  OpBuilder::InsertionGuard guard(device);
  Block *turn = device.createBlock(&turns.getBefore(), {}, types, locations);
  Code::Values nextPlaces, nextWords;
  Value zero = device.i32(0), rest = zero;
  for (size_t i = 0; i < count; ++i) {
    Value place = turn->getArgument(i), word = turn->getArgument(count + i);
    Value some = device.logicalNot(device.equal(word, zero));
    // A word without keys has no lowest one, and what it is taken for is not stored.
    Value lowest = LLVM::CountTrailingZerosOp::create(device, device.getI32Type(), word,
                                                      /*is_zero_poison=*/true);
    Value first = device.add(firstKey, device.i32(static_cast<int64_t>(32 * i)));
    storeSharedIf(device, some, device.add(first, lowest), place);
    nextPlaces.push_back(device.add(place, device.i32(4)));
    nextWords.push_back(device.logicalAnd(word, device.sub(word, device.i32(1))));
    rest = device.logicalOr(rest, nextWords.back());
  }
  llvm::append_range(nextPlaces, nextWords);
  Value more = device.any(device.logicalNot(device.equal(rest, zero)));
  scf::ConditionOp::create(device, more, nextPlaces);
  Block *again = device.createBlock(&turns.getAfter(), {}, types, locations);
  scf::YieldOp::create(device, again->getArguments());
}

Code::Values skim::nvvm::storeKeys(Device &device, Value firstKey, Value start, Value before,
                                   Value end, Value total, ValueRange words) {
  Code::Values ranks, places;
  Value rank = before, zero = device.i32(0);
  start = opaque(device, start);
  for (Value word : words) {
    ranks.push_back(rank);
    places.push_back(device.add(start, device.mul(rank, device.i32(4))));
    rank = device.add(rank, math::CtPopOp::create(device, word));
  }
  Code::Values left = device.choose(
      device.equal(end, total), [&] { return Code::Values(words.size(), zero); },
      [&] { return bitsBehind(device, words, ranks, end); });
  Code::Values stored;
  for (auto [word, behind] : llvm::zip(words, left))
    stored.push_back(arith::XOrIOp::create(device, word, behind));
  storeAll(device, firstKey, stored, places);
  return left;
}
