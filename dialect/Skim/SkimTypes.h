// C++ classes of the dialect's types.
#ifndef SKIM_DIALECT_SKIM_SKIMTYPES_H
#define SKIM_DIALECT_SKIM_SKIMTYPES_H

#include "dialect/Skim/Axes.h"

#include "mlir/IR/Types.h"

#define GET_TYPEDEF_CLASSES
#include "dialect/Skim/SkimTypes.h.inc"

#endif // SKIM_DIALECT_SKIM_SKIMTYPES_H
