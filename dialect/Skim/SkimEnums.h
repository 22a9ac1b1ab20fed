// C++ classes of the dialect's enumerations.
#ifndef SKIM_DIALECT_SKIM_SKIMENUMS_H
#define SKIM_DIALECT_SKIM_SKIMENUMS_H

#include "mlir/IR/BuiltinAttributes.h"

#include <optional>

#include "dialect/Skim/SkimEnums.h.inc"

#endif // SKIM_DIALECT_SKIM_SKIMENUMS_H
