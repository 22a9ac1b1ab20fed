// Passes from `tile` to kernels of sm_90a.
#ifndef SKIM_CODEGEN_NVVM_PASSES_H
#define SKIM_CODEGEN_NVVM_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace skim::nvvm {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/nvvm/Passes.h.inc"

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_PASSES_H
