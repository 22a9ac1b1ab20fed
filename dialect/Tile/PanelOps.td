// Panels: what the rows of one work item make of all keys, column by column; and reductions of it.
// `scratch`, `row` and `accumulators` are buffers in which a worker keeps panels and sums:
// `skim-assign-scratch` adds them where the target wants them in memory, and nothing has them before.
#ifndef SKIM_DIALECT_TILE_PANELOPS_TD
#define SKIM_DIALECT_TILE_PANELOPS_TD

include "dialect/Tile/VisitOps.td"

def Tile_ForEachHeadOp : Tile_Op<"for_each_head", [SingleBlock, NoTerminator]> {
  let summary = "heads that belong together, one after the other";
  let description = [{
    The body runs for each head in ascending order: for the query heads of the item's KV head (`group`, which is not written; all where the item has no head), for `all` query heads, or
    for all `kv_heads`. Its argument is the item of that head: same request, same tile, same rows. An item of a KV head stands for the first query head of its group.

    Constraints:

    - for_each_head_c1: the body has one argument, of type `!tile.item`.

    Example:

    ```mlir
    tile.for_each_head %sub of %item {
    }
    tile.for_each_head %each of %item all {
    }
    ```
  }];
  let arguments = (ins Tile_Item:$item, DefaultValuedAttr<Tile_HeadGroup, "::skim::tile::HeadGroup::Group">:$heads);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getInner() { return getBody().getArgument(0); }
  }];
}

def Tile_ForEachRowTileOp : Tile_Op<"for_each_row_tile", [SingleBlock, NoTerminator]> {
  let summary = "the rows of an item, a few at a time";
  let description = [{
    The body runs for each tile of `rows` positions, `[t * rows, (t + 1) * rows)`, that holds an existing row of the item, in ascending order; from
    position `first` on, where that is given (tiles that end at or before it are left out). Its argument is an item of that tile: same request and head; its
    first and last row are those of the tile that exist and belong to the outer item. An outer item without a query axis has all rows of the request.

    Constraints:

    - for_each_row_tile_c1: the body has one argument, of type `!tile.item`.
    - for_each_row_tile_c2: `rows` divides the rows of an outer item along queries.

    Example:

    ```mlir
    tile.for_each_row_tile %sub of %item rows 64 from %first {
    }
    ```
  }];
  let arguments = (ins Tile_Item:$item, Tile_I64<1>:$rows, Optional<Index>:$first);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getInner() { return getBody().getArgument(0); }
  }];
}

def Tile_StackPanelsOp : Tile_Op<"stack_panels", [SingleBlock]> {
  let summary = "panels of heads that belong together, all at once";
  let description = [{
    The body runs as that of `tile.for_each_head` does; each result is a stack of what it yields: one panel a head, kept for as long as the item lasts.
    `tile.panel_value` reads the one of the head whose item it names. `scratch` holds a panel for each query head, for each result.

    Constraints:

    - stack_panels_c1: the body has one argument, of type `!tile.item`.
    - stack_panels_c2: the body yields panels of the types of the results.
    - stack_panels_c3: `scratch` names one buffer for each result.

    Example:

    ```mlir
    %s = tile.stack_panels %sub of %item all : !tile.panel<rows = 64, query = 1, elements = 128, f32> {
      %x = tile.load_panel of %sub : !tile.panel<rows = 64, query = 1, elements = 128, f32>
      tile.yield %x : !tile.panel<rows = 64, query = 1, elements = 128, f32>
    }
    ```
  }];
  let arguments = (ins Tile_Item:$item, DefaultValuedAttr<Tile_HeadGroup, "::skim::tile::HeadGroup::Group">:$heads,
                       OptionalAttr<DenseI64ArrayAttr>:$scratch);
  let results = (outs Variadic<Tile_Panel>:$panels);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getInner() { return getBody().getArgument(0); }
  }];
}

