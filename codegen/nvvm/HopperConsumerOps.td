// What consumers do: slots of rings, softmax, products in flight.
#ifndef SKIM_CODEGEN_NVVM_HOPPERCONSUMEROPS_TD
#define SKIM_CODEGEN_NVVM_HOPPERCONSUMEROPS_TD

include "codegen/nvvm/HopperDialect.td"
include "dialect/Tile/TileBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Hopper_AwaitQueriesOp : Hopper_Op<"await_queries"> {
  let summary = "the queries of an item, in shared memory";
  let description = [{
    The loader has waited for them before the item was handed on.

    Example:

    ```mlir
    %q = hopper.await_queries %item : !tile.shared<192x128xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Tile_Item:$item);
  let results = (outs Tile_Shared:$queries);
  let assemblyFormat = "$item attr-dict `:` qualified(type($queries))";
}

def Hopper_ReleaseQueriesOp : Hopper_Op<"release_queries"> {
  let summary = "give the slot of an item's queries back";
  let description = [{
    Example:

    ```mlir
    hopper.release_queries %item
    ```
  }];
  let arguments = (ins Tile_Item:$item);
  let assemblyFormat = "$item attr-dict";
}

def Hopper_AwaitOp : Hopper_Op<"await"> {
  let summary = "the keys or values of a visit, in shared memory";
  let description = [{
    Waits until the copy has arrived. Keys have arrived when `hopper.next_visit` returns.

    Example:

    ```mlir
    %v = hopper.await values number %n : !tile.shared<64x128xbf16, swizzle = 128, stages = 2>
    ```
  }];
  let arguments = (ins Tile_Operand:$operand, I32:$number);
  let results = (outs Tile_Shared:$tile);
  let assemblyFormat = "$operand `number` $number attr-dict `:` qualified(type($tile))";
}

def Hopper_ReleaseOp : Hopper_Op<"release"> {
  let summary = "give a slot back to the loader";
  let description = [{
    Every product that reads the slot must have been waited for.

    Example:

    ```mlir
    hopper.release keys number %n
    ```
  }];
  let arguments = (ins Tile_Operand:$operand, I32:$number);
  let assemblyFormat = "$operand `number` $number attr-dict";
}

def Hopper_WaitOp : Hopper_Op<"wait", [AllTypesMatch<["value", "result"]>]> {
  let summary = "wait until a product has written its result";
  let description = [{
    Waits until at most `pending` of the products issued last are in flight. `keep` are values that products in flight may still read.

    Constraint wait_c1: the value is a fragment or a state.

    Example:

    ```mlir
    %s = hopper.wait %issued pending 1 : !tile.fragment<192x64xf32>
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tile_Fragment, Tile_State]>:$value, Tile_I64<0>:$pending, Optional<Tile_Fragment>:$keep);
  let results = (outs AnyTypeOf<[Tile_Fragment, Tile_State]>:$result);
  let assemblyFormat = "$value `pending` $pending (`keep` $keep^ `:` qualified(type($keep)) `,`)? attr-dict `:` qualified(type($value))";
}

def Hopper_OnlineSoftmaxOp : Hopper_Op<"online_softmax",
    [AllTypesMatch<["scores", "probabilities"]>, AllTypesMatch<["state", "result"]>]> {
  let summary = "take the scores of a visit into the running softmax, rescaling only where it matters";
  let description = [{
    With the reference m of a row and the scores s of the visit in units of the natural logarithm: where `max_j s_j > m + t ln 2` (or m is -inf), `m' = max(m, max_j s_j)`, otherwise `m' = m`;
    `p_j = exp(s_j - m')`, at most `2^t`; `l' = exp(m - m') l + sum_j p_j`. The accumulator is due to be scaled by `exp(m - m')`: `hopper.rescale` does it. The slack t is 32 for operands
    of bf16, which has the exponents of f32, and 8 for f16.
    What a row becomes depends on that row alone, bit for bit: a vote of the warp only decides whether the branch is entered.

    With `queries`, of a kernel that has `key_norms`, no maximum is taken where none can pass its row's reference: by the inequality of Cauchy and Schwarz `|s_j| <= |q| max |k|` times the softmax
    scale, so once `|q| max |k| scale <= m + t ln 2` for all rows of a warp (less a part in 64 for rounding), the rest of the item needs no maxima. The result is the same bit for bit.

    `first`: the state is empty, and m' is the maximum. `scaled`: the scores carry the softmax scale already.
    The delayed rescaling is that of FlashAttention-4.

    Example:

    ```mlir
    %p, %s1 = hopper.online_softmax %scores, %s0 of %item : !tile.fragment<192x64xf32>, !tile.state<192x128>
    %p1, %s2 = hopper.online_softmax %scores, %s1 of %item bounded by %queries : !tile.shared<192x128xbf16, swizzle = 128> : !tile.fragment<192x64xf32>, !tile.state<192x128>
    ```
  }];
  let arguments = (ins Tile_Fragment:$scores, Tile_State:$state, UnitAttr:$first, UnitAttr:$scaled, Tile_Item:$item, Optional<Tile_Shared>:$queries);
  let results = (outs Tile_Fragment:$probabilities, Tile_State:$result);
  let assemblyFormat = "$scores `,` $state `of` $item (`bounded` `by` $queries^ `:` qualified(type($queries)))? attr-dict `:` qualified(type($scores)) `,` qualified(type($state))";
}

def Hopper_PackOp : Hopper_Op<"pack"> {
  let summary = "round probabilities to the element type of the values";
  let description = [{
    The layout of a fragment of scores is that of a left operand in registers: no lane exchanges anything.

    Constraint pack_c1: both fragments have one shape; the result has 16-bit elements.

    Example:

    ```mlir
    %h = hopper.pack %p : !tile.fragment<192x64xf32> -> !tile.fragment<192x64xbf16>
    ```
  }];
  let arguments = (ins Tile_Fragment:$wide);
  let results = (outs Tile_Fragment:$packed);
  let assemblyFormat = "$wide attr-dict `:` qualified(type($wide)) `->` qualified(type($packed))";
  let hasVerifier = 1;
}

def Hopper_IssueAccumulateOp : Hopper_Op<"issue_accumulate", [AllTypesMatch<["state", "result"]>]> {
  let summary = "start to add weighted values to the accumulator";
  let description = [{
    `o[r, i] += sum_j p[r, j] * values[j, i]`, in flight until a `hopper.wait`.

    Example:

    ```mlir
    %s1 = hopper.issue_accumulate %h, %v, %s0 : !tile.fragment<192x64xbf16>, !tile.shared<64x128xbf16, swizzle = 128, stages = 2>, !tile.state<192x128>
    ```
  }];
  let arguments = (ins Tile_Fragment:$probabilities, Tile_Shared:$values, Tile_State:$state);
  let results = (outs Tile_State:$result);
  let assemblyFormat = "$probabilities `,` $values `,` $state attr-dict `:` qualified(type($probabilities)) `,` qualified(type($values)) `,` qualified(type($state))";
}

def Hopper_RescaleOp : Hopper_Op<"rescale", [AllTypesMatch<["state", "result"]>]> {
  let summary = "scale the accumulator where that is due";
  let description = [{
    Example:

    ```mlir
    %s1 = hopper.rescale %s0 : !tile.state<192x128>
    ```
  }];
  let arguments = (ins Tile_State:$state);
  let results = (outs Tile_State:$result);
  let assemblyFormat = "$state attr-dict `:` qualified(type($state))";
}

#endif // SKIM_CODEGEN_NVVM_HOPPERCONSUMEROPS_TD
