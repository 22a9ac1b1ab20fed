// Passes from `tile` to structured loops over vectors.
#ifndef SKIM_CODEGEN_CPU_PASSES_H
#define SKIM_CODEGEN_CPU_PASSES_H

#include "mlir/Pass/Pass.h"

namespace skim::cpu {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "codegen/cpu/Passes.h.inc"

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_PASSES_H
