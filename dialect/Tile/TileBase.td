// What every file of operations needs.
#ifndef SKIM_DIALECT_TILE_TILEBASE_TD
#define SKIM_DIALECT_TILE_TILEBASE_TD

include "dialect/Tile/TileAttrs.td"
include "dialect/Tile/TileTypes.td"

class Tile_I64<int minimum> : ConfinedAttr<I64Attr, [IntMinValue<minimum>]>;
def Tile_Slot : Tile_I64<0>;

#endif // SKIM_DIALECT_TILE_TILEBASE_TD
