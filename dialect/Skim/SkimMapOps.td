// Computations on maps.
#ifndef SKIM_DIALECT_SKIM_SKIMMAPOPS_TD
#define SKIM_DIALECT_SKIM_SKIMMAPOPS_TD

include "dialect/Skim/SkimBase.td"

def Skim_LastOp : SkimValueOp<"last"> {
  let summary = "the last rows of the call";
  let description = [{
    `result(q) = input(q)` where `q >= kv_len - count`, and undefined elsewhere.

    Constraints:
    - `last_c1`: the map has the axis `q`, at token granularity;
    - `last_c2`: the result has the type of the map, with the head axis that covers the count.

    Example:
    ```mlir
    %probe = skim.last %queries, %count : (!skim.map<head, q : vec>, !skim.map<: index>) -> !skim.map<head, q : vec>
    ```
  }];
  let arguments = (ins AnyMap:$input, UniformIndex:$count);
  let results = (outs AnyMap:$result);
  let assemblyFormat = "$input `,` $count attr-dict `:` functional-type(operands, results)";
}

def Skim_DotOp : SkimValueOp<"dot"> {
  let summary = "the product of vectors";
  let description = [{
    `result = scale * sum_i lhs_i * rhs_i`, with the softmax scale of the call when no scale is given. A cell exists when every existing row of it sees
    every existing key of it (`visible all`), or when some row of it sees its first key (`visible any`).

    Constraints:
    - `dot_c1`: the axes of both sides meet (equal or absent);
    - `dot_c2`: the result has these axes, with the head axis that covers the scale.

    Example:
    ```mlir
    %s = skim.dot %queries, %keys visible all : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>) -> !skim.map<head, q, k : f32>
    %t = skim.dot %queries, %keys scale %ratio visible any : (!skim.map<head, q : vec>, !skim.map<kv_head, k : vec>, !skim.map<: f32>) -> !skim.map<head, q, k : f32>
    ```
  }];
  let arguments = (ins VecMap:$lhs, VecMap:$rhs, Optional<UniformF32>:$scale,
                       DefaultValuedAttr<SkimVisibility, "::skim::ir::Visibility::All">:$visible);
  let results = (outs F32Map:$result);
  let assemblyFormat = "$lhs `,` $rhs (`scale` $scale^)? `visible` $visible attr-dict `:` functional-type(operands, results)";
}

def Skim_CastOp : SkimValueOp<"cast"> {
  let summary = "round to a number format";
  let description = [{
    The values that the format can hold, as f32: `bf16` round to nearest even; `fp8` is e4m3fn, round to nearest even, saturating, of `input / scale`, times `scale` (1 unless
    given); `int8` and `int4` are symmetric with absmax / 127 or absmax / 7 of each vector as their step, half to even.

    Constraints:
    - `cast_c1`: only `fp8` takes a scale;
    - `cast_c2`: `int8` and `int4` take a map of vectors;
    - `cast_c3`: the result has the type of the map, with the head axis that covers the scale.

    Example:
    ```mlir
    %low = skim.cast fp8 %keys : (!skim.map<kv_head, k : vec>) -> !skim.map<kv_head, k : vec>
    ```
  }];
  let arguments = (ins SkimCastKind:$kind, RealMap:$input, Optional<UniformF32>:$scale);
  let results = (outs RealMap:$result);
  let assemblyFormat = "$kind $input (`scale` $scale^)? attr-dict `:` functional-type(operands, results)";
}

def Skim_LinearOp : SkimValueOp<"linear"> {
  let summary = "a product with a weight matrix";
  let description = [{
    `result_j = sum_i weight_ji * input_i`: the weight is an `skim.input` of vectors whose array has one more leading extent, the output dimension, after its head axis.

    Constraints:
    - `linear_c1`: the weight is a `skim.input`;
    - `linear_c2`: the result has the axes of the input, with the head axis that covers both.

    Example:
    ```mlir
    %weight = skim.input "weight" : !skim.map<: vec>
    %projected = skim.linear %keys, %weight : (!skim.map<kv_head, k : vec>, !skim.map<: vec>) -> !skim.map<kv_head, k : vec>
    ```
  }];
  let arguments = (ins VecMap:$input, WeightMap:$weight);
  let results = (outs VecMap:$result);
  let assemblyFormat = "$input `,` $weight attr-dict `:` functional-type(operands, results)";
}

