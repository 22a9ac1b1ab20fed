#include "dialect/Tile/TileDialect.h"

#include "dialect/Tile/Syntax.h"
#include "dialect/Tile/TileOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialect/Tile/TileDialect.cpp.inc"
#include "dialect/Tile/TileEnums.cpp.inc"

// The generated parsers and printers are static: they are compiled here, with their callers.
#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/Tile/TileOps.cpp.inc"

void skim::tile::TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Tile/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Tile/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Tile/TileOps.cpp.inc"
      >();
}
