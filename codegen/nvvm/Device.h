// Builder of what a warp does: 32-bit numbers, shared memory, barriers, lanes.
#ifndef SKIM_CODEGEN_NVVM_DEVICE_H
#define SKIM_CODEGEN_NVVM_DEVICE_H

#include "codegen/cpu/Code.h"
#include "codegen/nvvm/HopperOps.h"
#include "codegen/nvvm/SharedLayout.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace skim::nvvm {

class Device : public cpu::Code {
public:
  using Code::Code;
  /// Writes in front of `op`.
  static Device before(mlir::Operation *op);

  /// The function that is written. Its blocks may not be part of it yet.
  mlir::LLVM::LLVMFuncOp kernel;

  mlir::Value i32(int64_t value);
  mlir::Value toI32(mlir::Value index);
  mlir::Value toIndex(mlir::Value i32);
  /// The nearest number of 32 bits.
  mlir::Value saturateToI32(mlir::Value index);
  /// The same 32 bits, of which LLVM does not know where they come from: what is computed from them
  /// stays behind this place.
  mlir::Value pin(mlir::Value value);
  mlir::Value shiftRight(mlir::Value a, int64_t bits);
  mlir::Value bitAnd(mlir::Value a, int64_t mask);

  // Shared memory: addresses are offsets in bytes from its start.
  mlir::Value shared(mlir::Value offset);
  mlir::Value shared(int64_t offset) { return shared(i32(offset)); }
  mlir::Value loadShared(mlir::Value offset, int64_t plus = 0);
  void storeShared(mlir::Value value, mlir::Value offset, int64_t plus = 0);

  // Barriers of a ring's slot.
  mlir::Value filled(const Ring &ring, mlir::Value slot);
  mlir::Value empty(const Ring &ring, mlir::Value slot);
  /// The slot and the parity of the phase of use `number`.
  mlir::Value slotOf(const Ring &ring, mlir::Value number);
  mlir::Value parityOf(const Ring &ring, mlir::Value number);
  /// Blocks until the phase of that parity has ended.
  void waitFor(mlir::Value barrier, mlir::Value parity);
  /// Blocks until the slot of use `number` is filled, or free to be filled.
  void waitFilled(const Ring &ring, mlir::Value number);
  void waitEmpty(const Ring &ring, mlir::Value number);
  void arrive(mlir::Value barrier);
  /// Arrives, and has the phase end when `bytes` have been copied, too.
  void arriveExpecting(mlir::Value barrier, int64_t bytes);
  /// One lane of each warp arrives: the branch would cost more than the predicate.
  void arriveOnce(mlir::Value barrier, mlir::Value elected);

  // Lanes of a warp.
  mlir::Value lane();
  mlir::Value thread();
  mlir::Value isLane(int64_t number);
  mlir::Value ballot(mlir::Value predicate);
  mlir::Value any(mlir::Value predicate);
  mlir::Value broadcast(mlir::Value value); ///< lane 0's
  mlir::Value exchange(mlir::Value value,
                       int64_t mask); ///< of the lane whose number differs in `mask`
  /// The sum over the lanes before this one, and over all lanes.
  std::pair<mlir::Value, mlir::Value> prefixSum(mlir::Value value);
  void syncWarp();
  /// `sum` and the products of four bytes, all without sign, with the four of `weights`.
  mlir::Value dotBytes(mlir::Value bytes, uint32_t weights, mlir::Value sum);
  /// Asks for the line at an address that is to be loaded later.
  void prefetch(mlir::Value address);

  // A variable of the frame, promoted to registers later.
  mlir::Value get(mlir::Value variable, mlir::Type type);
  mlir::Value getI32(mlir::Value variable) { return get(variable, getI32Type()); }
  void set(mlir::Value variable, mlir::Value value);
};

/// The attribute of a function that says which page size its kernel is for.
inline constexpr llvm::StringLiteral kPageSizeAttr = "hopper.page_size";
/// Declares the dynamic shared memory that kernels of `module` use.
void declareSharedMemory(mlir::ModuleOp module);
/// Its layout of shared memory.
SharedLayout sharedLayout(mlir::Operation *op);

/// Variables of each thread: what its warp counts (items, visits and batches since the kernel's
/// start, visits of the batch that is being filled, copies that the barrier of cut tiles has seen),
/// the ordinal of the item that was taken, the flag of an item's last visit, the number of its
/// warp, the token of the item's first key, and the softmax scale. Where keys are gathered: how
/// many keys the batch lists, and which of its lists need their mask (a bit each).
enum class Frame {
  Item,
  Visit,
  Batch,
  Fill,
  Tail,
  Taken,
  Last,
  Warp,
  KeyToken,
  Listed,
  MaskedLists,
  Scale
};
/// Finds a variable of the kernel.
mlir::Value frame(Device &device, Frame which);
/// Makes all variables of the kernel; counts are 0.
void createFrame(Device &device);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_DEVICE_H