class SkimBinaryOp<string mnemonic, string formula, string operands, Type operand = ArithmeticMap, list<Trait> traits = []>
    : SkimValueOp<mnemonic, traits> {
  let summary = formula;
  let description = [{
    Cell by cell, on index, f32 and vectors; a number beside a vector meets each of its elements. The result is undefined where an operand is.

    Constraints:
    - `arithmetic_c1`: both sides have the same element type, or one is `vec` and the other `f32`; the result has it (`vec` when either has);
    - `arithmetic_c2`: the axes of both sides meet (equal or absent) and are those of the result.

    Example:
    ```mlir
    %result = skim.}] # mnemonic # " " # operands # [{
    ```
  }];
  let arguments = (ins operand:$lhs, operand:$rhs);
  let results = (outs operand:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs)>];
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

defvar twoScores = "%scores, %columns : (!skim.map<head, q, k : f32>, !skim.map<head, k : f32>) -> !skim.map<head, q, k : f32>";
defvar scaledKeys = "%keys, %ratio : (!skim.map<kv_head, k : vec>, !skim.map<: f32>) -> !skim.map<kv_head, k : vec>";
defvar twoCounts = "%count, %count : (!skim.map<: index>, !skim.map<: index>) -> !skim.map<: index>";

def Skim_AddOp : SkimBinaryOp<"add", "lhs + rhs", twoScores, ArithmeticMap, [Commutative]>;
def Skim_SubOp : SkimBinaryOp<"sub", "lhs - rhs", twoScores>;
def Skim_MulOp : SkimBinaryOp<"mul", "lhs * rhs", scaledKeys, ArithmeticMap, [Commutative]>;
def Skim_DivOp : SkimBinaryOp<"div", "lhs / rhs, rounded down for index (undefined for a zero divisor)", scaledKeys>;
def Skim_ModOp : SkimBinaryOp<"mod", "lhs - rhs * floor(lhs / rhs) (undefined unless rhs is positive)", twoCounts, IndexMap>;
def Skim_MinOp : SkimBinaryOp<"min", "the smaller of lhs and rhs", twoCounts, ArithmeticMap, [Commutative]>;
def Skim_MaxOp : SkimBinaryOp<"max", "the larger of lhs and rhs", twoScores, ArithmeticMap, [Commutative]>;

class SkimUnaryOp<string mnemonic, string formula, string example, Type operand>
    : SkimOp<mnemonic, [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = formula;
  let description = [{
    Cell by cell, and element by element on vectors. The result is undefined where the operand is.

    Constraints:
    - `elementwise_c1`: the result has the type of the operand.

    Example:
    ```mlir
    %result = skim.}] # mnemonic # " " # example # [{
    ```
  }];
  let arguments = (ins operand:$input);
  let results = (outs operand:$result);
  let assemblyFormat = "$input attr-dict `:` qualified(type($result))";
  let hasFolder = 1;
}

defvar oneScore = "%scores : !skim.map<head, q, k : f32>";
defvar oneCount = "%count : !skim.map<: index>";

def Skim_ExpOp : SkimUnaryOp<"exp", "e to the power of the operand", oneScore, RealMap>;
def Skim_LogOp : SkimUnaryOp<"log", "the natural logarithm, undefined below zero", oneScore, RealMap>;
def Skim_TanhOp : SkimUnaryOp<"tanh", "the hyperbolic tangent", oneScore, RealMap>;
def Skim_ReluOp : SkimUnaryOp<"relu", "the larger of 0 and the operand", "%keys : !skim.map<kv_head, k : vec>", ArithmeticMap>;
def Skim_AbsOp : SkimUnaryOp<"abs", "the absolute value", oneCount, ArithmeticMap>;
def Skim_NegOp : SkimUnaryOp<"neg", "the operand with its sign changed", oneScore, ArithmeticMap>;

def Skim_ConvertOp : SkimValueOp<"convert"> {
  let summary = "index to f32";
  let description = [{
    The f32 nearest to the integer.

    Constraints:
    - `convert_c1`: the result has the axes of the operand.

    Example:
    ```mlir
    %length = skim.uniform kv_len : !skim.map<: index>
    %x = skim.convert %length : !skim.map<: index> -> !skim.map<: f32>
    ```
  }];
  let arguments = (ins IndexMap:$input);
  let results = (outs F32Map:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$input)>];
  let assemblyFormat = "$input attr-dict `:` qualified(type($input)) `->` qualified(type($result))";
  let hasFolder = 1;
}

