// C++ classes of the dialect's operations, and questions about sets.
#ifndef SKIM_DIALECT_SKIM_SKIMOPS_H
#define SKIM_DIALECT_SKIM_SKIMOPS_H

#include "dialect/Skim/SkimDialect.h"
#include "dialect/Skim/SkimEnums.h"
#include "dialect/Skim/SkimTypes.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "dialect/Skim/SkimOps.h.inc"

namespace skim::ir {

/// Whether `set` holds every pair or none, when its operation alone says so.
std::optional<bool> getConstantSet(mlir::Value set);

} // namespace skim::ir

#endif // SKIM_DIALECT_SKIM_SKIMOPS_H
