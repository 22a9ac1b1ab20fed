// Sets of pairs: where they come from and how they combine.
#ifndef SKIM_DIALECT_SKIM_SKIMSETOPS_TD
#define SKIM_DIALECT_SKIM_SKIMSETOPS_TD

include "dialect/Skim/SkimBase.td"

def Skim_AffineSetOp : SkimValueOp<"affine_set"> {
  let summary = "pairs that satisfy quasi-affine constraints";
  let description = [{
    `{(q, k) : all constraints hold}`. What the compiler solves in closed form.

    Constraints:
    - `affine_set_c1`: the integer set has the dimensions (q, k) and one symbol for each operand;
    - `affine_set_c2`: factors are constants, divisors and moduli positive constants;
    - `affine_set_c3`: the result has the granularity of the constraints, in their coarsest blocks, and the head axis that covers the symbols, or is finer.

    Example:
    ```mlir
    %window = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%count) : (!skim.map<: index>) -> !skim.set<q - k>
    %stride = skim.affine_set affine_set<(q, k) : ((k floordiv 16) mod 4 == 0)> () : () -> !skim.set<k / 16>
    ```
  }];
  let arguments = (ins IntegerSetAttr:$set, Variadic<UniformIndex>:$symbols);
  let results = (outs AnySet:$result);
  let builders = [OpBuilder<(ins "::mlir::IntegerSet":$set, "::mlir::ValueRange":$symbols)>];
  let assemblyFormat = "$set ` ` `(` $symbols `)` attr-dict `:` functional-type($symbols, $result)";
  let hasCanonicalizer = 1;
}

def Skim_CompareOp : SkimValueOp<"compare"> {
  let summary = "pairs at which one map compares to another";
  let description = [{
    `{(q, k) : lhs(q, k) predicate rhs(q, k)}`, false where a side is undefined or NaN; so `ne` is false there too.

    Constraints:
    - `compare_c1`: both sides are index or both are f32;
    - `compare_c2`: the axes of f32 sides meet (equal or absent); index sides may have different blocks;
    - `compare_c3`: the result has the granularity of both.

    Example:
    ```mlir
    %start = skim.input "start" : !skim.map<q : index>
    %key = skim.position affine_map<(q, k) -> (k)> () : () -> !skim.map<k : index>
    %document = skim.compare ge %key, %start : (!skim.map<k : index>, !skim.map<q : index>) -> !skim.set<q, k>
    ```
  }];
  let arguments = (ins SkimComparison:$predicate, NumberMap:$lhs, NumberMap:$rhs);
  let results = (outs AnySet:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasCanonicalizer = 1;
}

def Skim_AsSetOp : SkimValueOp<"as_set"> {
  let summary = "pairs at which a bool map is true";
  let description = [{
    `{(q, k) : input(q, k)}`, false where the map is undefined.

    Constraints:
    - `as_set_c1`: the result has the axes of the map.

    Example:
    ```mlir
    %layout = skim.input "layout" : !skim.map<head, q / 128, k / 128 : bool>
    %kept = skim.as_set %layout : !skim.map<head, q / 128, k / 128 : bool> -> !skim.set<head, q / 128, k / 128>
    ```
  }];
  let arguments = (ins BoolMap:$input);
  let results = (outs AnySet:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input)>];
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `->` qualified(type($result))";
  let hasCanonicalizer = 1;
}

def Skim_TopKOp : SkimValueOp<"top_k"> {
  let summary = "the largest cells along the selection axis";
  let description = [{
    For each value of the other axes the n cells with the largest values; ties go to the smaller axis value. The selection axis is the key
    axis, else `q - k`. `n = ceil(x - 1e-6 * max(1, x))` of the count x, computed in f64, clamped to the cells that exist. Undefined cells are never selected.

    Constraints:
    - `top_k_c1`: the map has a key axis or the axis `q - k`;
    - `top_k_c2`: the result has the axes of the map, with the head axis that covers the count.

    Example:
    ```mlir
    %best = skim.top_k %columns, %count : (!skim.map<head, k : f32>, !skim.map<: index>) -> !skim.set<head, k>
    ```
  }];
  let arguments = (ins NumberMap:$input, UniformNumber:$count);
  let results = (outs AnySet:$result);
  let assemblyFormat = "$input `,` $count attr-dict `:` functional-type(operands, results)";
}

