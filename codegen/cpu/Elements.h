// Elements in memory (f32, bf16, f16) to f32 and back.
#ifndef SKIM_CODEGEN_CPU_ELEMENTS_H
#define SKIM_CODEGEN_CPU_ELEMENTS_H

#include "codegen/cpu/Code.h"
#include "codegen/cpu/Target.h"

namespace skim::cpu {

/// Loads `lanes` elements of type `element` as f32; one lane gives a scalar.
mlir::Value loadElements(Code &code, const Target &target, mlir::Type element, mlir::Value address,
                         unsigned lanes);

/// Stores f32 values (a scalar or a vector) as `element`, rounded to nearest even.
void storeElements(Code &code, const Target &target, mlir::Type element, mlir::Value values,
                   mlir::Value address);

/// Bytes of one element.
int64_t elementBytes(mlir::Type element);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_ELEMENTS_H
