// The program, its work items, and values that are the same for a whole item.
#ifndef SKIM_DIALECT_TILE_PROGRAMOPS_TD
#define SKIM_DIALECT_TILE_PROGRAMOPS_TD

include "dialect/Tile/TileBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_ProgramOp : Tile_Op<"program",
    [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "one kernel";
  let description = [{
    Runs its `tile.for_each_work_item` over the work items that the launch plan enumerates. `problem` is what it is compiled
    for, `schedule` how, `items` the space of its work items.

    Constraints:

    - program_c1: the body is one `tile.for_each_work_item`.

    Example:

    ```mlir
    tile.program @attention attributes {
        problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = f32>,
        schedule = #tile.schedule<rows = 64, keys = 64>, items = #tile.items<head = query, axis = queries>} {
      tile.for_each_work_item %item {
        %state = tile.empty_state : !tile.state<64x128>
        tile.finish %item, %state : !tile.state<64x128>
      }
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    Tile_ProblemAttr:$problem,
    Tile_ScheduleAttr:$schedule,
    Tile_ItemsAttr:$items);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def Tile_ForEachWorkItemOp : Tile_Op<"for_each_work_item",
    [HasParent<"ProgramOp">, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "what one work item does";
  let description = [{
    The body runs once for each work item given to the kernel.

    Constraints:

    - for_each_work_item_c1: the body has one argument, of type `!tile.item`.

    Example: see `tile.program`.
  }];
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getItem() { return getBody().getArgument(0); }
  }];
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, ReturnLike, Terminator]> {
  let summary = "hand values from a region to its operation";
  let description = [{
    Example: `tile.yield %b : i1`
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Tile_UniformOp : Tile_Op<"uniform", [Pure]> {
  let summary = "value that is the same for a whole work item";
  let description = [{
    `q_len` and `kv_len` of the item's request; `base = kv_len - q_len`, the position of its first row; `request`; `head`
    (query head) and `kv_head`; `layer`; `tile`, the item's tile along its axis; `first_row` and `end_row`, the
    existing positions of a query tile, `[max(base, tile * rows), min(kv_len, (tile + 1) * rows))`.

    Constraints:

    - uniform_c1: `head` needs items by query head, `kv_head` items by query head or KV head.
    - uniform_c2: `first_row` and `end_row` need items along queries.

    Example:

    ```mlir
    %kv_len = tile.uniform kv_len of %item : index
    ```
  }];
  let arguments = (ins Tile_UniformKind:$kind, Tile_Item:$item);
  let results = (outs Index:$value);
  let assemblyFormat = "$kind `of` $item attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tile_ParameterOp : Tile_Op<"parameter", [Pure]> {
  let summary = "launch-time parameter";
  let description = [{
    The value in `slot`; with `per_head`, the entry of the item's query head.

    Constraints:

    - parameter_c1: `per_head` needs items by query head.

    Example:

    ```mlir
    %window = tile.parameter 1 of %item : index
    %weight = tile.parameter 2 per_head of %item : f32
    ```
  }];
  let arguments = (ins Tile_Slot:$slot, UnitAttr:$per_head, Tile_Item:$item);
  let results = (outs AnyTypeOf<[Index, F32, I1]>:$value);
  let assemblyFormat = "$slot (`per_head` $per_head^)? `of` $item attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tile_SoftmaxScaleOp : Tile_Op<"softmax_scale", [Pure]> {
  let summary = "what the call multiplies scores by";
  let description = [{
    The softmax scale of the call as f32, 1 / sqrt(head_dim) unless the caller gives another.

    Example:

    ```mlir
    %scale = tile.softmax_scale of %item : f32
    ```
  }];
  let arguments = (ins Tile_Item:$item);
  let results = (outs F32:$value);
  let assemblyFormat = "`of` $item attr-dict `:` type($value)";
}

def Tile_RaiseStatusOp : Tile_Op<"raise_status"> {
  let summary = "set a bit of the sticky status word";
  let description = [{
    `status |= bit` where `condition` holds.

    Example:

    ```mlir
    tile.raise_status unlisted_label if %unlisted of %item
    ```
  }];
  let arguments = (ins Tile_Status:$bit, I1:$condition, Tile_Item:$item);
  let assemblyFormat = "$bit `if` $condition `of` $item attr-dict";
}

def Tile_ItemRecordOp : Tile_Op<"item_record", [Pure]> {
  let summary = "a work item as the values it consists of";
  let description = [{
    Made when a program becomes a function of the kernel's arguments: `arguments` points to them; `rows_begin` and `rows_end` bound
    the existing rows of a row tile of `tile_rows` rows, counted within the tile (all 0 without a query axis); `keys_begin` and `keys_end` bound the keys that the
    item stands for, all of the request without a key axis; `first_token` is the request's first row in the query and output arrays.
    A head that the item does not have is 0. `statistics` are four counters in the order of the kernel contract's structure.

    Example:

    ```mlir
    %item = tile.item_record arguments(%args : !llvm.ptr) request(%r) head(%h) kv_head(%g) layer(%layer) tile(%t)
        lengths(%q_len, %kv_len) rows(%r0, %r1) of 64 keys(%k0, %k1) first_token(%token) statistics(%counters : memref<4xi64>)
    ```
  }];
  let arguments = (ins
    AnyType:$arguments, Index:$request, Index:$head, Index:$kv_head, Index:$layer, Index:$tile,
    Index:$q_len, Index:$kv_len, Index:$rows_begin, Index:$rows_end, Tile_I64<0>:$tile_rows,
    Index:$keys_begin, Index:$keys_end, Index:$first_token, AnyType:$statistics);
  let results = (outs Tile_Item:$item);
  let assemblyFormat = [{
    `arguments` `(` $arguments `:` type($arguments) `)` `request` `(` $request `)` `head` `(` $head `)`
    `kv_head` `(` $kv_head `)` `layer` `(` $layer `)` `tile` `(` $tile `)`
    `lengths` `(` $q_len `,` $kv_len `)` `rows` `(` $rows_begin `,` $rows_end `)` `of` $tile_rows
    `keys` `(` $keys_begin `,` $keys_end `)`
    `first_token` `(` $first_token `)` `statistics` `(` $statistics `:` type($statistics) `)` attr-dict
  }];
}

#endif // SKIM_DIALECT_TILE_PROGRAMOPS_TD
