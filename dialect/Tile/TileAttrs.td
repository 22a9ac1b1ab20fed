// Attributes: what a program is compiled for, its schedule, and closed forms of visits.
#ifndef SKIM_DIALECT_TILE_TILEATTRS_TD
#define SKIM_DIALECT_TILE_TILEATTRS_TD

include "dialect/Tile/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Tile_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::skim::tile";
}

def Tile_HeadKind : Tile_Enum<"HeadKind", "which axis of heads something has", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Kv", 1, "kv">,
  I32EnumAttrCase<"Query", 2, "query">
]>;

def Tile_ItemAxis : Tile_Enum<"ItemAxis", "what the tile of a work item counts", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Queries", 1, "queries">,
  I32EnumAttrCase<"Keys", 2, "keys">
]>;

def Tile_UniformKind : Tile_Enum<"UniformKind", "value that is the same for a whole work item", [
  I32EnumAttrCase<"QLen", 0, "q_len">,
  I32EnumAttrCase<"KvLen", 1, "kv_len">,
  I32EnumAttrCase<"Base", 2, "base">,
  I32EnumAttrCase<"Request", 3, "request">,
  I32EnumAttrCase<"Head", 4, "head">,
  I32EnumAttrCase<"KvHead", 5, "kv_head">,
  I32EnumAttrCase<"Layer", 6, "layer">,
  I32EnumAttrCase<"Tile", 7, "tile">,
  I32EnumAttrCase<"FirstRow", 8, "first_row">,
  I32EnumAttrCase<"EndRow", 9, "end_row">
]>;

def Tile_Space : Tile_Enum<"Space", "where cells lie", [
  I32EnumAttrCase<"Input", 0, "input">,
  I32EnumAttrCase<"Buffer", 1, "buffer">
]>;

def Tile_Operand : Tile_Enum<"Operand", "keys or values", [
  I32EnumAttrCase<"Keys", 0, "keys">,
  I32EnumAttrCase<"Values", 1, "values">
]>;

def Tile_Selection : Tile_Enum<"Selection", "how cells of a row are selected", [
  I32EnumAttrCase<"TopK", 0, "top_k">,
  I32EnumAttrCase<"TopP", 1, "top_p">
]>;

def Tile_Reduction : Tile_Enum<"Reduction", "how values are joined", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Mean", 1, "mean">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"Var", 4, "var">
]>;

def Tile_HeadGroup : Tile_Enum<"HeadGroup", "which heads a loop over heads runs over", [
  I32EnumAttrCase<"Group", 0, "group">,
  I32EnumAttrCase<"All", 1, "all">,
  I32EnumAttrCase<"KvHeads", 2, "kv_heads">
]>;

def Tile_VectorSource : Tile_Enum<"VectorSource", "where vectors lie", [
  I32EnumAttrCase<"Queries", 0, "queries">,
  I32EnumAttrCase<"Keys", 1, "keys">,
  I32EnumAttrCase<"Values", 2, "values">,
  I32EnumAttrCase<"Buffer", 3, "buffer">
]>;

def Tile_Visible : Tile_Enum<"Visible", "which pairs of a cell must be visible for the cell to exist", [
  I32EnumAttrCase<"All", 0, "all">,
  I32EnumAttrCase<"Any", 1, "any">
]>;

def Tile_Status : Tile_Enum<"StatusBit", "bit of the sticky status word", [
  I32EnumAttrCase<"IndexOutOfRange", 1, "index_out_of_range">,
  I32EnumAttrCase<"UnlistedLabel", 2, "unlisted_label">
]>;

class Tile_Attr<string name, string attrMnemonic> : AttrDef<TileDialect, name> {
  let mnemonic = attrMnemonic;
}

