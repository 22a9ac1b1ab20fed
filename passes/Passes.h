// Declarations of the passes; see Passes.td.
#ifndef SKIM_PASSES_PASSES_H
#define SKIM_PASSES_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>

namespace skim {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace skim

#endif // SKIM_PASSES_PASSES_H
