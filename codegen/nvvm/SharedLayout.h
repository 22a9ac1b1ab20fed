// Where the rings, their barriers and the records of a kernel lie in shared memory.
#ifndef SKIM_CODEGEN_NVVM_SHAREDLAYOUT_H
#define SKIM_CODEGEN_NVVM_SHAREDLAYOUT_H

#include "dialect/Tile/TileOps.h"
#include "runtime/cuda/Panels.h"

namespace skim::nvvm {

/// A ring: `slots` slots of `bytes` bytes, and two barriers a slot, filled and empty.
struct Ring {
  int64_t data = 0;
  int64_t bytes = 0;
  int64_t slots = 0;
  int64_t barriers = 0; ///< of slot s: filled at barriers + 16 s, empty 8 bytes behind

  int64_t end() const { return data + bytes * slots; }
};

/// How queries, keys or values of 16 bits lie in a slot: panels one behind the other, each row by
/// row.
struct Panels {
  explicit Panels(int64_t dim)
      : columns(cuda::panelColumns(dim)), rowBytes(2 * columns),
        count((dim + columns - 1) / columns) {}

  int64_t columns;
  int64_t rowBytes; ///< of a row of a panel, the width of the swizzle
  int64_t count;
};

/// The rows of a tile, of all query heads that it holds: 64 for each consumer.
inline int64_t rowsOfTile(tile::ScheduleAttr schedule) { return 64 * schedule.getConsumers(); }

/// Offsets and sizes in bytes.
struct SharedLayout {
  static constexpr int64_t kLargest = 232448; ///< what a block can have on sm_90
  /// A batch of published visits: flags and count, the item, then the visits.
  static constexpr int64_t kBatchVisits = 64;
  /// Of gathered keys, a batch that lists two tiles or more is full; the end of an item may cut a
  /// third list short.
  static constexpr int64_t kListedTiles = 2;
  static constexpr int64_t kMostLists = kListedTiles + 1;
  /// What the search for keys copies ahead: 128 bytes a lane in each step.
  static constexpr int64_t kAheadSteps = 2;
  static constexpr int64_t kAheadBytes = 32 * 128;
  static constexpr int64_t kBatchHeader = 64;
  static constexpr int64_t kVisitBytes = 8;
  static constexpr int64_t kItemBytes = 48;
  /// A slot's record is read by masks when its keys have been released and replaced already.
  static constexpr int64_t kRecordsOfSlot = 2;
  /// Enough for the scheduler to be an item or two ahead.
  static constexpr int64_t kBatches = 8;

  SharedLayout(tile::ProblemAttr problem, tile::ScheduleAttr schedule) {
    bool gathers = schedule.getGatherKeys();
    auto bytesOfRow = [](int64_t dim) { return Panels(dim).count * Panels(dim).rowBytes; };
    int64_t keyBytes = schedule.getKeys() * bytesOfRow(problem.getHeadDim());
    int64_t valueBytes = schedule.getKeys() * bytesOfRow(problem.getValueDim());
    int64_t queryBytes = rowsOfTile(schedule) * bytesOfRow(problem.getHeadDim());
    // Two slots of queries where they fit: the next item's are copied while this one's are used.
    listBytes = gathers ? kMostLists * schedule.getKeys() * 4 : 0;
    visitBytes = kVisitBytes + (gathers ? schedule.getKeys() * 4 : 0);
    visitSlots = kRecordsOfSlot * schedule.getStages();
    int64_t aheadBytes = gathers ? kAheadSteps * kAheadBytes : 0;
    int64_t rest = schedule.getStages() * (keyBytes + valueBytes) + visitSlots * visitBytes +
                   kBatches * listBytes + aheadBytes + kRecords;
    queries = {0, queryBytes, 2 * queryBytes + rest <= kLargest ? 2 : 1, 0};
    keys = {queries.end(), keyBytes, schedule.getStages(), 0};
    values = {keys.end(), valueBytes, schedule.getStages(), 0};
    batches = {values.end(), kBatchHeader + kBatchVisits * kVisitBytes + listBytes, kBatches, 0};
    int64_t next = batches.end();
    auto take = [&next](int64_t size) {
      int64_t start = next;
      next += size;
      return start;
    };
    ahead = take(aheadBytes);
    itemRecords = take(queries.slots * kItemBytes);
    visitRecords = take(visitSlots * visitBytes);
    for (Ring *ring : {&queries, &keys, &values, &batches})
      ring->barriers = take(16 * ring->slots);
    tail = take(8);
    bytes = next;
  }

  /// Where a batch lists keys, from its start.
  static constexpr int64_t kListOffset = kBatchHeader + kBatchVisits * kVisitBytes;

  Ring queries, keys, values, batches;
  int64_t listBytes = 0;  ///< of the listed keys of a batch
  int64_t visitBytes = 0; ///< of a visit's record, with the positions of its keys
  int64_t visitSlots = 0; ///< records of visits
  int64_t ahead = 0;      ///< of the scheduler, where keys are gathered
  int64_t itemRecords = 0, visitRecords = 0;
  int64_t tail = 0; ///< barrier of values whose last rows do not exist
  int64_t bytes = 0;

private:
  static constexpr int64_t kRecords = 6144; ///< an upper bound of all that is not operands
};

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_SHAREDLAYOUT_H
