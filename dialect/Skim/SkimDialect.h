// The `skim` dialect: what a pattern keeps. Operations are in SkimOps.h.
#ifndef SKIM_DIALECT_SKIM_SKIMDIALECT_H
#define SKIM_DIALECT_SKIM_SKIMDIALECT_H

#include "mlir/IR/Dialect.h"

#include "dialect/Skim/SkimDialect.h.inc"

#endif // SKIM_DIALECT_SKIM_SKIMDIALECT_H
