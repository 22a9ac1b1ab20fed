#include "codegen/cpu/Emit.h"

#include "codegen/cpu/Pipeline.h"
#include "codegen/llvm/Emission.h"
#include "dialect/Tile/TileOps.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

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
  return skim::createMachine({target.name, target.triple, target.processor, /*features=*/"",
                              Reloc::PIC_, CodeGenOptLevel::Default});
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
static constexpr StringRef kPasses =
    "function(sroa,early-cse<memssa>,simplifycfg,loop-mssa(licm),instcombine<no-verify-fixpoint>,"
    "early-cse<memssa>,simplifycfg)";

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

  Expected<std::unique_ptr<Module>> result = translate(*lowered, machine, context);
  if (!result)
    return result.takeError();
  for (Function &function : **result) {
    function.addFnAttr("target-cpu", target.processor);
    // Nothing unwinds through kernels, so that no tables are needed for it.
    function.setDoesNotThrow();
    // Whole registers, also where the processor family prefers halves.
    function.addFnAttr("prefer-vector-width", std::to_string(32 * target.lanes));
  }
  optimize(**result, machine, kPasses);
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
  CodeGenFileType type =
      kind == OutputKind::Object ? CodeGenFileType::ObjectFile : CodeGenFileType::AssemblyFile;
  if (Error error = emitFile(**llvmModule, **machine, type, stream))
    return error;
  return output;
}
