#include "dialect/Skim/SkimDialect.h"

#include "dialect/Skim/SkimOps.h"

using namespace mlir;
using namespace skim::ir;

#include "dialect/Skim/SkimDialect.cpp.inc"

#include "dialect/Skim/SkimEnums.cpp.inc"

void SkimDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialect/Skim/SkimOps.cpp.inc"
      >();
}

Operation *SkimDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  auto typed = dyn_cast<TypedAttr>(value);
  if (!typed || !isa<MapType>(type))
    return nullptr;
  return ConstantOp::create(builder, loc, type, typed);
}
