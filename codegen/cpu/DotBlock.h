// The register block of products of rows with keys.
#ifndef SKIM_CODEGEN_CPU_DOTBLOCK_H
#define SKIM_CODEGEN_CPU_DOTBLOCK_H

#include "codegen/cpu/Code.h"
#include "codegen/cpu/Target.h"

namespace skim::cpu {

/// Multiplies a block of vectors of rows with a block of keys: the accumulators stay in registers
/// over the whole dimension.
class DotBlock {
public:
  DotBlock(Code &code, const Target &target, int64_t dimension)
      : code(code), target(target), dimension(dimension) {}

  /// A vector of the rows that start at the block's row `lane`, at element i.
  using LoadRows = llvm::function_ref<mlir::Value(mlir::Value i, int64_t lane)>;
  /// The sums of keys[key + j] and vector v of rows at [j * target.vectorsInRegisters + v].
  Code::Values multiply(LoadRows rows, mlir::Value keys, mlir::Value key);

private:
  Code &code;
  const Target &target;
  int64_t dimension;
};

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_DOTBLOCK_H