def Tile_LoadPanelOp : Tile_Op<"load_panel"> {
  let summary = "the query vectors of the item's rows";
  let description = [{
    `result[r, i] = query[row r, head, i]` as f32.

    Constraints:

    - load_panel_c1: the panel has one column for each of `head_dim` elements, and rows of one position.
    - load_panel_c2: the item has a query head.

    Example:

    ```mlir
    %queries = tile.load_panel of %item scratch 0 : !tile.panel<rows = 64, query = 1, elements = 128, f32>
    ```
  }];
  let arguments = (ins Tile_Item:$item, OptionalAttr<Tile_Slot>:$scratch);
  let results = (outs Tile_Panel:$panel);
  let assemblyFormat = "`of` $item (`scratch` $scratch^)? attr-dict `:` qualified(type($panel))";
  let hasVerifier = 1;
}

def Tile_DotPanelOp : Tile_Op<"dot_panel"> {
  let summary = "products of the item's row vectors with key vectors";
  let description = [{
    `result[r, c] = scale * sum_i rows[r, i] * keys[c, i]`, accumulated in f32. `keys` are the tokens' keys or values, or the cells of a
    workspace buffer that holds vectors over key blocks. A cell exists when every existing position of its row sees every existing
    key of its column (`visible all`), or when the last sees the first (`visible any`); with `noncausal` all do. Other cells are NaN.

    Constraints:

    - dot_panel_c1: `rows` has element columns, the result has key columns and the same rows; both are f32.
    - dot_panel_c2: keys and values have KV heads and one key a column.
    - dot_panel_c3: the source is keys, values or a buffer, which alone has a slot.
    - dot_panel_c4: rows have the `head_dim` elements of keys, or the `value_dim` elements of values.
    - dot_panel_c5: the item has a head of the source's kind, or a query head of its group.

    Example:

    ```mlir
    %s = tile.dot_panel %queries, buffer 1 (head = kv) scale %x visible all of %item scratch 2
        : !tile.panel<rows = 64, query = 1, elements = 128, f32> -> !tile.panel<rows = 64, query = 1, key = 16, f32>
    %t = tile.dot_panel %queries, keys (head = kv) scale %x visible all of %item scratch 3
        : !tile.panel<rows = 64, query = 1, elements = 128, f32> -> !tile.panel<rows = 64, query = 1, key = 1, f32>
    ```
  }];
  let arguments = (ins Tile_Panel:$rows, Tile_VectorSource:$source, OptionalAttr<Tile_Slot>:$buffer,
                       Tile_HeadKind:$head, F32:$scale, Tile_Visible:$visible, UnitAttr:$noncausal, Tile_Item:$item,
                       OptionalAttr<Tile_Slot>:$scratch);
  let results = (outs Tile_Panel:$panel);
  let assemblyFormat = [{
    $rows `,` custom<VectorSource>($source, $buffer) `(` `head` `=` $head `)` `scale` $scale `visible` $visible (`noncausal` $noncausal^)?
    `of` $item (`scratch` $scratch^)? attr-dict `:` qualified(type($rows)) `->` qualified(type($panel))
  }];
  let hasVerifier = 1;
}

