// The processors that kernels are compiled for.
#ifndef SKIM_CODEGEN_CPU_TARGET_H
#define SKIM_CODEGEN_CPU_TARGET_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace skim::cpu {

/// One level of a processor family: what LLVM is told, and what the lowering sizes its loops by.
struct Target {
  llvm::StringRef name; ///< as users write it, for example x86-64-v3
  llvm::StringRef triple;
  llvm::StringRef processor;
  unsigned lanes;              ///< f32 elements of a vector register
  unsigned registers;          ///< vector registers
  bool fusedMultiplyAdd;       ///< in one instruction
  bool halfConversion;         ///< f16 <-> f32 in one instruction
  unsigned keysInRegisters;    ///< keys of a register block of the score product
  unsigned rowsInRegisters;    ///< rows of a register block of the value product
  unsigned vectorsInRegisters; ///< vectors of a register block along its other side
};

/// All targets, the least of each family first.
llvm::ArrayRef<Target> targets();

/// Code without vectors, for the passes alone: one thread of a GPU runs it for one item.
const Target &scalarTarget();

/// The target called `name`; `native` is the best one that this machine runs. An unknown name is an
/// error that lists the names.
llvm::Expected<const Target *> findTarget(llvm::StringRef name);

/// Whether this machine runs code of `target`.
bool hostRuns(const Target &target);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_TARGET_H
