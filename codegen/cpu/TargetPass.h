// What passes with a `target` option share.
#ifndef SKIM_CODEGEN_CPU_TARGETPASS_H
#define SKIM_CODEGEN_CPU_TARGETPASS_H

#include "codegen/cpu/Passes.h"
#include "codegen/cpu/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace skim::cpu {

/// The target that the option names, or null with an error on the pass's operation.
inline const Target *resolveTarget(mlir::Pass &pass, mlir::Operation *root, llvm::StringRef name) {
  llvm::Expected<const Target *> target = findTarget(name);
  if (target)
    return *target;
  root->emitError() << "'" << pass.getArgument() << "': " << llvm::toString(target.takeError());
  return nullptr;
}

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_TARGETPASS_H