def Skim_SoftmaxOp : SkimValueOp<"softmax", [AllTypesMatch<["input", "result"]>]> {
  let summary = "softmax along an axis";
  let description = [{
    `result = exp(input) / sum exp(input)`, the sum over the cells of one axis that exist, for each value of the others.

    Constraints:
    - `softmax_c1`: the map has the axis.

    Example:
    ```mlir
    %p = skim.softmax %scores over k : !skim.map<head, q, k : f32>
    ```
  }];
  let arguments = (ins F32Map:$input, SkimPositionAxis:$axis);
  let results = (outs F32Map:$result);
  let assemblyFormat = "$input `over` $axis attr-dict `:` qualified(type($result))";
}

def Skim_SmoothOp : SkimValueOp<"smooth"> {
  let summary = "a centred mean along the key axis";
  let description = [{
    `result[k] = mean of input[k - n / 2 .. k + n / 2]` over those cells that exist; undefined where `input[k]` is.

    Constraints:
    - `smooth_c1`: the map has a key axis;
    - `smooth_c2`: a constant n is odd and positive;
    - `smooth_c3`: the result has the type of the map, with the head axis that covers n.

    Example:
    ```mlir
    %n = skim.constant 5 : index -> !skim.map<: index>
    %even = skim.smooth %columns, %n : (!skim.map<head, k : f32>, !skim.map<: index>) -> !skim.map<head, k : f32>
    ```
  }];
  let arguments = (ins RealMap:$input, UniformIndex:$width);
  let results = (outs RealMap:$result);
  let assemblyFormat = "$input `,` $width attr-dict `:` functional-type(operands, results)";
}

def Skim_ReduceOp : SkimValueOp<"reduce"> {
  let summary = "combine cells into coarser ones";
  let description = [{
    Each cell of the result combines all cells of the operand that lie in it, at once: an axis that the result lacks is summed over, a
    coarser block joins the blocks in it, `q - k` gathers the pairs of each distance, `kv_head` joins the query heads of one KV head, and no
    head axis joins all heads. A cell exists when some contributing cell does; a reduction over nothing is undefined. `var` is the population variance.

    Constraints:
    - `reduce_c1`: each block of the result is a multiple of the operand's;
    - `reduce_c2`: `q - k` comes from `q - k`, or from `q` and `k` at token granularity;
    - `reduce_c3`: the result has no axis that the operand lacks, and not all the same axes;
    - `reduce_c4`: `mean` and `var` take f32 or vectors; no kind takes bool.

    Example:
    ```mlir
    %columns = skim.reduce sum %scores : !skim.map<head, q, k : f32> -> !skim.map<head, k : f32>
    %diagonals = skim.reduce sum %scores : !skim.map<head, q, k : f32> -> !skim.map<head, q - k : f32>
    %pool = skim.reduce mean %keys : !skim.map<kv_head, k : vec> -> !skim.map<kv_head, k / 128 : vec>
    %joined = skim.reduce max %scores : !skim.map<head, q, k : f32> -> !skim.map<kv_head, q / 64, k : f32>
    ```
  }];
  let arguments = (ins SkimReduceKind:$kind, ArithmeticMap:$input);
  let results = (outs ArithmeticMap:$result);
  let assemblyFormat = "$kind $input attr-dict `:` qualified(type($input)) `->` qualified(type($result))";
}

def Skim_WhereOp : SkimValueOp<"where"> {
  let summary = "leave the cells outside a set undefined";
  let description = [{
    `result = input` on the cells in the set, undefined elsewhere.

    Constraints:
    - `where_c1`: the set does not change within a cell of the map: each of its blocks is a multiple of the map's;
    - `where_c2`: the result has the axes of both.

    Example:
    ```mlir
    %near = skim.where %scores, %band : (!skim.map<head, q, k : f32>, !skim.set<q - k>) -> !skim.map<head, q, k : f32>
    ```
  }];
  let arguments = (ins AnyMap:$input, AnySet:$set);
  let results = (outs AnyMap:$result);
  let assemblyFormat = "$input `,` $set attr-dict `:` functional-type(operands, results)";
}

#endif // SKIM_DIALECT_SKIM_SKIMMAPOPS_TD