def Tile_ReducePanelOp : Tile_Op<"reduce_panel", [SingleBlock, NoTerminator]> {
  let summary = "compute a panel, cell by cell or by a reduction";
  let description = [{
    The body holds `tile.for_each_head` where query heads are joined, and in its innermost place one `tile.contribute`, whose values go to the cells of the
    result that hold their positions. Without `kind` each cell receives the one value at its place. `sum` and `mean` add in f64, in ascending order of (head,
    query, key), and round once; `var` is `max(0, mean of x x - (mean of x)^2)` from sums in f64; `max` and `min` are what they say. Undefined values (NaN)
    contribute nothing, and a cell that receives nothing is NaN. `causal` says that every cell all of whose keys lie behind the item's last row is known
    to be undefined: it need not be computed.

    `scratch` holds the result, `accumulators` the sums from which it is reduced: three f64 a cell.

    Constraints:

    - reduce_panel_c1: the body holds one `tile.contribute`, alone or in `tile.for_each_head`.
    - reduce_panel_c2: the cells of the contribution refine those of the result; without `kind` they are equal and no heads are joined.
    - reduce_panel_c3: there are no `accumulators` without a `kind`.
    - reduce_panel_c4: the panel holds f32 or f64.
    - reduce_panel_c5: contributions have neither distances nor elements, and no key axis where the panel has element columns.

    Example:

    ```mlir
    %p = tile.reduce_panel sum of %item causal scratch 4 accumulators 5 : !tile.panel<rows = 64, query = 1, f32> {
      tile.contribute of %item cells (1, 16) where {
      ^bb0(%q: index, %k: index):
        %x = tile.panel_value %s (%q, %k) : !tile.panel<rows = 64, query = 1, key = 16, f32> -> f32
        %e = math.exp %x : f32
        tile.yield %e : f32
      }
    }
    ```
  }];
  let arguments = (ins OptionalAttr<Tile_Reduction>:$kind, Tile_Item:$item, UnitAttr:$causal, OptionalAttr<Tile_Slot>:$scratch,
                       OptionalAttr<Tile_Slot>:$accumulators);
  let results = (outs Tile_Panel:$panel);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    ($kind^)? `of` $item (`causal` $causal^)? (`scratch` $scratch^)? (`accumulators` $accumulators^)? `:` qualified(type($panel)) $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_SmoothPanelOp : Tile_Op<"smooth_panel", [AllTypesMatch<["input", "panel"]>]> {
  let summary = "a centred mean along the columns";
  let description = [{
    `result[r, c] = mean of input[r, c - n / 2 .. c + n / 2]` over those that are defined, added in f64 in ascending order and rounded once;
    NaN where `input[r, c]` is, or where n is even or not positive.

    Constraint smooth_panel_c1: the panel has key columns.

    Example:

    ```mlir
    %t = tile.smooth_panel %s, %n of %item scratch 3 : !tile.panel<rows = 64, query = 1, key = 16, f32>
    ```
  }];
  let arguments = (ins Tile_Panel:$input, Index:$width, Tile_Item:$item, OptionalAttr<Tile_Slot>:$scratch);
  let results = (outs Tile_Panel:$panel);
  let assemblyFormat = "$input `,` $width `of` $item (`scratch` $scratch^)? attr-dict `:` qualified(type($panel))";
  let hasVerifier = 1;
}

def Tile_SelectPanelOp : Tile_Op<"select_panel", [SingleBlock]> {
  let summary = "select columns in each row of a panel";
  let description = [{
    For each row of the item, what `tile.select` does for its row: the region yields the score of a cell, NaN where it does not exist, at an existing position of
    the row and the first key of the column; the result holds which are selected. `row` is a buffer of f32 that holds one row: two elements a cell for `top_k`, three for `top_p`.

    Constraints:

    - select_panel_c1: the region takes two `index` and yields an `f32`.
    - select_panel_c2: the region holds scalar operations only.
    - select_panel_c3: the result has key columns of i1.

    Example:

    ```mlir
    %chosen = tile.select_panel top_k %n of %item scratch 3 row 4 : !tile.panel<rows = 64, query = 1, key = 1, i1> where {
    ^bb0(%q: index, %k: index):
      %x = tile.panel_value %s (%q, %k) : !tile.panel<rows = 64, query = 1, key = 1, f32> -> f32
      tile.yield %x : f32
    }
    ```
  }];
  let arguments = (ins Tile_Selection:$kind, F64:$amount, Tile_Item:$item, OptionalAttr<Tile_Slot>:$scratch, OptionalAttr<Tile_Slot>:$row);
  let results = (outs Tile_Panel:$panel);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kind $amount `of` $item (`scratch` $scratch^)? (`row` $row^)? `:` qualified(type($panel)) `where` $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_ReduceCellsOp : Tile_Op<"reduce_cells", [SingleBlock, NoTerminator]> {
  let summary = "compute cells of a workspace buffer, one by one or by a reduction";
  let description = [{
    As `tile.reduce_panel`, into the cells of (A, B) positions of a buffer that belong to the item: those of its head and, along queries, of its tile (which has A
    rows, or a multiple), along keys of its tile of keys (a multiple of B); an item without an axis has all cells along it. With `diagonal` the last index is the distance q - k, counted from
    `1 - kv_len + base` with `noncausal` and from 0 without. With `elements` a cell is a vector of that many, and so is each contribution.
    The body may hold `tile.for_each_head` and, in it, `tile.for_each_row_tile`; operations that make panels may stand beside the `tile.contribute`.
    Reductions that share these loops and panels stand in one another: the body then starts with a further `tile.reduce_cells`, and the innermost place holds a `tile.contribute` for
    each, that of the outermost first. Every existing cell of the item is written: NaN
    where nothing contributes. `accumulators` is a buffer of three f64 for each element of the item's rows of results.
    Buffers of index maps hold f64, all others f32.

    Constraints:

    - reduce_cells_c1: the body holds one `tile.contribute` in its innermost place, and one more for each reduction that shares it.
    - reduce_cells_c2: the cells of the contribution refine those of the result; without `kind` they are equal and no heads are joined.
    - reduce_cells_c3: with `diagonal` the result has cells of one distance, into which distances go or, with a `kind`, pairs at (1, 1); without, distances go only into a result without key axis.
    - reduce_cells_c4: there are no `accumulators` without a `kind`.
    - reduce_cells_c5: the item has a head of the buffer's kind, and the cells divide its tiles of rows and of keys.
    - reduce_cells_c6: the buffer has all axes along which items run, that of heads among them, so that each cell belongs to one item.
    - reduce_cells_c7: contributions have the `elements` of the result, which are f32.

    Example:

    ```mlir
    tile.reduce_cells mean of %item to buffer 0 (head = kv) cells (0, 128) elements 128 accumulators 1 {
      tile.contribute of %item cells (0, 1) elements 128 where {
      ^bb0(%q: index, %k: index, %i: index):
        %x = tile.load_element keys of %item at (%k, %i) : f32
        tile.yield %x : f32
      }
    }
    ```
  }];
  let arguments = (ins OptionalAttr<Tile_Reduction>:$kind, Tile_Item:$item, UnitAttr:$causal, UnitAttr:$noncausal, Tile_Slot:$slot,
                       Tile_HeadKind:$head, Tile_I64<0>:$query_cell, Tile_I64<0>:$key_cell, UnitAttr:$diagonal,
                       OptionalAttr<Tile_I64<1>>:$elements, OptionalAttr<Tile_Slot>:$accumulators);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// The contribution in the innermost place that goes to this reduction; null while there is none.
    ContributeOp getContribution();
  }];
  let assemblyFormat = [{
    ($kind^)? `of` $item (`causal` $causal^)? (`noncausal` $noncausal^)? `to` `buffer` $slot `(` `head` `=` $head `)` `cells` `(` $query_cell `,` $key_cell `)`
    (`diagonal` $diagonal^)? (`elements` $elements^)? (`accumulators` $accumulators^)? $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_ContributeOp : Tile_Op<"contribute", [SingleBlock]> {
  let summary = "the values that a reduction takes in";
  let description = [{
    For each cell of (a, b) positions of the item (0: no such axis, one cell; `diagonal`: distances) and for each element, the region yields the value, NaN where undefined. It is
    given an existing position of the cell's rows (base where there are none), the first key of the cell (with `diagonal` the distance; element columns of a panel: the element), and with `elements` the element.
    Within a row tile the cells of its rows contribute; along keys those of the item's tile, or all.

    Constraints:

    - contribute_c1: the region takes two `index`, three with `elements`, and yields an `f32`, an `f64` where the panel holds f64 or the buffer is one of index maps.
    - contribute_c2: the region holds scalar operations only.
    - contribute_c3: it stands in a `tile.reduce_panel` or a `tile.reduce_cells`.
    - contribute_c4: distances have cells of one key.

    Example: see `tile.reduce_cells`.
  }];
  let arguments = (ins Tile_Item:$item, Tile_I64<0>:$query_cell, Tile_I64<0>:$key_cell, UnitAttr:$diagonal, OptionalAttr<Tile_I64<1>>:$elements);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `of` $item `cells` `(` $query_cell `,` $key_cell `)` (`diagonal` $diagonal^)? (`elements` $elements^)? `where` $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // SKIM_DIALECT_TILE_PANELOPS_TD
