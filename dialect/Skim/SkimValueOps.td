// Where maps come from: constants, uniform values, positions, inputs, operands.
#ifndef SKIM_DIALECT_SKIM_SKIMVALUEOPS_TD
#define SKIM_DIALECT_SKIM_SKIMVALUEOPS_TD

include "dialect/Skim/SkimBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def Skim_ConstantOp : SkimValueOp<"constant", [ConstantLike]> {
  let summary = "a uniform constant";
  let description = [{
    The uniform map whose value is the attribute.

    Constraints:
    - `constant_c1`: the attribute is an index, an f32 or a bool, and the result a uniform map of it without head axis.

    Example:
    ```mlir
    %n = skim.constant 64 : index -> !skim.map<: index>
    %x = skim.constant 5.000000e-01 : f32 -> !skim.map<: f32>
    %b = skim.constant true -> !skim.map<: bool>
    ```
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs AnyMap:$result);
  let builders = [OpBuilder<(ins "::mlir::TypedAttr":$value)>];
  let assemblyFormat = "$value attr-dict `->` qualified(type($result))";
  let hasFolder = 1;
}

def Skim_UniformOp : SkimValueOp<"uniform"> {
  let summary = "a value that is one for a whole head of a request";
  let description = [{
    `q_len` and `kv_len` are the request's numbers of rows and keys, `layer` the launch's layer, `head` and `kv_head` the index of the head at hand.

    Constraints:
    - `uniform_c1`: the result is `!skim.map<head : index>` for `head`, `!skim.map<kv_head : index>` for `kv_head`, else `!skim.map<: index>`.

    Example:
    ```mlir
    %length = skim.uniform kv_len : !skim.map<: index>
    ```
  }];
  let arguments = (ins SkimUniformKind:$kind);
  let results = (outs IndexMap:$result);
  let builders = [OpBuilder<(ins "::skim::ir::UniformKind":$kind)>];
  let assemblyFormat = "$kind attr-dict `:` qualified(type($result))";
}

def Skim_PositionOp : SkimValueOp<"position"> {
  let summary = "a quasi-affine function of positions";
  let description = [{
    `result(q, k) = map(q, k)[symbols]`. Division floors and the remainder is not negative, as in all affine maps.

    Constraints:
    - `position_c1`: the map has the dimensions (q, k), one result, and one symbol for each operand;
    - `position_c2`: factors are constants, divisors and moduli positive constants;
    - `position_c3`: the result has the axes that the expression depends on, in its coarsest blocks (`q floordiv 128` has the axis `q / 128`,
      and an expression of q - k the axis `q - k`), and the head axis that covers its symbols.

    Example:
    ```mlir
    %distance = skim.position affine_map<(q, k) -> (q - k)> () : () -> !skim.map<q - k : index>
    %block = skim.position affine_map<(q, k)[s0] -> (q floordiv 128 + s0)> (%count) : (!skim.map<: index>) -> !skim.map<q / 128 : index>
    ```
  }];
  let arguments = (ins AffineMapAttr:$map, Variadic<UniformIndex>:$symbols);
  let results = (outs IndexMap:$result);
  let builders = [OpBuilder<(ins "::mlir::AffineMap":$map, "::mlir::ValueRange":$symbols)>];
  let assemblyFormat = "$map ` ` `(` $symbols `)` attr-dict `:` functional-type($symbols, $result)";
  let hasCanonicalizer = 1;
}

def Skim_InputOp : SkimValueOp<"input"> {
  let summary = "an array that the caller gives";
  let description = [{
    The map of an array with the axes `[request, head, query-like, key-like]`, those of its type in this order; the request axis may be left out when the batch has
    one request. The key-like axis starts at key 0; the query-like axis starts at the block of the call's first row. Elements: `bool` one byte, `index` int32, `f32` float32,
    `vec` f32 with the dimension last. A cell exists when some pair in it is visible.

    Constraints:
    - `input_c1`: the name is not empty.

    Example:
    ```mlir
    %layout = skim.input "layout" : !skim.map<head, q / 128, k / 128 : bool>
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs AnyMap:$result);
  let assemblyFormat = "$name attr-dict `:` qualified(type($result))";
}

def Skim_InputListOp : SkimValueOp<"input_list"> {
  let summary = "lists of key blocks that the caller gives";
  let description = [{
    The set of the cells that lists name: for each value of the other axes an int32 list of key-block indices. The list's capacity is the array's last extent, -1 is padding, duplicates and any order
    mean the same set, and a companion array `NAME_counts` of the leading axes may give the lengths. An index out of range selects nothing and
    sets the sticky status.

    Constraints:
    - `input_list_c1`: the name is not empty;
    - `input_list_c2`: the set has a key axis.

    Example:
    ```mlir
    %listed = skim.input_list "blocks" : !skim.set<head, q / 64, k / 64>
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs AnySet:$result);
  let assemblyFormat = "$name attr-dict `:` qualified(type($result))";
}

def Skim_OperandOp : SkimValueOp<"operand"> {
  let summary = "the queries, keys or values of the call";
  let description = [{
    `Q` has one vector for each query head and row, `K` and `V` one for each KV head and key.

    Constraints:
    - `operand_c1`: the result is `!skim.map<head, q : vec>` for Q, else `!skim.map<kv_head, k : vec>`.

    Example:
    ```mlir
    %q = skim.operand Q : !skim.map<head, q : vec>
    ```
  }];
  let arguments = (ins SkimOperandKind:$kind);
  let results = (outs VecMap:$result);
  let builders = [OpBuilder<(ins "::skim::ir::OperandKind":$kind)>];
  let assemblyFormat = "$kind attr-dict `:` qualified(type($result))";
}

def Skim_ScoreOp : SkimValueOp<"score"> {
  let summary = "the scaled product of a pair, for `logit`";
  let description = [{
    `score(q, k) = softmax_scale * dot(Q[q], K[k])`, the s of a `logit` expression.

    Constraints:
    - `score_c1`: the result is `!skim.map<head, q, k : f32>`.

    Example:
    ```mlir
    %s = skim.score : !skim.map<head, q, k : f32>
    ```
  }];
  let results = (outs F32Map:$result);
  let builders = [OpBuilder<(ins)>];
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

#endif // SKIM_DIALECT_SKIM_SKIMVALUEOPS_TD
