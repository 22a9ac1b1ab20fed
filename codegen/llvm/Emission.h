// From MLIR's dialect `llvm` to files of machine code or assembly, for any target.
#ifndef SKIM_CODEGEN_LLVM_EMISSION_H
#define SKIM_CODEGEN_LLVM_EMISSION_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>

namespace llvm {
class TargetMachine;
class raw_pwrite_stream;
} // namespace llvm

namespace skim {

/// A processor as LLVM knows it, and how code for it is made.
struct Processor {
  llvm::StringRef name; ///< in error messages
  llvm::StringRef triple, processor, features;
  std::optional<llvm::Reloc::Model> relocation;
  llvm::CodeGenOptLevel level;
};

/// The back end of the processor, which the caller has initialized.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine(const Processor &processor);

/// The module, whose operations are those of the dialect `llvm`, in LLVM's own form.
llvm::Expected<std::unique_ptr<llvm::Module>>
translate(mlir::ModuleOp lowered, const llvm::TargetMachine &machine, llvm::LLVMContext &context);

/// Runs a pipeline of LLVM's passes, written as for `opt`.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, llvm::StringRef pipeline);

/// Writes a file of the given type.
llvm::Error emitFile(llvm::Module &module, llvm::TargetMachine &machine, llvm::CodeGenFileType type,
                     llvm::raw_pwrite_stream &stream);

} // namespace skim

#endif // SKIM_CODEGEN_LLVM_EMISSION_H
