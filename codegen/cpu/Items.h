// Work items: where their rows and keys lie, and the values that are the same for a whole item.
#ifndef SKIM_CODEGEN_CPU_ITEMS_H
#define SKIM_CODEGEN_CPU_ITEMS_H

#include "codegen/cpu/Code.h"

namespace skim::cpu {

/// The position of the row tile's row 0, and the existing positions [first, end). For items with a
/// query axis.
mlir::Value tileStart(Code &code, tile::ItemRecordOp item);
mlir::Value firstRow(Code &code, tile::ItemRecordOp item);
mlir::Value endRow(Code &code, tile::ItemRecordOp item);
/// The position of the request's first row.
mlir::Value basePosition(Code &code, tile::ItemRecordOp item);
/// The item's first existing position, base for items without a query axis.
mlir::Value firstPosition(Code &code, tile::ItemRecordOp item);

/// The item of one head: a query head, or a KV head, which stands for the first of its group.
tile::ItemRecordOp itemOfHead(Code &code, tile::ItemRecordOp item, mlir::Value head,
                              bool ofKvHeads);
/// The heads [first, end) of an item that are named; a group is that of the item's KV head.
std::pair<mlir::Value, mlir::Value> headsOf(Code &code, tile::ItemRecordOp item,
                                            tile::HeadGroup heads);

/// A uniform, a parameter or the softmax scale of the item; null for any other operation.
mlir::Value itemValue(Code &code, tile::ItemRecordOp item, mlir::Operation *op);

/// Replaces `tile.uniform` and `tile.parameter` of the item by values beside its record, and
/// `tile.raise_status` by an atomic or.
void lowerItemUsers(tile::ItemRecordOp item);

/// Evaluates the scalar operations that stand outside of every region of positions: one value for
/// the item.
llvm::LogicalResult evaluateItemScalars(mlir::Block &block);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_ITEMS_H
