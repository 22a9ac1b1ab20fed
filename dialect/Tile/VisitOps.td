// Visits, and the predicates that decide which tiles are visited.
#ifndef SKIM_DIALECT_TILE_VISITOPS_TD
#define SKIM_DIALECT_TILE_VISITOPS_TD

include "dialect/Tile/ProgramOps.td"

def Tile_ForEachVisitOp : Tile_Op<"for_each_visit", [AttrSizedOperandSegments, SingleBlock,
    RecursiveMemoryEffects]> {
  let summary = "visit the touched tiles of keys, in descending order";
  let description = [{
    Let N be the number of tiles of the source. Tile u in [0, N) is visited once when it lies in an interval of `touched`, and its mask is applied when it lies in
    an interval of `hidden`. Tiles come in descending order of u. The states in `carry` move through the visits.

    `symbols` are the symbols of the intervals' maps and sets, `literals` the predicates that they name by number. A literal of an interval is tested
    over the existing rows and keys of the tile.

    Constraints:

    - for_each_visit_c1: the body's arguments are a `!tile.visit` and one state for each of `carry`; results and yielded
      values have the types of `carry`.
    - for_each_visit_c2: each yielded state descends from the body's own argument through `tile.online_softmax` and `tile.accumulate`.
    - for_each_visit_c3: each interval has as many symbols as there are `symbols`, and names `literals` that exist.
    - for_each_visit_c4: the program's items run along queries.
    - for_each_visit_c5: intervals of `touched` and `hidden` are `#tile.interval` attributes.

    Example:

    ```mlir
    %state = tile.for_each_visit %visit of %item symbols(%kv_len)
        touched [interval<lower = affine_map<(t)[s0] -> (0)>, upper = affine_map<(t)[s0] -> (t + 1, s0 ceildiv 64)>>]
        hidden [interval<lower = affine_map<(t)[s0] -> (t)>, upper = affine_map<(t)[s0] -> (t + 1)>>]
        source #tile.source<tokens> carry(%s = %empty) : !tile.state<64x128> {
      %keys, %kt = tile.issue_load keys %visit : !tile.shared<64x128xf32>
      %d, %dt = tile.issue_dot %queries, %keys after %kt : !tile.shared<64x128xf32>, !tile.shared<64x128xf32> -> !tile.fragment<64x64xf32>
      %p, %s1 = tile.online_softmax %d, %s after %dt : !tile.fragment<64x64xf32>, !tile.state<64x128>
      %values, %vt = tile.issue_load values %visit : !tile.shared<64x128xf32>
      %s2 = tile.accumulate %p, %values, %s1 after %vt : !tile.fragment<64x64xf32>, !tile.shared<64x128xf32>, !tile.state<64x128>
      tile.yield %s2 : !tile.state<64x128>
    }
    ```
  }];
  let arguments = (ins
    Tile_Item:$item, Variadic<Index>:$symbols, Variadic<Tile_Literal>:$literals, Variadic<Tile_State>:$carry,
    ArrayAttr:$touched, ArrayAttr:$hidden, Tile_SourceAttr:$source);
  let results = (outs Variadic<Tile_State>:$states);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::BlockArgument getVisit() { return getBody().getArgument(0); }
    ::mlir::Block::BlockArgListType getCarriedArguments() { return getBody().getArguments().drop_front(); }
  }];
}

def Tile_VisitRecordOp : Tile_Op<"visit_record", [Pure]> {
  let summary = "a visit as the values it consists of";
  let description = [{
    Made when `tile.for_each_visit` becomes loops: keys `[first_key, first_key + count)` of `source`, all of which exist;
    `masked` says whether the mask is applied.

    With `positions` other than 0 the visit is a list: its keys are the `count` first of the positions that lie there, 32 bits each, in the
    memory that the target's roles share; `first_key` says nothing then.

    Example:

    ```mlir
    %visit = tile.visit_record of %item keys(%first_key, %count) masked(%masked) source #tile.source<tokens>
    %listed = tile.visit_record of %item keys(%first_key, %count) listed(%positions) masked(%masked) source #tile.source<tokens>
    ```
  }];
  let arguments = (ins Tile_Item:$item, Index:$first_key, Index:$count, I1:$masked, Tile_SourceAttr:$source,
                       Optional<I32>:$positions);
  let results = (outs Tile_Visit:$visit);
  let assemblyFormat = [{
    `of` $item `keys` `(` $first_key `,` $count `)` (`listed` `(` $positions^ `)`)? `masked` `(` $masked `)` `source` qualified($source) attr-dict
  }];
}

def Tile_LiteralOp : Tile_Op<"literal", [Pure, SingleBlock]> {
  let summary = "name a predicate over positions";
  let description = [{
    The region yields whether the predicate holds at (q, k). It is constant on cells of `query_cell` positions by `key_cell`
    keys, which start at multiples of these sizes; 0: it does not depend on that axis.

    Constraints:

    - literal_c1: the region takes two `index` and yields one `i1`.
    - literal_c2: the region holds scalar operations only.

    Example:

    ```mlir
    %lit = tile.literal of %item cells (128, 128) {
    ^bb0(%q: index, %k: index):
      %b = tile.load_cell input 0 (head = query) cells (128, 128) at (%q, %k) of %item : i1
      tile.yield %b : i1
    } : !tile.literal
    ```
  }];
  let arguments = (ins Tile_Item:$item, Tile_I64<0>:$query_cell, Tile_I64<0>:$key_cell);
  let results = (outs Tile_Literal:$literal);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `of` $item `cells` `(` $query_cell `,` $key_cell `)` $body attr-dict `:` qualified(type($literal))
  }];
  let hasRegionVerifier = 1;
}

def Tile_LiteralValueOp : Tile_Op<"literal_value", [Pure]> {
  let summary = "value of a literal at a position";
  let description = [{
    Constraint literal_value_c1: `literal` is the result of a `tile.literal`.

    Example:

    ```mlir
    %b = tile.literal_value %lit (%q, %k) : i1
    ```
  }];
  let arguments = (ins Tile_Literal:$literal, Index:$query, Index:$key);
  let results = (outs I1:$value);
  let assemblyFormat = "$literal `(` $query `,` $key `)` attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Tile_ContainsOp : Tile_Op<"contains", [Pure, AttrSizedOperandSegments]> {
  let summary = "whether a position lies in an affine set";
  let description = [{
    Holds when every equality and inequality of `set` holds at the dimensions and symbols.

    Constraint contains_c1: there are as many dimensions and symbols as `set` has.

    Example:

    ```mlir
    %a = tile.contains affine_set<(q, k)[s0] : (s0 - q + k - 1 >= 0)>(%q, %k)[%window] : i1
    ```
  }];
  let arguments = (ins IntegerSetAttr:$set, Variadic<Index>:$dims, Variadic<Index>:$symbols);
  let results = (outs I1:$value);
  let builders = [OpBuilder<(ins "::mlir::IntegerSet":$set, "::mlir::ValueRange":$dims,
                                 "::mlir::ValueRange":$symbols), [{
    build($_builder, $_state, $_builder.getI1Type(), set, dims, symbols);
  }]>];
  let assemblyFormat = "$set `(` $dims `)` (`[` $symbols^ `]`)? attr-dict `:` type($value)";
  let hasVerifier = 1;
}

#endif // SKIM_DIALECT_TILE_VISITOPS_TD
