// What the roles tell each other through shared memory: items, batches of visits, single visits.
#ifndef SKIM_CODEGEN_NVVM_BATCHES_H
#define SKIM_CODEGEN_NVVM_BATCHES_H

#include "codegen/nvvm/Device.h"

namespace skim::nvvm {

/// A work item as 32-bit numbers. `head`: the query head, the first of those that the tile holds.
/// `firstToken` and `firstKeyToken`: the request's first row among
/// the queries, and its first key among contiguous keys. `hasVisits` is known once the item was
/// published, 0 or 1. `keyNorm`: the bits of the largest sum of squares of a key, as f32.
struct ItemFields {
  mlir::Value request, head, tile, qLen, kvLen, firstToken, firstKeyToken, hasVisits, keyNorm;
};

/// The item in items[ordinal], with what the kernel's arguments say of its request; all but
/// `keyNorm`.
ItemFields readItem(Device &device, mlir::Value arguments, mlir::Value items, mlir::Value ordinal);
mlir::Value kvHeadOf(Device &device, const ItemFields &item);
/// The same of a tile of queries as operations see it.
tile::ItemRecordOp createItemRecord(Device &device, mlir::Value arguments, const ItemFields &item);
/// The item in the record that belongs to slot `number` of the queries.
ItemFields loadItem(Device &device, const SharedLayout &layout, mlir::Value number);
/// Writes that record.
void storeItem(Device &device, const SharedLayout &layout, mlir::Value number,
               const ItemFields &item);

// Flags of a batch.
constexpr int64_t kLastOfItem = 1; ///< no visit of the item follows
constexpr int64_t kLastOfAll = 2;  ///< the batch holds nothing, and none follows
// Flags of a visit.
constexpr int64_t kMasked = 1;
constexpr int64_t kLastVisit = 2; ///< of its item
constexpr int64_t kListed = 4;    ///< a list of keys; the visit's first field says where it starts
constexpr int64_t kPooled = 8;    ///< block means, of which the first field is the first
constexpr int64_t kCountShift = 16; ///< from here on the number of listed keys

// The scheduler's side. All lanes of its warp take part.
/// Waits for room for a batch.
void beginBatch(Device &device, const SharedLayout &layout);
/// The same for the first batch of an item, which is written into it.
void beginBatches(Device &device, const SharedLayout &layout, const ItemFields &item);
/// Appends one visit for each lane whose `visited` holds, lanes in order; starts another batch
/// before, when this one might not hold them. So no batch but an item's only one is empty.
/// `pooled`: they are visits of block means.
void appendVisits(Device &device, const SharedLayout &layout, mlir::Value visited,
                  mlir::Value firstKey, mlir::Value masked, bool pooled = false);
void publishBatch(Device &device, const SharedLayout &layout, int64_t flags);
/// Lists the keys that the bits of each lane's words `kept` stand for, in ascending order within a
/// lane and over lanes; full lists become visits when the batch is published. Bit i of word w is
/// key `firstKey` + 32 w + i; the lane has `count` keys. `masked`: some row does not keep one of
/// them.
void appendKeys(Device &device, const SharedLayout &layout, mlir::Value firstKey,
                llvm::ArrayRef<mlir::Value> kept, mlir::Value count, mlir::Value masked);
/// Makes visits of all listed keys; at the end of an item.
void finishLists(Device &device, const SharedLayout &layout);

// The loader's side.
/// Waits for the next batch; its flags.
mlir::Value awaitBatch(Device &device, const SharedLayout &layout);
ItemFields batchItem(Device &device, const SharedLayout &layout);
mlir::Value batchCount(Device &device, const SharedLayout &layout);
/// Offset of the positions of a list that starts at `first` of the batch's keys.
mlir::Value listOffset(Device &device, const SharedLayout &layout, mlir::Value first);
/// First key and flags of visit `position` of the batch.
std::pair<mlir::Value, mlir::Value> batchVisit(Device &device, const SharedLayout &layout,
                                               mlir::Value position);
/// Gives the batch back and goes on to the next.
void releaseBatch(Device &device, const SharedLayout &layout);
/// Tells the consumers that there are no more items.
void endItems(Device &device, const SharedLayout &layout);

/// The record of a visit, beside its slot of the keys.
void storeVisit(Device &device, const SharedLayout &layout, mlir::Value number,
                mlir::Value firstKey, mlir::Value flags);
std::pair<mlir::Value, mlir::Value> loadVisit(Device &device, const SharedLayout &layout,
                                              mlir::Value number);
/// Where that record holds the positions of listed keys.
mlir::Value visitPositions(Device &device, const SharedLayout &layout, mlir::Value number);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_BATCHES_H
