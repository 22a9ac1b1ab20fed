// Calls of the runtime library from generated code.
#ifndef SKIM_CODEGEN_CPU_RUNTIMECALLS_H
#define SKIM_CODEGEN_CPU_RUNTIMECALLS_H

#include "codegen/cpu/Code.h"

namespace skim::cpu {

/// One row of scores: `count` f32 at `scores`, a byte for each at `selected`, and, for `top_p`,
/// room for as many i32 at `order`.
struct SelectionRow {
  mlir::Value scores, count, amount, selected, order;
};
/// Declares the runtime's function in the module of `user` on first use, and calls it.
void callSelection(Code &code, mlir::Operation *user, tile::Selection kind,
                   const SelectionRow &row);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_RUNTIMECALLS_H
