// Kernels beside attention: covers, lists, selections, positions and block means.
#ifndef SKIM_DIALECT_TILE_SELECTOPS_TD
#define SKIM_DIALECT_TILE_SELECTOPS_TD

include "dialect/Tile/VisitOps.td"

def Tile_AnyOp : Tile_Op<"any", [SingleBlock]> {
  let summary = "whether a predicate holds somewhere on a visit";
  let description = [{
    With a result of one row: whether `where(q, k)` holds at some existing row and key of the visit. With a result of
    `rows` rows: for each row, whether it holds at some existing key. The mask of the visit plays no part.
    Apart from visibility, the predicate is constant on cells of (A, B) positions, so it is evaluated once a cell: at its last existing row and first key.

    Constraints:

    - any_c1: the region takes two `index` and yields one `i1`.
    - any_c2: the region holds scalar operations only.
    - any_c3: the result has one column of i1, and 1 or `rows` rows.

    Example:

    ```mlir
    %any = tile.any at %visit where {
    ^bb0(%q: index, %k: index):
      %b = tile.load_cell input 0 (head = none) cells (1, 1) at (%q, %k) of %item : i1
      tile.yield %b : i1
    } : !tile.fragment<1x1xi1>
    ```
  }];
  let arguments = (ins Tile_Visit:$visit, DefaultValuedAttr<Tile_I64<1>, "1">:$query_cell,
                       DefaultValuedAttr<Tile_I64<1>, "1">:$key_cell);
  let results = (outs Tile_Fragment:$cells);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `at` $visit custom<OptionalCells>($query_cell, $key_cell) `where` $body attr-dict `:` qualified(type($cells))
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_ScatterListOp : Tile_Op<"scatter_list"> {
  let summary = "turn one row of a list into a byte map";
  let description = [{
    For each entry e of the list at (request, h, query cell), up to the count or else the capacity:
    `map[request, h, query cell, e] = 1` when `0 <= e < ceil(kv_len / B)`; -1 is padding; any other entry touches no memory and raises `index_out_of_range`. Cells are (A, B)
    with A = 0 for a list without a query axis. A count outside of [0, capacity] selects nothing and raises the same. The launch plan clears the map.

    Constraints:

    - scatter_list_c1: `head` is the kind of head of the program's items.
    - scatter_list_c2: the items run along queries with `rows` = A, or along nothing when A is 0.

    Example:

    ```mlir
    tile.scatter_list input 0 counts 1 (head = kv) cells (64, 64) to buffer 2 of %item
    ```
  }];
  let arguments = (ins
    Tile_Slot:$list, OptionalAttr<Tile_Slot>:$counts, Tile_HeadKind:$head, Tile_I64<0>:$query_cell,
    Tile_I64<1>:$key_cell, Tile_Slot:$map, Tile_Item:$item);
  let assemblyFormat = [{
    `input` $list (`counts` $counts^)? `(` `head` `=` $head `)` `cells` `(` $query_cell `,` $key_cell `)`
    `to` `buffer` $map `of` $item attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_SelectOp : Tile_Op<"select", [SingleBlock]> {
  let summary = "select cells of a row of scores";
  let description = [{
    The row has `ceil(kv_len / B)` cells (with `diagonal`, the distances 0 to kv_len - 1; with `noncausal` too, 1 - q_len to kv_len - 1). The region yields the score of the cell and
    whether it exists; it is given the item's first existing row (base, for items without a query axis) and the cell's first
    key (with `diagonal`, the distance). A cell that does not exist or whose score is NaN is never selected.
    `map[request, h, query cell, cell]` becomes 1 where selected and 0 elsewhere, h being the item's head.

    - `top_k %x`: the n greatest cells, n = ceil(x - 1e-6 max(1, x)) clamped to those that exist; ties to the smaller index.
    - `top_p %mass`: the smallest prefix in descending order (ties to the smaller index) whose sum reaches `mass` times the
      sum of the existing cells, at least one cell if there is one; negative scores count as 0.

    `scratch` is a buffer of f32 with the axes of the map, one element a cell for `top_k`, two for `top_p`.

    Constraints:

    - select_c1: the region takes two `index` and yields an `f32` and an `i1`.
    - select_c2: the region holds scalar operations only.
    - select_c3: `diagonal` needs cells of one key: the distance; `noncausal` needs `diagonal`.
    - select_c4: the items run along queries with `rows` = A, or along nothing when A is 0.

    Example:

    ```mlir
    tile.select top_k %n cells (0, 1) scratch 1 to buffer 0 of %item where {
    ^bb0(%q: index, %k: index):
      %x = tile.load_cell input 0 (head = kv) cells (0, 1) at (%q, %k) of %item : f32
      %true = arith.constant true
      tile.yield %x, %true : f32, i1
    }
    ```
  }];
  let arguments = (ins
    Tile_Selection:$kind, F64:$amount, Tile_I64<0>:$query_cell, Tile_I64<1>:$key_cell,
    UnitAttr:$diagonal, UnitAttr:$noncausal, Tile_Slot:$scratch, Tile_Slot:$map, Tile_Item:$item);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kind $amount `cells` `(` $query_cell `,` $key_cell `)` (`diagonal` $diagonal^)? (`noncausal` $noncausal^)? `scratch` $scratch
    `to` `buffer` $map `of` $item `where` $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_StorePositionsOp : Tile_Op<"store_positions", [SingleBlock]> {
  let summary = "write the positions of the keys of a set";
  let description = [{
    Writes the positions k of [0, kv_len) for which `where(q, k)` holds, in ascending order, to the first entries of the result `compact_positions[request, h]`, and how
    many there are to `compact_counts[request, h]`, h being the item's head (0 for `none`). The predicate is constant on cells of `key_cell` keys, so it is evaluated
    once a cell: at the request's first row (base) and the cell's first key. A result that the launch does not ask for stays untouched, and so do the entries past the count.

    Constraints:

    - store_positions_c1: the region takes two `index` and yields one `i1`.
    - store_positions_c2: the region holds scalar operations only.
    - store_positions_c3: the items run along nothing.

    Example:

    ```mlir
    tile.store_positions of %item cells 16 where {
    ^bb0(%q: index, %k: index):
      %b = tile.load_cell buffer 0 (head = kv) cells (0, 16) at (%q, %k) of %item : i1
      tile.yield %b : i1
    }
    ```
  }];
  let arguments = (ins Tile_Item:$item, Tile_I64<1>:$key_cell);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`of` $item `cells` $key_cell `where` $body attr-dict";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_PoolOp : Tile_Op<"pool"> {
  let summary = "mean of the keys or values of a block";
  let description = [{
    `buffer[request, kv_head, 0, tile][i] = mean over existing keys j of the block of operand[j, kv_head, i]`, for each i: a cell of the buffer
    holds `head_dim` (keys) or `value_dim` (values) consecutive elements, f32 on CPUs and of the operands' type on GPUs. Summed in f64.

    Constraint pool_c1: the items run along keys, by KV head.

    Example:

    ```mlir
    tile.pool keys of %item to buffer 0
    ```
  }];
  let arguments = (ins Tile_Operand:$operand, Tile_Item:$item, Tile_Slot:$slot);
  let assemblyFormat = "$operand `of` $item `to` `buffer` $slot attr-dict";
  let hasVerifier = 1;
}

#endif // SKIM_DIALECT_TILE_SELECTOPS_TD
