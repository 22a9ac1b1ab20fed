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
#include "llvm/ADT/TypeSwitch.h"

namespace skim::cpu {

/// The target that the option names, or null with an error on the pass's operation.
inline const Target *resolveTarget(mlir::Pass &pass, mlir::Operation *root, llvm::StringRef name) {
  llvm::Expected<const Target *> target = findTarget(name);
  if (target)
    return *target;
  root->emitError() << "'" << pass.getArgument() << "': " << llvm::toString(target.takeError());
  return nullptr;
}

/// Users first: for lowerings that look for what their operands come from.
enum class LoweringOrder { InOrder, UsersFirst };

/// Calls `lower(op, target)` for each operation under `root` of one of the kinds `Ops`; fails where
/// the target is unknown or a call fails, after which an error was emitted.
template <typename... Ops, typename Lower>
mlir::LogicalResult lowerOperations(mlir::Pass &pass, mlir::Operation *root,
                                    llvm::StringRef targetName, Lower lower,
                                    LoweringOrder order = LoweringOrder::InOrder) {
  const Target *target = resolveTarget(pass, root, targetName);
  if (!target)
    return mlir::failure();
  llvm::SmallVector<mlir::Operation *> ops;
  root->walk([&](mlir::Operation *op) {
    if (llvm::isa<Ops...>(op))
      ops.push_back(op);
  });
  if (order == LoweringOrder::UsersFirst)
    std::reverse(ops.begin(), ops.end());
  for (mlir::Operation *op : ops)
    if (failed(llvm::TypeSwitch<mlir::Operation *, mlir::LogicalResult>(op).Case<Ops...>(
            [&](auto known) { return lower(known, *target); })))
      return mlir::failure();
  return mlir::success();
}

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_TARGETPASS_H
