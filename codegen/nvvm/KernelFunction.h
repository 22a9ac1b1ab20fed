// Entry points: the arguments of the binary contract, and how the host launches them.
#ifndef SKIM_CODEGEN_NVVM_KERNELFUNCTION_H
#define SKIM_CODEGEN_NVVM_KERNELFUNCTION_H

#include "codegen/nvvm/Device.h"
#include "runtime/LaunchPlan.h"

namespace skim::nvvm {

/// Threads of a block whose threads run items each on their own.
inline constexpr int64_t kThreadsOfItems = 128;

/// Declares a kernel for blocks of `threads` threads, in front of where `device` stands. Its
/// arguments are pointers to the kernel's arguments, to the items, to their number and to the
/// counter from which items are taken, and the tensor maps of queries, keys and values.
mlir::LLVM::LLVMFuncOp createKernelFunction(Device &device, llvm::StringRef name, int64_t threads);

/// Makes `program` a kernel of the same name whose warps run the items i, i + n, i + 2n, ..., where
/// i is the number of the warp among all n of the grid. `write` writes what a warp does for
/// items[ordinal].
void createWarpKernel(tile::ProgramOp program,
                      llvm::function_ref<void(Device &device, mlir::Value arguments,
                                              mlir::Value items, mlir::Value ordinal)>
                          write);

/// Says in `plan` how the kernels that the programs of `module` become are launched.
void describeLaunches(mlir::ModuleOp module, LaunchPlan &plan);

/// The attribute of an attention program that names the buffer of its key norms.
inline constexpr llvm::StringLiteral kKeyNormsAttr = "hopper.key_norms";

/// The attribute of an attention program that names the program that counts its items' visits.
inline constexpr llvm::StringLiteral kOrderedByAttr = "hopper.ordered_by";

/// Whether a program is attention, which roles share, and not something that threads do item by
/// item.
bool isAttention(tile::ProgramOp program);
/// Whether a program writes block means, a warp a block.
bool isPooling(tile::ProgramOp program);
/// Whether a program counts the visits of items, a warp an item.
bool isCounting(tile::ProgramOp program);

/// The elements of a buffer of the launch plan beside a program; null where there is no plan.
mlir::Type bufferElement(tile::ProgramOp program, int64_t slot);

/// The page size that the launch plan beside a program says, 0 for contiguous keys and values.
int64_t pageSizeOf(tile::ProgramOp program);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_KERNELFUNCTION_H
