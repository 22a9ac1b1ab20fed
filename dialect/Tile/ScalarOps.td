// What stands in scalar regions: elements of operands, values of panels, and reductions at one position.
#ifndef SKIM_DIALECT_TILE_SCALAROPS_TD
#define SKIM_DIALECT_TILE_SCALAROPS_TD

include "dialect/Tile/PanelOps.td"

def Tile_PanelValueOp : Tile_Op<"panel_value", [Pure]> {
  let summary = "value of a panel at a position";
  let description = [{
    `panel[row cell of q, column of k]`; for element columns k is the element. Stands in scalar regions. A row that the item does not have gives an unspecified value.
    Of a stack of panels it is the one that belongs to the head of `item`.

    Constraints:

    - panel_value_c1: the result has the panel's element type.
    - panel_value_c2: there is an item for a stack of panels, and for no other panel.

    Example:

    ```mlir
    %x = tile.panel_value %s (%q, %k) : !tile.panel<rows = 64, query = 1, key = 16, f32> -> f32
    %y = tile.panel_value %stack of %sub (%q, %k) : !tile.panel<rows = 64, query = 1, key = 16, f32> -> f32
    ```
  }];
  let arguments = (ins Tile_Panel:$panel, Index:$query, Index:$key, Optional<Tile_Item>:$item);
  let results = (outs AnyTypeOf<[I1, F32, F64]>:$value);
  let assemblyFormat = "$panel (`of` $item^)? `(` $query `,` $key `)` attr-dict `:` qualified(type($panel)) `->` type($value)";
  let hasVerifier = 1;
}

def Tile_LoadElementOp : Tile_Op<"load_element", [Pure]> {
  let summary = "element of an operand's vector";
  let description = [{
    `operand[position, head of the item, element]` as f32; the position exists. Stands in scalar regions.

    Constraint load_element_c1: queries need an item with a query head, keys and values one with a query head or a KV head.

    Example:

    ```mlir
    %x = tile.load_element keys of %item at (%k, %i) : f32
    ```
  }];
  let arguments = (ins Tile_VectorSource:$source, Tile_Item:$item, Index:$position, Index:$element);
  let results = (outs F32:$value);
  let assemblyFormat = "$source `of` $item `at` `(` $position `,` $element `)` attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tile_ReduceElementsOp : Tile_Op<"reduce_elements", [Pure, SingleBlock]> {
  let summary = "sum or maximum over the elements of a vector";
  let description = [{
    The sum (in f64, in ascending order, rounded once) or maximum of what the region yields for elements 0 to n - 1; NaN where one of them is. Stands in scalar regions, and its region is one.

    Constraints:

    - reduce_elements_c1: the region takes an `index` and yields an `f32`; the kind is `sum` or `max`.
    - reduce_elements_c2: the region holds scalar operations only.

    Example:

    ```mlir
    %s = tile.reduce_elements sum 128 {
    ^bb0(%i: index):
      %a = tile.load_element queries of %item at (%q, %i) : f32
      %b = tile.load_element keys of %item at (%k, %i) : f32
      %ab = arith.mulf %a, %b : f32
      tile.yield %ab : f32
    } : f32
    ```
  }];
  let arguments = (ins Tile_Reduction:$kind, Tile_I64<1>:$elements);
  let results = (outs F32:$value);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind $elements $body attr-dict `:` type($value)";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_ReducePositionsOp : Tile_Op<"reduce_positions", [Pure, SingleBlock]> {
  let summary = "reduction over a number of rows and of keys, and over heads, at one position";
  let description = [{
    Reduces what the region yields for i from 0 to `rows` - 1 and, for each, j from 0 to `keys` - 1, as `tile.reduce_panel` does: sums in f64, in ascending order,
    rounded once; a NaN contributes nothing, and where nothing contributes the result is NaN. Both numbers are the same wherever the region around is evaluated.
    With an item it does so for each head in turn that `tile.for_each_head` would name, whose item the region is given first.
    Stands in scalar regions, and its region is one.

    Constraints:

    - reduce_positions_c1: the region takes two `index`, a `!tile.item` before them where heads are joined, and yields an `f32`.
    - reduce_positions_c2: the region holds scalar operations only.
    - reduce_positions_c3: there are `heads` where there is an item, and a `group` is that of an item with a KV head.

    Example:

    ```mlir
    %s = tile.reduce_positions mean rows %one keys %n {
    ^bb0(%i: index, %j: index):
      %key = arith.addi %first, %j : index
      %x = tile.load_element keys of %item at (%key, %e) : f32
      tile.yield %x : f32
    } : f32
    %t = tile.reduce_positions sum over group of %item rows %one keys %one {
    ^bb0(%sub: !tile.item, %i: index, %j: index):
      %x = tile.load_element queries of %sub at (%q, %e) : f32
      tile.yield %x : f32
    } : f32
    ```
  }];
  let arguments = (ins Tile_Reduction:$kind, OptionalAttr<Tile_HeadGroup>:$heads, Optional<Tile_Item>:$item, Index:$rows, Index:$keys);
  let results = (outs F32:$value);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind (`over` $heads^ `of` $item)? `rows` $rows `keys` $keys $body attr-dict `:` type($value)";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // SKIM_DIALECT_TILE_SCALAROPS_TD
