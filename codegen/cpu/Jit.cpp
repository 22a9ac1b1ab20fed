#include "codegen/cpu/Jit.h"

#include "codegen/cpu/Emit.h"
#include "runtime/cpu/Selection.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace skim::cpu;

struct Jit::Implementation {
  std::unique_ptr<orc::LLJIT> session;
};

Jit::Jit(std::unique_ptr<Implementation> implementation)
    : implementation(std::move(implementation)) {}
Jit::~Jit() = default;

Expected<std::unique_ptr<Jit>> Jit::create(mlir::ModuleOp module, const Target &target) {
  if (!hostRuns(target))
    return createStringError("this machine cannot run code for '" + target.name + "'");
  Expected<SmallVector<char, 0>> object = emit(module, target, OutputKind::Object);
  if (!object)
    return object.takeError();

  Expected<std::unique_ptr<orc::LLJIT>> session = orc::LLJITBuilder().create();
  if (!session)
    return session.takeError();
  orc::JITDylib &library = (*session)->getMainJITDylib();

  // What generated code calls: the runtime library, and mathematics of the C library.
  orc::SymbolMap symbols;
  auto define = [&](StringRef name, auto *function) {
    symbols[(*session)->mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                                  JITSymbolFlags::Exported};
  };
  define("skim_select_top_k", &skim_select_top_k);
  define("skim_select_top_p", &skim_select_top_p);
  if (Error error = library.define(orc::absoluteSymbols(std::move(symbols))))
    return error;
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      (*session)->getDataLayout().getGlobalPrefix());
  if (!process)
    return process.takeError();
  library.addGenerator(std::move(*process));

  auto buffer = std::make_unique<SmallVectorMemoryBuffer>(std::move(*object), "skim",
                                                          /*RequiresNullTerminator=*/false);
  if (Error error = (*session)->addObjectFile(std::move(buffer)))
    return error;
  auto implementation = std::make_unique<Implementation>();
  implementation->session = std::move(*session);
  return std::unique_ptr<Jit>(new Jit(std::move(implementation)));
}

Expected<skim_cpu_kernel> Jit::lookup(StringRef symbol) const {
  Expected<orc::ExecutorAddr> address = implementation->session->lookup(symbol);
  if (!address)
    return address.takeError();
  return address->toPtr<skim_cpu_kernel>();
}