def Tile_ProblemAttr : Tile_Attr<"Problem", "problem"> {
  let summary = "shapes and element types that a program is compiled for";
  let description = [{
    - `query_heads`, `kv_heads`: counts of heads; query head h reads KV head `h / (query_heads / kv_heads)`.
    - `head_dim`, `value_dim`: elements of a key and of a value.
    - `operand`: element type of queries, keys and values in memory; `out`: of the output.

    Constraints:

    - problem_c1: all counts are positive.
    - problem_c2: `kv_heads` divides `query_heads`.
    - problem_c3: `operand` and `out` are f32, bf16 or f16.

    Example: `#tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = f32>`
  }];
  let parameters = (ins
    "int64_t":$query_heads, "int64_t":$kv_heads, "int64_t":$head_dim, "int64_t":$value_dim,
    "::mlir::Type":$operand, "::mlir::Type":$out);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_ScheduleAttr : Tile_Attr<"Schedule", "schedule"> {
  let summary = "sizes of tiles and, on a GPU, of the pipeline";
  let description = [{
    - `rows`: query positions of a tile; `keys`: keys (or pooled blocks) of a tile.
    - `stages`: slots of each ring of staged tiles; `consumers`: warpgroups that compute. Both are for targets
      with asynchronous copies and 1 elsewhere.
    - `gather_keys`: of tiles of which few keys are kept, the kept keys alone are visited, as lists.
    - `copy_rows`: keys and values are copied row by row and not tile by tile.
    - `producer_registers`, `consumer_registers`: of each thread that copies and of each that computes; 0 where the target has no such roles.

    Constraints:

    - schedule_c1: `rows`, `keys`, `stages` and `consumers` are positive.
    - schedule_c2: numbers of registers are not negative.

    Example: `#tile.schedule<rows = 64, keys = 64>`
  }];
  let parameters = (ins
    "int64_t":$rows, "int64_t":$keys,
    DefaultValuedParameter<"int64_t", "1">:$stages, DefaultValuedParameter<"int64_t", "1">:$consumers,
    DefaultValuedParameter<"bool", "false">:$gather_keys, DefaultValuedParameter<"bool", "false">:$copy_rows,
    DefaultValuedParameter<"int64_t", "0">:$producer_registers,
    DefaultValuedParameter<"int64_t", "0">:$consumer_registers);
  let builders = [AttrBuilder<(ins "int64_t":$rows, "int64_t":$keys), [{
    return $_get($_ctxt, rows, keys, /*stages=*/1, /*consumers=*/1, /*gatherKeys=*/false, /*copyRows=*/false,
                 /*producerRegisters=*/0, /*consumerRegisters=*/0);
  }]>];
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Tile_ItemsAttr : Tile_Attr<"Items", "items"> {
  let summary = "the space of work items of a program";
  let description = [{
    One item for each request, for each head of kind `head` (`query`, `kv`, or `none`: one item for all), and for each tile along
    `axis`: `queries` (tiles of `rows` of the schedule), `keys` (tiles of `keys`), or `none`.

    Example: `#tile.items<head = query, axis = queries>`
  }];
  let parameters = (ins EnumParameter<Tile_HeadKind>:$head, EnumParameter<Tile_ItemAxis>:$axis);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_IntervalAttr : Tile_Attr<"Interval", "interval"> {
  let summary = "tiles between two end points in closed form";
  let description = [{
    The key tiles u with `max(lower(t)) <= u < min(upper(t))` for which `guard(t)` and `tile_guard(t, u)` hold and each
    literal holds somewhere on the tile (`not i`: literal i is false somewhere on it). `t` is the absolute query tile. All maps and sets may use the
    symbols of the `tile.for_each_visit` that holds the interval. `guard`, `tile_guard` and `literals` may be left out.

    Constraints:

    - interval_c1: `lower` and `upper` have one dimension and at least one result.
    - interval_c2: `guard` has one dimension, `tile_guard` has two.
    - interval_c3: all have the same number of symbols.

    Example, as it stands in `tile.for_each_visit`:
    `interval<lower = affine_map<(t)[s0] -> (0)>, upper = affine_map<(t)[s0] -> (t + 1, s0 ceildiv 64)>, literals = [0, not 1]>`
  }];
  let parameters = (ins
    "::mlir::AffineMap":$lower, "::mlir::AffineMap":$upper,
    "::mlir::IntegerSet":$guard, "::mlir::IntegerSet":$tile_guard,
    OptionalArrayRefParameter<"LiteralUse">:$literals);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tile_SourceAttr : Tile_Attr<"Source", "source"> {
  let summary = "what a visit walks";
  let description = [{
    - `#tile.source<tokens>`: the keys and values of the request; key k is token k.
    - `#tile.source<pooled keys = 0, values = 1, block = 128>`: means over blocks of `block` tokens that `tile.pool` wrote to two
      workspace buffers; "key" k is block k, and there are `ceil(kv_len / block)` of them.
  }];
  let parameters = (ins
    DefaultValuedParameter<"bool", "false">:$pooled,
    DefaultValuedParameter<"int64_t", "0">:$keys, DefaultValuedParameter<"int64_t", "0">:$values,
    DefaultValuedParameter<"int64_t", "1">:$block);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // SKIM_DIALECT_TILE_TILEATTRS_TD
