// The launch plan: what a compiled pattern is given, the workspace it needs, and its kernels in
// order. Every target, the runtime and reports read this one form.
#ifndef SKIM_DIALECT_TILE_PLANOPS_TD
#define SKIM_DIALECT_TILE_PLANOPS_TD

include "dialect/Tile/TileBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tile_InputElement : Tile_Enum<"InputElement", "what a cell of an input holds", [
  I32EnumAttrCase<"Bool", 0, "bool">,
  I32EnumAttrCase<"Index", 1, "index">,
  I32EnumAttrCase<"F32", 2, "f32">,
  I32EnumAttrCase<"List", 3, "list">,
  I32EnumAttrCase<"ListCounts", 4, "list_counts">,
  I32EnumAttrCase<"Vector", 5, "vec">
]>;

def Tile_PlanOp : Tile_Op<"plan", [Symbol, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "launch plan of one compiled pattern";
  let description = [{
    Declares the launch-time parameters, the inputs and the workspace buffers by slot, then the programs that run one
    after the other. `pattern` is the name of the pattern; `page_size` the only page size that is served (0: contiguous keys and values), every layout without
    it; `allowed_layers` the values of `layer` that a `match` without default lists. `compact` says that a run can also give the positions of keys that the pattern
    gathers, and for which heads: one row of them a request (`none`), or one a head.

    Constraints:

    - plan_c1: the body holds only `tile.plan_parameter`, `tile.plan_input`, `tile.buffer` and `tile.launch`.
    - plan_c2: the slots of each kind count from 0 in the order of declaration.
    - plan_c3: names of parameters are distinct, and so are names of inputs and of buffers.

    Example:

    ```mlir
    tile.plan @block_mask_plan attributes {
        pattern = "block_mask",
        problem = #tile.problem<query_heads = 4, kv_heads = 2, head_dim = 64, value_dim = 64, operand = bf16, out = f32>} {
      tile.plan_parameter 0 "window" : index default [2.560000e+02]
      tile.plan_input 0 "layout" : bool (head = query) cells (128, 128)
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    StrAttr:$pattern,
    Tile_ProblemAttr:$problem,
    UnitAttr:$noncausal,
    UnitAttr:$writes_kept,
    OptionalAttr<Tile_HeadKind>:$compact_heads,
    OptionalAttr<Tile_I64<0>>:$page_size,
    OptionalAttr<DenseI64ArrayAttr>:$allowed_layers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`compact` `(` `head` `=` $compact_heads^ `)`)? attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The input of that name, or null.
    PlanInputOp getInput(::llvm::StringRef name);
    /// Appends a workspace buffer with the next slot. `name` is numbered when the plan has it already.
    BufferOp addBuffer(::mlir::Location loc, ::llvm::StringRef name, ::mlir::Type element,
                       int64_t cellElements, ::mlir::AffineMap extents, bool zeroed,
                       bool perWorker = false);
    /// Appends a program to those that run.
    void addLaunch(::mlir::Location loc, ::llvm::StringRef program);
  }];
}

def Tile_PlanParameterOp : Tile_Op<"plan_parameter", [HasParent<"PlanOp">]> {
  let summary = "launch-time parameter of a plan";
  let description = [{
    One value, or one for each query head with `per_head`. Without `default` a launch must give it; `allowed` are the
    only values that a launch may give, `least` and `most` bound them.

    Constraints:

    - plan_parameter_c1: `default` has one value, or one for each query head.
    - plan_parameter_c2: a bool has no bounds, and `least` is not above `most`.

    Example:

    ```mlir
    tile.plan_parameter 0 "kind" per_head : index default [0.000000e+00] allowed [0, 1]
    tile.plan_parameter 1 "mass" : f32 default [0.9] least 0.000000e+00 most 1.000000e+00
    ```
  }];
  let arguments = (ins
    Tile_Slot:$slot, StrAttr:$name, UnitAttr:$per_head, TypeAttrOf<AnyTypeOf<[Index, F32, I1]>>:$type,
    OptionalAttr<DenseF64ArrayAttr>:$default_values, OptionalAttr<DenseI64ArrayAttr>:$allowed,
    OptionalAttr<F64Attr>:$least, OptionalAttr<F64Attr>:$most);
  let assemblyFormat = [{
    $slot $name (`per_head` $per_head^)? `:` $type (`default` $default_values^)? (`allowed` $allowed^)?
    (`least` $least^)? (`most` $most^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_PlanInputOp : Tile_Op<"plan_input", [HasParent<"PlanOp">]> {
  let summary = "input of a plan";
  let description = [{
    An array with the axes (request, head, query-like, key-like). `cells` are the blocks of the query-like and the key-like axis, 0 where the array has no such
    axis; with `diagonal` the last axis is the distance `q - k`. A `list` takes two slots: the indices, then its counts. A `vec` has one more axis, the last, of `elements`
    consecutive f32. A weight of a linear map is a `vec` with `weight_rows` as the extent of its key-like axis: output rows by input columns.

    Constraints:

    - plan_input_c1: `diagonal` needs cells of one key: the distance.
    - plan_input_c2: `list_counts` stand in the slot after their `list`.
    - plan_input_c3: `list_counts` have the heads and the query-like axis of their list, and no key-like axis.
    - plan_input_c4: a `vec` has `elements`, and nothing else has.
    - plan_input_c5: `weight_rows` needs a `vec` with cells (0, 1).

    Example:

    ```mlir
    tile.plan_input 0 "blocks" : list (head = kv) cells (64, 64)
    tile.plan_input 1 "blocks_counts" : list_counts (head = kv) cells (64, 0)
    tile.plan_input 2 "means" : vec (head = kv) cells (0, 64) elements 128
    tile.plan_input 3 "projection" : vec (head = none) cells (0, 1) elements 128 weight_rows 64
    ```
  }];
  let arguments = (ins
    Tile_Slot:$slot, StrAttr:$name, Tile_InputElement:$element, Tile_HeadKind:$head,
    Tile_I64<0>:$query_cell, Tile_I64<0>:$key_cell, UnitAttr:$diagonal,
    OptionalAttr<Tile_I64<1>>:$elements, OptionalAttr<Tile_I64<1>>:$weight_rows);
  let builders = [OpBuilder<(ins "int64_t":$slot, "::llvm::StringRef":$name, "InputElement":$element, "HeadKind":$head,
                                 "int64_t":$queryCell, "int64_t":$keyCell, "bool":$diagonal), [{
    build($_builder, $_state, slot, name, element, head, queryCell, keyCell, diagonal, ::mlir::IntegerAttr(),
          ::mlir::IntegerAttr());
  }]>];
  let assemblyFormat = [{
    $slot $name `:` $element `(` `head` `=` $head `)` `cells` `(` $query_cell `,` $key_cell `)`
    (`diagonal` $diagonal^)? (`elements` $elements^)? (`weight_rows` $weight_rows^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_BufferOp : Tile_Op<"buffer", [HasParent<"PlanOp">]> {
  let summary = "workspace buffer of a plan";
  let description = [{
    An array with the axes (request, head, query-like, key-like), whose extents are functions of the shape of the batch. Each cell holds
    `cell` elements; `zeroed` buffers are cleared before the first program of every run. A `per_worker` buffer is scratch: each
    of the workers that run items has a slice of its own, with the extents given here.

    Constraints:

    - buffer_c1: `extents` has no dimension, the symbols (requests, max_q_len, max_kv_len), and four results.
    - buffer_c2: `per_worker` needs a first extent of 1 and excludes `zeroed`.

    Example:

    ```mlir
    tile.buffer 0 "covered" : ui8 cell 1 extents affine_map<()[requests, max_q_len, max_kv_len] -> (requests, 4, (max_q_len + 62) floordiv 64 + 1, max_kv_len ceildiv 64)> zeroed
    tile.buffer 1 "scores" : f32 cell 1 extents affine_map<()[requests, max_q_len, max_kv_len] -> (1, 1, max_kv_len ceildiv 64 + 1, 64)> per_worker
    ```
  }];
  let arguments = (ins
    Tile_Slot:$slot, StrAttr:$name, TypeAttr:$element, Tile_I64<1>:$cell, AffineMapAttr:$extents,
    UnitAttr:$zeroed, UnitAttr:$per_worker);
  let assemblyFormat = [{
    $slot $name `:` $element `cell` $cell `extents` $extents (`zeroed` $zeroed^)? (`per_worker` $per_worker^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Tile_LaunchOp : Tile_Op<"launch", [HasParent<"PlanOp">,
                                       DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "run a program over its work items";
  let description = [{
    Constraints:

    - launch_c1: `program` names a `tile.program`.

    Example:

    ```mlir
    tile.launch @attention
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$program);
  let assemblyFormat = "$program attr-dict";
}

def Tile_StoredSetOp : Tile_Op<"stored_set", [Pure]> {
  let summary = "set that an earlier kernel wrote as bytes";
  let description = [{
    Stands in a pattern for a set that a kernel of its own decides: the pairs whose byte in a workspace buffer is not 0. The type of the result
    says which axes the buffer has.

    Example:

    ```mlir
    %chosen = tile.stored_set buffer 0 : !skim.set<kv_head, k>
    ```
  }];
  let arguments = (ins Tile_Slot:$slot);
  let results = (outs AnyType:$set);
  let assemblyFormat = "`buffer` $slot attr-dict `:` type($set)";
}

def Tile_StoredMapOp : Tile_Op<"stored_map", [Pure]> {
  let summary = "map that an earlier kernel wrote";
  let description = [{
    Stands in a pattern for a map that a kernel of its own computes: f32, or f64 for a map of index, NaN where undefined; `elements` a cell for vectors. The type of
    the result says which axes the buffer has. `causal` says that a cell is undefined when all its keys lie behind its last row, `scored` that it
    depends on queries, keys or values.

    Example:

    ```mlir
    %energy = tile.stored_map buffer 0 causal scored : !skim.map<kv_head, q / 128, k / 128 : f32>
    %means = tile.stored_map buffer 1 elements 128 scored : !skim.map<kv_head, k / 16 : vec>
    ```
  }];
  let arguments = (ins Tile_Slot:$slot, DefaultValuedAttr<Tile_I64<1>, "1">:$elements, UnitAttr:$causal, UnitAttr:$scored);
  let results = (outs AnyType:$map);
  let assemblyFormat = [{
    `buffer` $slot (`elements` $elements^)? (`causal` $causal^)? (`scored` $scored^)? attr-dict `:` type($map)
  }];
}

#endif // SKIM_DIALECT_TILE_PLANOPS_TD
