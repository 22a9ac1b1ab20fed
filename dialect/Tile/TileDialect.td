// The dialect itself.
#ifndef SKIM_DIALECT_TILE_TILEDIALECT_TD
#define SKIM_DIALECT_TILE_TILEDIALECT_TD

include "mlir/IR/OpBase.td"

def TileDialect : Dialect {
  let name = "tile";
  let cppNamespace = "::skim::tile";
  let summary = "how a kernel walks tiles of keys";
  let description = [{
    A **program** (`tile.program`) is one kernel. It runs over *work items* (request, head, tile), and everything
    that an item does stands in the body of one `tile.for_each_work_item`.

    A **visit** is one tile of `keys` consecutive keys (or pooled blocks) that the rows of the item meet.
    `tile.for_each_visit` says in closed form which tiles are *touched* (some existing row keeps some key of it) and
    which are *hidden* (some existing row does not keep some key of it). Touched tiles are visited once each, in descending order;
    a visit to a tile that is not hidden runs without its mask.

    **Issue and wait are apart.** A load or a product is *issued* and gives a `!tile.token`; its consumer names the
    token in `after`. A target with asynchronous copies and products waits there; on the CPU tokens cost nothing.

    **Positions.** Query tile `t` of a program with `rows` rows holds the absolute positions
    `[t * rows, (t + 1) * rows)`, cut to the rows that exist, `[base, kv_len)` with `base = kv_len - q_len`. Key tile `u`
    holds keys `[u * keys, (u + 1) * keys)`, cut to those that exist.

    **Scalar regions.** A region over one position (of `tile.mask`, `tile.map_scores`, `tile.literal`, `tile.any`,
    `tile.contribute` and the selections) says what holds at one pair (q, k). It may hold operations of `arith` and `math` on
    `index`, `i64`, `f32`, `f64` and `i1`, `tile.uniform`, `tile.parameter`, `tile.load_cell`, `tile.load_element`, `tile.contains`,
    `tile.literal_value`, `tile.panel_value` and `tile.reduce_elements`, and use values of the work item from outside. It is evaluated at existing positions only.

    **Panels.** Where a pattern scores queries against keys to choose what to attend, the values that the rows of an item have are a
    *panel*: one row for each row (or cell of rows) of the item, one column for each cell of keys. Panels live in the scratch of one worker from the operation that
    makes them to the end of the item. What outlives the item is reduced into cells of a workspace buffer.

    The constraints of each operation are numbered (`mask_c1`); the check in the C++ sources and the test that
    violates it carry the same label.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<TileDialect, mnemonic, traits>;

#endif // SKIM_DIALECT_TILE_TILEDIALECT_TD
