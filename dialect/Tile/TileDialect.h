// The `tile` dialect: how a kernel walks tiles of keys.
#ifndef SKIM_DIALECT_TILE_TILEDIALECT_H
#define SKIM_DIALECT_TILE_TILEDIALECT_H

#include "mlir/IR/Dialect.h"

#include "dialect/Tile/TileDialect.h.inc"

#endif // SKIM_DIALECT_TILE_TILEDIALECT_H
