// PTX to machine code by NVIDIA's assembler, and what it says about the code.
#ifndef SKIM_CODEGEN_NVVM_PTXAS_H
#define SKIM_CODEGEN_NVVM_PTXAS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skim::nvvm {

/// What a kernel takes of a multiprocessor.
struct KernelResources {
  std::string symbol;
  int64_t registers = 0;   ///< of a thread, at entry
  int64_t sharedBytes = 0; ///< static
  int64_t stackBytes = 0;
  int64_t spillStoreBytes = 0;
  int64_t spillLoadBytes = 0;
};

struct Assembly {
  std::string cubin; ///< bytes of an ELF file
  std::vector<KernelResources> kernels;
};

/// The assembler: $SKIM_PTXAS (empty: none), on $PATH, in $CUDA_HOME or $CUDA_PATH, in
/// /usr/local/cuda, or of the Python package nvidia-cuda-nvcc in the environment $VIRTUAL_ENV. An
/// error says where it was looked for.
llvm::Expected<std::string> findPtxas();
/// The same where there may be none; an error where $SKIM_PTXAS names no program.
llvm::Expected<std::optional<std::string>> lookForPtxas();

/// Assembles `ptx` for `architecture`, for example sm_90a. Code that would run far below what it
/// was written for is an error with the assembler's words: spills or a stack, `wgmma` made serial,
/// `setmaxnreg` ignored.
llvm::Expected<Assembly> assemble(llvm::StringRef ptx, llvm::StringRef architecture);

/// What the assembler printed, read; an error as `assemble` says.
llvm::Expected<std::vector<KernelResources>> readAssemblerLog(llvm::StringRef log);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_PTXAS_H
