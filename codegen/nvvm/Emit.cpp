#include "codegen/nvvm/Emit.h"

#include "codegen/llvm/Emission.h"
#include "codegen/nvvm/Pipeline.h"
#include "dialect/Tile/TileOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace llvm;
using namespace skim;
using namespace skim::nvvm;

static Expected<std::unique_ptr<TargetMachine>> createMachine() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  return skim::createMachine(
      {kProcessor, kTriple, kProcessor, kFeatures, std::nullopt, CodeGenOptLevel::Aggressive});
}

/// What the back end must know of the kernels that MLIR does not say.
static void annotate(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", kProcessor);
    function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
    // Instructions that a warp executes together must not move under other conditions.
    for (Instruction &instruction : instructions(function))
      if (auto *call = dyn_cast<CallInst>(&instruction); call && call->isInlineAsm())
        call->setConvergent();
  }
}

static constexpr StringRef kPasses =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),"
    "early-cse<memssa>,simplifycfg)";

static Expected<std::unique_ptr<Module>> emitLlvm(mlir::ModuleOp module, TargetMachine &machine,
                                                  LLVMContext &context) {
  mlir::MLIRContext *mlirContext = module.getContext();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  mlirContext->appendDialectRegistry(registry);
  mlir::OwningOpRef<mlir::ModuleOp> lowered = module.clone();
  mlir::PassManager manager(mlirContext);
  addLowerTilePipeline(manager);
  addLowerLoopsPipeline(manager);
  if (mlir::failed(manager.run(*lowered)))
    return createStringError("cannot lower the programs to '" + kProcessor + "'");
  Expected<std::unique_ptr<Module>> result = translate(*lowered, machine, context);
  if (!result)
    return result.takeError();
  annotate(**result);
  optimize(**result, machine, kPasses);
  return result;
}

Expected<std::string> skim::nvvm::emit(mlir::ModuleOp module, OutputKind kind) {
  Expected<std::unique_ptr<TargetMachine>> machine = ::createMachine();
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  Expected<std::unique_ptr<Module>> llvmModule = emitLlvm(module, **machine, context);
  if (!llvmModule)
    return llvmModule.takeError();
  SmallString<0> text;
  raw_svector_ostream stream(text);
  if (kind == OutputKind::LlvmIr) {
    (*llvmModule)->print(stream, nullptr);
    return std::string(text);
  }
  if (Error error = emitFile(**llvmModule, **machine, CodeGenFileType::AssemblyFile, stream))
    return error;
  return std::string(text);
}
