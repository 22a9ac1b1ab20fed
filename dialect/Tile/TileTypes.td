// Types: staged tiles, fragments, states, tokens and handles.
#ifndef SKIM_DIALECT_TILE_TILETYPES_TD
#define SKIM_DIALECT_TILE_TILETYPES_TD

include "dialect/Tile/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Tile_Type<string name, string typeMnemonic> : TypeDef<TileDialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_Shared : Tile_Type<"Shared", "shared"> {
  let summary = "tile staged in fast memory";
  let description = [{
    `rows` vectors of `columns` elements, row by row. `swizzle` is the width in bytes of the pattern in which 16-byte
    chunks are permuted (0: plain), `stages` the number of slots of its ring. The CPU knows plain f32 tiles with one slot.

    Example: `!tile.shared<64x128xf32>`, `!tile.shared<192x128xbf16, swizzle = 128, stages = 2>`
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$element,
                        "int64_t":$swizzle, "int64_t":$stages);
  let builders = [TypeBuilder<(ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$element),
                              [{ return $_get($_ctxt, rows, columns, element, 0, 1); }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_Fragment : Tile_Type<"Fragment", "fragment"> {
  let summary = "tile spread over the registers of those who compute";
  let description = [{
    `rows` query rows by `columns` keys. A fragment of scores is used once: it moves from an operation to the next.

    Example: `!tile.fragment<64x64xf32>`
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns, "::mlir::Type":$element);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_State : Tile_Type<"State", "state"> {
  let summary = "running softmax of a tile of rows";
  let description = [{
    For each of `rows` rows the running maximum m, the running sum l of exp(s - m), and the accumulator o of `columns`
    elements. A state is used once: it moves from an operation to the next.

    Example: `!tile.state<64x128>`
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$columns);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_Panel : Tile_Type<"Panel", "panel"> {
  let summary = "values that the rows of a work item have, column by column";
  let description = [{
    `rows` row cells of `query` positions each. Cell r of an item's tile t holds the positions `[t * rows * query + r * query, ... + query)`, cut to
    those that exist. The columns are cells of `key` keys, all of the request; or `elements` elements of a vector; with neither, a panel has one column.
    `element` is f32, f64 (positions and counts) or i1 (selections). The values lie in the scratch of the worker that runs the item.

    Constraints:

    - panel_c1: `rows` and `query` are positive, and not both `key` and `elements` are given.
    - panel_c2: the element is f32, f64 or i1.
    - panel_c3: `rows * query` are the rows of the item that the panel is made for.

    Example: `!tile.panel<rows = 64, query = 1, key = 16, f32>`, `!tile.panel<rows = 1, query = 64, elements = 128, f32>`
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$query, "int64_t":$key, "int64_t":$elements, "::mlir::Type":$element);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_Token : Tile_Type<"Token", "token"> {
  let summary = "completion of something that was issued";
}
def Tile_Literal : Tile_Type<"Literal", "literal"> {
  let summary = "predicate over positions that is known only at run time";
}
def Tile_Item : Tile_Type<"Item", "item"> {
  let summary = "one work item: a request, a head and a tile";
}
def Tile_Visit : Tile_Type<"Visit", "visit"> {
  let summary = "one visit: a tile of keys that the rows of an item meet";
}

#endif // SKIM_DIALECT_TILE_TILETYPES_TD
