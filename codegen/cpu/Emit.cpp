#include "codegen/cpu/Emit.h"

#include "codegen/cpu/Pipeline.h"
#include "dialect/Tile/TileOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
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
using namespace skim::cpu;

static void initializeBackEnds() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

Expected<std::unique_ptr<TargetMachine>> skim::cpu::createMachine(const Target &target) {
  initializeBackEnds();
  Triple triple(target.triple);
  std::string message;
  const llvm::Target *backEnd = TargetRegistry::lookupTarget(triple, message);
  if (!backEnd)
    return createStringError("no code generator for '" + target.name + "': " + message);
  std::unique_ptr<TargetMachine> machine(
      backEnd->createTargetMachine(triple, target.processor, /*Features=*/"", TargetOptions(),
                                   Reloc::PIC_, std::nullopt, CodeGenOptLevel::Default));
  if (!machine)
    return createStringError("no code generator for '" + target.name + "'");
  return machine;
}

/// A copy that holds the programs of `module` and nothing else.
static mlir::OwningOpRef<mlir::ModuleOp> copyPrograms(mlir::ModuleOp module) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = mlir::ModuleOp::create(module.getLoc());
  for (auto program : module.getOps<tile::ProgramOp>())
    copy->push_back(program->clone());
  return copy;
}

/// Loops are vectorised and blocked for registers already, so little is left to find: these passes
/// give the code of the O2 pipeline in a seventh of its time.
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
      "function(sroa,early-cse<memssa>,simplifycfg,loop-mssa(licm),instcombine<no-verify-fixpoint>,"
      "early-cse<memssa>,simplifycfg)"));
  passes.run(module, modules);
}

Expected<std::unique_ptr<Module>> skim::cpu::emitLlvm(mlir::ModuleOp module, const Target &target,
                                                      TargetMachine &machine,
                                                      LLVMContext &context) {
  mlir::MLIRContext *mlirContext = module.getContext();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlirContext->appendDialectRegistry(registry);
  mlir::OwningOpRef<mlir::ModuleOp> lowered = copyPrograms(module);
  mlir::PassManager manager(mlirContext);
  addLowerTilePipeline(manager, target);
  addLowerLoopsPipeline(manager, target);
  if (mlir::failed(manager.run(*lowered)))
    return createStringError("cannot lower the programs to '" + target.name + "'");

  std::unique_ptr<Module> result = mlir::translateModuleToLLVMIR(*lowered, context, "skim");
  if (!result)
    return createStringError("cannot translate the programs to LLVM IR");
  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  for (Function &function : *result) {
    function.addFnAttr("target-cpu", target.processor);
    // Nothing unwinds through kernels, so that no tables are needed for it.
    function.setDoesNotThrow();
    // Whole registers, also where the processor family prefers halves.
    function.addFnAttr("prefer-vector-width", std::to_string(32 * target.lanes));
  }
  optimize(*result, machine);
  return result;
}

Expected<SmallVector<char, 0>> skim::cpu::emit(mlir::ModuleOp module, const Target &target,
                                               OutputKind kind) {
  Expected<std::unique_ptr<TargetMachine>> machine = createMachine(target);
  if (!machine)
    return machine.takeError();
  LLVMContext context;
  Expected<std::unique_ptr<Module>> llvmModule = emitLlvm(module, target, **machine, context);
  if (!llvmModule)
    return llvmModule.takeError();
  SmallVector<char, 0> output;
  raw_svector_ostream stream(output);
  if (kind == OutputKind::LlvmIr) {
    stream << **llvmModule;
    return output;
  }
  legacy::PassManager passes;
  CodeGenFileType type =
      kind == OutputKind::Object ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile;
  if ((*machine)->addPassesToEmitFile(passes, stream, nullptr, type))
    return createStringError("cannot emit this kind of file for '" + target.name + "'");
  passes.run(**llvmModule);
  return output;
}