def Skim_TopPOp : SkimValueOp<"top_p"> {
  let summary = "the fewest largest cells that hold a share of the sum";
  let description = [{
    For each value of the other axes the shortest prefix of the cells in descending order (ties: smaller axis value first) whose sum reaches `mass` times the sum of the existing
    cells; negative values count as 0; at least one cell. The selection axis is the key axis, else `q - k`.

    Constraints:
    - `top_p_c1`: the map has a key axis or the axis `q - k`;
    - `top_p_c2`: the result has the axes of the map, with the head axis that covers the mass.

    Example:
    ```mlir
    %most = skim.top_p %columns, %ratio : (!skim.map<head, k : f32>, !skim.map<: f32>) -> !skim.set<head, k>
    ```
  }];
  let arguments = (ins F32Map:$input, UniformF32:$mass);
  let results = (outs AnySet:$result);
  let assemblyFormat = "$input `,` $mass attr-dict `:` functional-type(operands, results)";
}

def Skim_CoverOp : SkimValueOp<"cover"> {
  let summary = "whole blocks that hold a visible pair of a set";
  let description = [{
    The pairs of each block of `query` x `key` positions that holds a pair of the set whose row and key exist and which causality admits. Without `query` each row decides
    for itself.

    Constraints:
    - `cover_c1`: the block sizes are positive;
    - `cover_c2`: the result has the axes `q / query` (`q` without) and `k / key`, and the head axis of the set.

    Example:
    ```mlir
    %blocks = skim.cover %band query 64 key 64 : !skim.set<q - k> -> !skim.set<q / 64, k / 64>
    %pages = skim.cover %band key 16 : !skim.set<q - k> -> !skim.set<q, k / 16>
    ```
  }];
  let arguments = (ins AnySet:$set, OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$query,
                       ConfinedAttr<I64Attr, [IntPositive]>:$key);
  let results = (outs AnySet:$result);
  let assemblyFormat = "$set (`query` $query^)? `key` $key attr-dict `:` qualified(type($set)) `->` qualified(type($result))";
}

class SkimVariadicSetOp<string mnemonic, string formula> : SkimValueOp<mnemonic, [Commutative]> {
  let summary = formula;
  let arguments = (ins Variadic<AnySet>:$sets);
  let results = (outs AnySet:$result);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$sets)>];
  let assemblyFormat = "$sets attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Skim_AndOp : SkimVariadicSetOp<"and", "pairs in every set"> {
  let description = [{
    The intersection of one set or more, of any granularity.

    Constraints:
    - `and_c1`: there is at least one set;
    - `and_c2`: the result has the common granularity of the sets, or is finer.

    Example:
    ```mlir
    %near_sinks = skim.and %band, %sinks : (!skim.set<q - k>, !skim.set<k>) -> !skim.set<q, k>
    ```
  }];
}

def Skim_OrOp : SkimVariadicSetOp<"or", "pairs in some set"> {
  let description = [{
    The union of one set or more, of any granularity.

    Constraints:
    - `or_c1`: there is at least one set;
    - `or_c2`: the result has the common granularity of the sets, or is finer.

    Example:
    ```mlir
    %kept = skim.or %band, %sinks : (!skim.set<q - k>, !skim.set<k>) -> !skim.set<q, k>
    ```
  }];
}

def Skim_NotOp : SkimValueOp<"not", [AllTypesMatch<["set", "result"]>]> {
  let summary = "pairs that are not in a set";
  let description = [{
    The complement over all (q, k). Causality and lengths are intersected at `skim.keep`, after all complements.

    Constraints:
    - `not_c1`: the result has the type of the set.

    Example:
    ```mlir
    %far = skim.not %band : !skim.set<q - k>
    ```
  }];
  let hasVerifier = 0;
  let arguments = (ins AnySet:$set);
  let results = (outs AnySet:$result);
  let assemblyFormat = "$set attr-dict `:` qualified(type($result))";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Skim_MatchOp : SkimValueOp<"match", [AttrSizedOperandSegments]> {
  let summary = "one set of several, chosen by a uniform value";
  let description = [{
    The arm whose label equals the selector, else the default. Without a default an unlisted value is an error when the host holds it, and keeps nothing and sets the sticky status
    when the device does.

    Constraints:
    - `match_c1`: there is one label for each arm, and at least one arm;
    - `match_c2`: labels are distinct;
    - `match_c3`: the result has the common granularity of the arms, with the head axis that covers the selector.

    Example:
    ```mlir
    %kind = skim.input "kind" : !skim.map<head : index>
    %chosen = skim.match %kind [0, 1] (%band, %sinks) default (%near) : (!skim.map<head : index>, !skim.set<q - k>, !skim.set<k>, !skim.set<q, k>) -> !skim.set<head, q, k>
    ```
  }];
  let arguments = (ins UniformIndex:$selector, DenseI64ArrayAttr:$labels, Variadic<AnySet>:$arms, Optional<AnySet>:$otherwise);
  let results = (outs AnySet:$result);
  let assemblyFormat = "$selector $labels ` ` `(` $arms `)` (`default` ` ` `(` $otherwise^ `)`)? attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

#endif // SKIM_DIALECT_SKIM_SKIMSETOPS_TD
