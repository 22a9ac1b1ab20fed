// Tiles that hold the rows of several query heads.
#ifndef SKIM_DIALECT_TILE_PACKEDHEADS_H
#define SKIM_DIALECT_TILE_PACKEDHEADS_H

#include "dialect/Tile/TileOps.h"

namespace skim::tile {

/// How many query heads the tile of an attention program holds: one, or with work items of KV heads
/// all of the group. Row r is position r mod `rows` of the schedule, of the group's head r /
/// `rows`.
inline int64_t headsOfTile(ProblemAttr problem, HeadKind head) {
  return head == HeadKind::Kv ? problem.getQueryHeads() / problem.getKvHeads() : 1;
}

} // namespace skim::tile

#endif // SKIM_DIALECT_TILE_PACKEDHEADS_H
