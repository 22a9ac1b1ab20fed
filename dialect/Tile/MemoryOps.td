// Loads and stores: operands, cells of inputs and of workspace buffers, results.
#ifndef SKIM_DIALECT_TILE_MEMORYOPS_TD
#define SKIM_DIALECT_TILE_MEMORYOPS_TD

include "dialect/Tile/VisitOps.td"

def Tile_LoadQueriesOp : Tile_Op<"load_queries"> {
  let summary = "stage the query rows of a work item";
  let description = [{
    `result[r, i] = query[tile * rows + r, head, i]` for existing rows, 0 for the others; with items of KV heads for each query head of the group, one behind the other.

    Constraints:

    - load_queries_c1: the program's items run along queries, by query head or KV head.
    - load_queries_c2: the result has `rows` of the schedule, for each head that it holds, by `head_dim` of the problem.

    Example:

    ```mlir
    %queries = tile.load_queries %item : !tile.shared<64x128xf32>
    ```
  }];
  let arguments = (ins Tile_Item:$item);
  let results = (outs Tile_Shared:$queries);
  let assemblyFormat = "$item attr-dict `:` qualified(type($queries))";
  let hasVerifier = 1;
}

def Tile_IssueLoadOp : Tile_Op<"issue_load"> {
  let summary = "start to stage the keys or values of a visit";
  let description = [{
    `tile[j, i] = operand[keys of the visit + j, kv_head, i]` for existing keys, 0 for the others. Tokens are found through the
    block table; a pooled source is read from its buffer.

    Constraints:

    - issue_load_c1: the result has `keys` of the schedule by `head_dim` (keys) or `value_dim` (values).

    Example:

    ```mlir
    %keys, %loaded = tile.issue_load keys %visit : !tile.shared<64x128xf32>
    ```
  }];
  let arguments = (ins Tile_Operand:$operand, Tile_Visit:$visit);
  let results = (outs Tile_Shared:$tile, Tile_Token:$token);
  let assemblyFormat = "$operand $visit attr-dict `:` qualified(type($tile))";
  let hasVerifier = 1;
}

def Tile_LoadCellOp : Tile_Op<"load_cell", [Pure]> {
  let summary = "read the cell of an input or buffer at a position";
  let description = [{
    With cells of (A, B), base of the request, and h the item's head of kind `head` (0 for `none`):
    `value = data[request, h, floor(q / A) - floor(base / A), floor(k / B)]`; a size of 0 says that the array has no such axis (index 0).
    With `diagonal` the last index is `q - k`, and the value of a negative distance is unspecified; with `noncausal` too it is
    `q - k - (1 - kv_len + base)`, which counts from the smallest distance there is. A cell of vectors is read at `element`. An `i1` is read as a byte (0 or not), an
    `index` as int32, an `f32` as float32, an `f64` as float64.

    Constraints:

    - load_cell_c1: `head = query` needs items by query head, `head = kv` items by query head or KV head.
    - load_cell_c2: `diagonal` needs cells of one key, and `noncausal` needs `diagonal`.
    - load_cell_c3: an `f64` comes from a buffer, an element is an `f32`.

    Example:

    ```mlir
    %b = tile.load_cell input 0 (head = query) cells (128, 128) at (%q, %k) of %item : i1
    %x = tile.load_cell input 1 (head = kv) cells (0, 1) at (%q, %k) of %item : f32
    %y = tile.load_cell buffer 0 (head = kv) cells (0, 64) at (%q, %k) element %i of %item : f32
    ```
  }];
  let arguments = (ins
    Tile_Space:$space, Tile_Slot:$slot, Tile_HeadKind:$head, Tile_I64<0>:$query_cell,
    Tile_I64<0>:$key_cell, UnitAttr:$diagonal, UnitAttr:$noncausal, Index:$query, Index:$key, Optional<Index>:$element,
    Tile_Item:$item);
  let results = (outs AnyTypeOf<[I1, Index, F32, F64]>:$value);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "Space":$space, "int64_t":$slot, "HeadKind":$head,
                                 "int64_t":$queryCell, "int64_t":$keyCell, "bool":$diagonal, "::mlir::Value":$query,
                                 "::mlir::Value":$key, "::mlir::Value":$item), [{
    build($_builder, $_state, type, space, slot, head, queryCell, keyCell, diagonal, /*noncausal=*/false, query, key,
          /*element=*/::mlir::Value(), item);
  }]>];
  let assemblyFormat = [{
    $space $slot `(` `head` `=` $head `)` `cells` `(` $query_cell `,` $key_cell `)` (`diagonal` $diagonal^)? (`noncausal` $noncausal^)?
    `at` `(` $query `,` $key `)` (`element` $element^)? `of` $item attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def Tile_StoreCellOp : Tile_Op<"store_cell"> {
  let summary = "write what holds of a visit to a byte map";
  let description = [{
    `buffer[request, h, q-cell, u] = 1` where `cells` holds, for the visit's tile u; bytes where it does not hold are left alone (the launch
    plan clears such buffers). A fragment of one row writes one cell for the whole query tile, `tile - floor(base / rows)`; a fragment of `rows` rows writes
    one cell for each existing row, at its distance from `base`.

    Constraints:

    - store_cell_c1: the program's items run along queries; h is their head, of whichever kind (0 for `none`).
    - store_cell_c2: `cells` has one column, and 1 or `rows` rows.

    Example:

    ```mlir
    tile.store_cell %any at %visit to buffer 0 : !tile.fragment<1x1xi1>
    ```
  }];
  let arguments = (ins Tile_Fragment:$cells, Tile_Visit:$visit, Tile_Slot:$slot);
  let assemblyFormat = "$cells `at` $visit `to` `buffer` $slot attr-dict `:` qualified(type($cells))";
  let hasVerifier = 1;
}

def Tile_FinishOp : Tile_Op<"finish"> {
  let summary = "divide by the sum, store output and log-sum-exp";
  let description = [{
    For each existing row with running maximum m, sum l and accumulator o, and with M = max(m, sink) where there is a sink:
    `z = l exp(m - M) + exp(sink - M)`, `out = o exp(m - M) / z`, `lse = M + ln z`. A row with l = 0 stores 0 and -inf, also with a sink.

    Constraints:

    - finish_c1: the state has `rows` of the schedule, for each head of `tile.load_queries`, by `value_dim` of the problem.
    - finish_c2: the program's items run along queries, by query head or KV head.

    Example:

    ```mlir
    tile.finish %item, %state sink(%x) : !tile.state<64x128>
    ```
  }];
  let arguments = (ins Tile_Item:$item, Tile_State:$state, Optional<F32>:$sink);
  let assemblyFormat = "$item `,` $state (`sink` `(` $sink^ `)`)? attr-dict `:` qualified(type($state))";
  let hasVerifier = 1;
}

#endif // SKIM_DIALECT_TILE_MEMORYOPS_TD
