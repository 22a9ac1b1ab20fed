// Products, masks and the online softmax.
#ifndef SKIM_DIALECT_TILE_COMPUTEOPS_TD
#define SKIM_DIALECT_TILE_COMPUTEOPS_TD

include "dialect/Tile/VisitOps.td"

def Tile_EmptyStateOp : Tile_Op<"empty_state"> {
  let summary = "state of rows that have met no key";
  let description = [{
    `m = -inf`, `l = 0`, `o = 0`.

    Example:

    ```mlir
    %empty = tile.empty_state : !tile.state<64x128>
    ```
  }];
  let results = (outs Tile_State:$state);
  let assemblyFormat = "attr-dict `:` qualified(type($state))";
}

def Tile_IssueDotOp : Tile_Op<"issue_dot"> {
  let summary = "start the product of queries and keys";
  let description = [{
    `scores[r, j] = softmax_scale * sum_i queries[r, i] * keys[j, i]`, accumulated in f32.

    Constraints:

    - issue_dot_c1: `queries` is R x D and `keys` is K x D, of one element type.
    - issue_dot_c2: `scores` is R x K of f32.

    Example:

    ```mlir
    %d, %done = tile.issue_dot %queries, %keys after %loaded : !tile.shared<64x128xf32>, !tile.shared<64x128xf32> -> !tile.fragment<64x64xf32>
    ```
  }];
  let arguments = (ins Tile_Shared:$queries, Tile_Shared:$keys, Variadic<Tile_Token>:$after);
  let results = (outs Tile_Fragment:$scores, Tile_Token:$token);
  let assemblyFormat = [{
    $queries `,` $keys (`after` $after^)? attr-dict `:` qualified(type($queries)) `,` qualified(type($keys)) `->` qualified(type($scores))
  }];
  let hasVerifier = 1;
}

def Tile_MapScoresOp : Tile_Op<"map_scores", [SingleBlock, AllTypesMatch<["scores", "result"]>]> {
  let summary = "replace each score by a function of it and of its position";
  let description = [{
    `result[r, j] = body(scores[r, j], q, k)` at the existing rows and keys of the visit.

    Constraints:

    - map_scores_c1: the region takes an `f32` and two `index` and yields one `f32`.
    - map_scores_c2: the region holds scalar operations only.
    - map_scores_c3: the scores have no other use.

    Example:

    ```mlir
    %e = tile.map_scores %d after %done at %visit : !tile.fragment<64x64xf32> {
    ^bb0(%s: f32, %q: index, %k: index):
      %x = math.tanh %s : f32
      tile.yield %x : f32
    }
    ```
  }];
  let arguments = (ins Tile_Fragment:$scores, Variadic<Tile_Token>:$after, Tile_Visit:$visit);
  let results = (outs Tile_Fragment:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $scores (`after` $after^)? `at` $visit `:` qualified(type($scores)) $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_MaskOp : Tile_Op<"mask", [SingleBlock, AllTypesMatch<["scores", "result"]>]> {
  let summary = "remove the pairs that are not kept";
  let description = [{
    `result[r, j] = where(q, k) ? scores[r, j] : -inf` at the existing rows and keys of the visit. A visit that is not
    masked leaves the scores as they are.

    Constraints:

    - mask_c1: the region takes two `index` and yields one `i1`.
    - mask_c2: the region holds scalar operations only.
    - mask_c3: the scores have no other use.

    Example:

    ```mlir
    %m = tile.mask %d after %done at %visit : !tile.fragment<64x64xf32> where {
    ^bb0(%q: index, %k: index):
      %a = tile.contains affine_set<(q, k) : (q - k >= 0)>(%q, %k) : i1
      tile.yield %a : i1
    }
    ```
  }];
  let arguments = (ins Tile_Fragment:$scores, Variadic<Tile_Token>:$after, Tile_Visit:$visit);
  let results = (outs Tile_Fragment:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $scores (`after` $after^)? `at` $visit `:` qualified(type($scores)) `where` $body attr-dict
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_OnlineSoftmaxOp : Tile_Op<"online_softmax",
    [AllTypesMatch<["scores", "probabilities"]>, AllTypesMatch<["state", "result"]>]> {
  let summary = "take the scores of a visit into the running softmax";
  let description = [{
    For each row, with the scores s of the visit and the state (m, l, o):
    `m' = max(m, max_j s_j)`, `p_j = exp(s_j - m')`, `l' = exp(m - m') l + sum_j p_j`, and o is due to be scaled by exp(m - m'), which
    `tile.accumulate` does. A row whose m' is -inf has p = 0 and stays as it is. What a row becomes depends on that row alone, bit for bit.

    Constraints:

    - online_softmax_c1: scores and state have the same rows, and the scores are f32.
    - online_softmax_c2: neither state nor scores have another use.

    Example:

    ```mlir
    %p, %s1 = tile.online_softmax %m, %s : !tile.fragment<64x64xf32>, !tile.state<64x128>
    ```
  }];
  let arguments = (ins Tile_Fragment:$scores, Tile_State:$state, Variadic<Tile_Token>:$after);
  let results = (outs Tile_Fragment:$probabilities, Tile_State:$result);
  let assemblyFormat = [{
    $scores `,` $state (`after` $after^)? attr-dict `:` qualified(type($scores)) `,` qualified(type($state))
  }];
  let hasVerifier = 1;
}

def Tile_AccumulateOp : Tile_Op<"accumulate", [AllTypesMatch<["state", "result"]>]> {
  let summary = "add weighted values to the accumulator";
  let description = [{
    `o[r, i] = a_r o[r, i] + sum_j p[r, j] * values[j, i]` over existing keys, where a is the scale that is due.

    Constraints:

    - accumulate_c1: p is R x K, values is K x D, the state is R x D.
    - accumulate_c2: the state is the result of the `tile.online_softmax` that made p, and has no other use.

    Example:

    ```mlir
    %s2 = tile.accumulate %p, %values, %s1 after %loaded : !tile.fragment<64x64xf32>, !tile.shared<64x128xf32>, !tile.state<64x128>
    ```
  }];
  let arguments = (ins Tile_Fragment:$probabilities, Tile_Shared:$values, Tile_State:$state, Variadic<Tile_Token>:$after);
  let results = (outs Tile_State:$result);
  let assemblyFormat = [{
    $probabilities `,` $values `,` $state (`after` $after^)? attr-dict
    `:` qualified(type($probabilities)) `,` qualified(type($values)) `,` qualified(type($state))
  }];
  let hasVerifier = 1;
}

#endif // SKIM_DIALECT_TILE_COMPUTEOPS_TD
