// Values of an item to where its visits need them.
#include "codegen/nvvm/Device.h"
#include "codegen/nvvm/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace skim::nvvm {
#define GEN_PASS_DEF_RELOADITEMVALUES
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

namespace {

/// Registers that may be occupied for conditional code throughout a loop: of consumers few, since
/// their masks are rare; of the scheduler some, which tests tiles in each step.
constexpr int64_t kMostKeptOfConsumer = 6;
constexpr int64_t kMostKeptOfScheduler = 12;

/// Of 32 bits; a truth needs one where predicates are scarce.
int64_t registersOf(Value value) {
  Type type = value.getType();
  if (type.isIndex() || isa<LLVM::LLVMPointerType>(type))
    return 2;
  return type.isIntOrFloat() ? (type.getIntOrFloatBitWidth() + 31) / 32 : 0;
}

bool isLoop(Operation *op) { return isa<scf::WhileOp, scf::ForOp>(op); }

bool contains(Operation *loop, llvm::function_ref<bool(Operation *)> isWanted) {
  return loop
      ->walk([&](Operation *op) {
        return isWanted(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a loop does more than to compute values: waits, stores, exchanges with other lanes.
bool acts(Operation *loop) {
  return contains(loop, [](Operation *op) {
    return !isa_and_nonnull<scf::SCFDialect>(op->getDialect()) && !isa<LLVM::LoadOp>(op) &&
           !isMemoryEffectFree(op);
  });
}

/// A loop over visits, and what its branches need of the item.
class VisitLoop {
public:
  explicit VisitLoop(Operation *loop)
      : loop(loop), ofConsumer(contains(loop, llvm::IsaPred<NVVM::WgmmaFenceAlignedOp>)) {}

  void run() {
    // Loaders copy without conditions, and wait for nothing more.
    if (!ofConsumer && !contains(loop, llvm::IsaPred<NVVM::VoteSyncOp>))
      return;
    collect();
    choose();
    for (auto &[block, values] : byBranch)
      repeat(block, values.getArrayRef());
  }

private:
  bool isOutside(Value value) {
    return value.getParentRegion()->isProperAncestor(&loop->getRegion(0));
  }
  /// Whether `op` can be computed anywhere in the loop behind its operands: it is arithmetic, or
  /// loads what no attention kernel writes. Of shared memory that is the record of an item, all
  /// that consumers have read there before their loop.
  bool canRepeat(Operation *op);
  /// The innermost branch around `op` that is not inside of a loop that only computes; null where
  /// there is none in this loop.
  Block *branchOf(Operation *op);
  void collect();
  /// Decides what is computed again: all values that only branches use, if these are many.
  void choose();
  /// What must be kept so that `value` can be computed again.
  void collectKept(Value value, llvm::SmallSetVector<Value, 16> &kept);
  void repeat(Block *block, ArrayRef<Value> values);
  Value copy(OpBuilder &builder, Value value, IRMapping &mapping);

  Operation *loop;
  bool ofConsumer;
  llvm::MapVector<Value, SmallVector<std::pair<Block *, OpOperand *>>> uses;
  llvm::MapVector<Block *, llvm::SmallSetVector<Value, 8>> byBranch;
};

} // namespace

bool VisitLoop::canRepeat(Operation *op) {
  if (!op || op->getNumRegions() != 0 || op->getNumResults() != 1)
    return false;
  if (auto load = dyn_cast<LLVM::LoadOp>(op)) {
    auto pointer = cast<LLVM::LLVMPointerType>(load.getAddr().getType());
    bool constant = pointer.getAddressSpace() == 0 || ofConsumer;
    return constant && !load.getVolatile_() && !load.getAddr().getDefiningOp<LLVM::AllocaOp>();
  }
  return !isa<LLVM::AllocaOp>(op) && isMemoryEffectFree(op);
}

Block *VisitLoop::branchOf(Operation *op) {
  Block *branch = nullptr;
  for (Operation *at = op; at != loop; at = at->getParentOp()) {
    Operation *parent = at->getParentOp();
    if (isLoop(parent) && parent != loop && !acts(parent))
      branch = nullptr;
    else if (isa<scf::IfOp>(parent) && !branch)
      branch = at->getBlock();
  }
  return branch;
}

void VisitLoop::collect() {
  loop->walk([&](Operation *op) {
    if (op == loop)
      return;
    Block *branch = nullptr;
    bool known = false;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isOutside(operand.get()))
        continue;
      if (!known)
        branch = branchOf(op);
      known = true;
      uses[operand.get()].emplace_back(branch, &operand);
    }
  });
}

void VisitLoop::collectKept(Value value, llvm::SmallSetVector<Value, 16> &kept) {
  Operation *op = value.getDefiningOp();
  if (!canRepeat(op)) {
    kept.insert(value);
    return;
  }
  for (Value operand : op->getOperands())
    collectKept(operand, kept);
}

void VisitLoop::choose() {
  llvm::SmallSetVector<Value, 16> repeated, kept;
  for (auto &[value, all] : uses) {
    bool onlyBranches = llvm::all_of(all, [](auto &use) { return use.first != nullptr; });
    if (onlyBranches && canRepeat(value.getDefiningOp()))
      repeated.insert(value);
  }
  int64_t saved = 0;
  for (Value value : repeated) {
    if (!value.getDefiningOp()->hasTrait<OpTrait::ConstantLike>())
      saved += registersOf(value);
    collectKept(value, kept);
  }
  for (Value value : kept)
    if (!uses.contains(value))
      saved -= registersOf(value);
  int64_t most = ofConsumer ? kMostKeptOfConsumer : kMostKeptOfScheduler;
  if (saved <= most)
    return;
  for (Value value : repeated)
    for (auto &[branch, operand] : uses[value])
      byBranch[branch].insert(value);
}

Value VisitLoop::copy(OpBuilder &builder, Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!canRepeat(op)) {
    Device device(value.getLoc(), builder);
    // LLVM would move what is computed from it out of the loop again.
    Value pinned = value.getType().isInteger(32) ? device.pin(value) : value;
    mapping.map(value, pinned);
    return pinned;
  }
  for (Value operand : op->getOperands())
    copy(builder, operand, mapping);
  Value copied = builder.clone(*op, mapping)->getResult(0);
  mapping.map(value, copied);
  return copied;
}

void VisitLoop::repeat(Block *block, ArrayRef<Value> values) {
  OpBuilder builder = OpBuilder::atBlockBegin(block);
  IRMapping mapping;
  for (Value value : values) {
    Value copied = copy(builder, value, mapping);
    for (auto &[branch, operand] : uses[value])
      if (branch == block)
        operand->set(copied);
  }
}

namespace {

struct ReloadItemValuesPass : skim::nvvm::impl::ReloadItemValuesBase<ReloadItemValuesPass> {
  void runOnOperation() override {
    // Loops over visits stand in the loop over items, which stands in nothing but branches.
    SmallVector<Operation *> loops;
    getOperation().walk([&](LLVM::LLVMFuncOp function) {
      function.walk([&](Operation *op) {
        if (!isLoop(op) || !acts(op))
          return;
        int64_t depth = 0;
        for (Operation *parent = op->getParentOp(); parent != function;
             parent = parent->getParentOp())
          depth += isLoop(parent);
        if (depth == 1)
          loops.push_back(op);
      });
    });
    for (Operation *loop : loops)
      VisitLoop(loop).run();
  }
};

} // namespace
