// Parts of operations' syntax that the generated parsers and printers call.
#ifndef SKIM_DIALECT_TILE_SYNTAX_H
#define SKIM_DIALECT_TILE_SYNTAX_H

#include "dialect/Tile/TileOps.h"

namespace skim::tile {

/// `cells (A, B)`, absent for cells of one position.
mlir::ParseResult parseOptionalCells(mlir::OpAsmParser &parser, mlir::IntegerAttr &queryCell,
                                     mlir::IntegerAttr &keyCell);
void printOptionalCells(mlir::OpAsmPrinter &printer, AnyOp op, mlir::IntegerAttr queryCell,
                        mlir::IntegerAttr keyCell);

/// `keys`, `values`, or `buffer SLOT`.
mlir::ParseResult parseVectorSource(mlir::OpAsmParser &parser, VectorSourceAttr &source,
                                    mlir::IntegerAttr &buffer);
void printVectorSource(mlir::OpAsmPrinter &printer, DotPanelOp op, VectorSourceAttr source,
                       mlir::IntegerAttr buffer);

} // namespace skim::tile

#endif // SKIM_DIALECT_TILE_SYNTAX_H
