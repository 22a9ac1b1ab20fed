#include "codegen/llvm/Emission.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace skim;

Expected<std::unique_ptr<TargetMachine>> skim::createMachine(const Processor &processor) {
  Triple triple(processor.triple);
  std::string message;
  const Target *backEnd = TargetRegistry::lookupTarget(triple, message);
  if (!backEnd)
    return createStringError("no code generator for '" + processor.name + "': " + message);
  std::unique_ptr<TargetMachine> machine(
      backEnd->createTargetMachine(triple, processor.processor, processor.features, TargetOptions(),
                                   processor.relocation, std::nullopt, processor.level));
  if (!machine)
    return createStringError("no code generator for '" + processor.name + "'");
  return machine;
}

Expected<std::unique_ptr<Module>>
skim::translate(mlir::ModuleOp lowered, const TargetMachine &machine, LLVMContext &context) {
  std::unique_ptr<Module> result = mlir::translateModuleToLLVMIR(lowered, context, "skim");
  if (!result)
    return createStringError("cannot translate the programs to LLVM IR");
  result->setTargetTriple(machine.getTargetTriple());
  result->setDataLayout(machine.createDataLayout());
  return result;
}

void skim::optimize(Module &module, TargetMachine &machine, StringRef pipeline) {
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
  cantFail(builder.parsePassPipeline(passes, pipeline));
  passes.run(module, modules);
}

Error skim::emitFile(Module &module, TargetMachine &machine, CodeGenFileType type,
                     raw_pwrite_stream &stream) {
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return createStringError("the code generator for '" + machine.getTargetTriple().str() +
                             "' cannot emit this kind of file");
  passes.run(module);
  return Error::success();
}
