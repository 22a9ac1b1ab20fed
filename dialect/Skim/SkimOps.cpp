// The generated definitions of the operations; hand-written parts stand by subject in the files
// beside.
#include "dialect/Skim/SkimOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#define GET_OP_CLASSES
#include "dialect/Skim/SkimOps.cpp.inc"
