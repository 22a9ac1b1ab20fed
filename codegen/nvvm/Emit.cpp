#include "codegen/nvvm/Emit.h"

#include "codegen/nvvm/Pipeline.h"
#include "dialect/Tile/TileOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

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
  Triple triple(kTriple);
  std::string message;
  const Target *backEnd = TargetRegistry::lookupTarget(triple, message);
  if (!backEnd)
    return createStringError("no code generator for '" + kProcessor + "': " + message);
  std::unique_ptr<TargetMachine> machine(
      backEnd->createTargetMachine(triple, kProcessor, kFeatures, TargetOptions(), std::nullopt,
                                   std::nullopt, CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError("no code generator for '" + kProcessor + "'");
  return machine;
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

static void optimize(Module &module, TargetMachine &machine) {
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager callGraph;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(callGraph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, callGraph, modules);
  ModulePassManager passes;
  cantFail(builder.parsePassPipeline(
      passes,
      "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,loop-mssa(licm),"
      "early-cse<memssa>,simplifycfg)"));
  passes.run(module, modules);
}

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
  std::unique_ptr<Module> result = mlir::translateModuleToLLVMIR(*lowered, context, "skim");
  if (!result)
    return createStringError("cannot translate the programs to LLVM IR");
  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  annotate(*result);
  optimize(*result, machine);
  return result;
}

Expected<std::string> skim::nvvm::emit(mlir::ModuleOp module, OutputKind kind) {
  Expected<std::unique_ptr<TargetMachine>> machine = createMachine();
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
  legacy::PassManager emission;
  if ((*machine)->addPassesToEmitFile(emission, stream, nullptr, CodeGenFileType::AssemblyFile))
    return createStringError("the code generator for '" + kProcessor + "' cannot write PTX");
  emission.run(**llvmModule);
  return std::string(text);
}
