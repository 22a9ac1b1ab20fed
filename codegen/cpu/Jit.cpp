#include "codegen/cpu/Jit.h"

#include "codegen/cpu/Emit.h"
#include "codegen/cpu/LinkImage.h"
#include "dialect/Tile/TileOps.h"

#include "mlir/IR/BuiltinOps.h"

#include <algorithm>

using namespace llvm;
using namespace skim::cpu;

static Error failure(const skim::Status &status) { return createStringError(status.message()); }

llvm::Expected<std::unique_ptr<Jit>> Jit::create(mlir::ModuleOp module, const Target &target) {
  if (!hostRuns(target))
    return createStringError("this machine cannot run code for '" + target.name + "'");
  llvm::Expected<SmallVector<char, 0>> object = emit(module, target, OutputKind::Object);
  if (!object)
    return object.takeError();
  std::vector<std::string> symbols;
  for (auto program : module.getOps<tile::ProgramOp>())
    symbols.push_back(program.getSymName().str());
  llvm::Expected<CodeImage> image = linkImage(*object, symbols);
  if (!image)
    return image.takeError();
  skim::Expected<CodeMemory> memory = CodeMemory::allocate(image->bytes.size());
  if (!memory)
    return failure(memory.status());
  std::ranges::copy(image->bytes, memory->writable().begin());
  skim::Expected<std::vector<skim_cpu_kernel>> kernels = memory->finish(image->layout);
  if (!kernels)
    return failure(kernels.status());
  StringMap<skim_cpu_kernel> functions;
  for (const auto &[symbol, kernel] : zip_equal(symbols, *kernels))
    functions[symbol] = kernel;
  return std::unique_ptr<Jit>(new Jit(std::move(*memory), std::move(functions)));
}

llvm::Expected<skim_cpu_kernel> Jit::lookup(StringRef symbol) const {
  auto found = functions.find(symbol);
  if (found == functions.end())
    return createStringError("no program is called '" + symbol + "'");
  return found->second;
}
