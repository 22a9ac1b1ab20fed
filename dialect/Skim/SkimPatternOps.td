// A pattern, its clauses, and the problem that it is compiled for.
#ifndef SKIM_DIALECT_SKIM_SKIMPATTERNOPS_TD
#define SKIM_DIALECT_SKIM_SKIMPATTERNOPS_TD

include "dialect/Skim/SkimBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"

def Skim_PatternOp : SkimOp<"pattern", [IsolatedFromAbove, Symbol, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>,
                                       SingleBlockImplicitTerminator<"EndOp">]> {
  let summary = "a relation between query and key positions";
  let description = [{
    Defines a pattern: `attended = keep and k <= q and 0 <= k < kv_len`, for each existing row q; without `k <= q` when the pattern is
    `noncausal`. The block's arguments are the launch-time parameters: uniform maps or maps with a head axis alone, each with the
    attribute `skim.name` and, unless a launch must give it, `skim.default`.

    Constraints:
    - `pattern_c1`: each parameter is a map of index, f32 or bool without position axes;
    - `pattern_c2`: each parameter has a `skim.name`, and names are distinct;
    - `pattern_c3`: a `skim.default` is an attribute of the parameter's element type;
    - `pattern_c4`: there is exactly one `skim.keep`, and at most one of each other clause;
    - `pattern_c5`: no input has the axis `q - k` when the pattern is `noncausal`;
    - `pattern_c6`: the value of `skim.score` reaches `skim.logit` only;
    - `pattern_c7`: inputs that share a name share a type.

    Example:
    ```mlir
    skim.pattern @window(%window: !skim.map<: index> {skim.name = "window", skim.default = 4096 : index}) {
      %band = skim.affine_set affine_set<(q, k)[s0] : (k - q + s0 - 1 >= 0)> (%window) : (!skim.map<: index>) -> !skim.set<q - k>
      skim.keep %band : !skim.set<q - k>
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    UnitAttr:$noncausal,
    OptionalAttr<DictArrayAttr>:$arg_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name)>];
  let extraClassDeclaration = [{
    unsigned getNumParameters() { return getBody().getNumArguments(); }
    ::mlir::BlockArgument getParameter(unsigned slot) { return getBody().getArgument(slot); }
    MapType getParameterType(unsigned slot) { return ::llvm::cast<MapType>(getParameter(slot).getType()); }
    ::llvm::StringRef getParameterName(unsigned slot);
    /// Null when a launch must give the value.
    ::mlir::TypedAttr getParameterDefault(unsigned slot);
    /// Appends a launch-time parameter; `defaultValue` may be null.
    ::mlir::BlockArgument addParameter(::llvm::StringRef name, MapType type, ::mlir::TypedAttr defaultValue, ::mlir::Location loc);

    /// The clause of that kind, or null.
    template <typename ClauseT> ClauseT getClause() {
      auto range = getBody().template getOps<ClauseT>();
      return range.empty() ? ClauseT() : *range.begin();
    }

    static constexpr ::llvm::StringLiteral getNameAttrName() { return "skim.name"; }
    static constexpr ::llvm::StringLiteral getDefaultAttrName() { return "skim.default"; }
  }];
}

def Skim_EndOp : SkimOp<"end", [HasParent<"PatternOp">, Pure, Terminator]> {
  let summary = "the end of a pattern";
  let description = [{
    Terminates the block of a pattern. It is implied and not printed.
  }];
  let assemblyFormat = "attr-dict";
}

def Skim_KeepOp : SkimClauseOp<"keep"> {
  let summary = "the set that is attended";
  let description = [{
    `attended = set and k <= q and 0 <= k < kv_len`: exactly the set written, each key once. Nothing is rounded up here; `skim.cover` does that.

    Example:
    ```mlir
    skim.keep %band : !skim.set<q - k>
    ```
  }];
  let arguments = (ins AnySet:$set);
  let assemblyFormat = "$set attr-dict `:` qualified(type($set))";
}

def Skim_RestMeanOp : SkimClauseOp<"rest_mean"> {
  let summary = "lets the keys that are not kept enter as block means";
  let description = [{
    For each query head and each tile of T = `query` positions, each block of B = `key` keys that every row of the tile sees whole and of which no row
    of the tile keeps a pair enters the softmax once: with the product of the row and the block's mean key plus ln B as its
    logit, and the block's mean value as its value. Without this clause the rest is dropped.

    Constraints:
    - `rest_mean_c1`: both block sizes are positive.

    Example:
    ```mlir
    skim.keep %band : !skim.set<q - k>
    skim.rest_mean query 128 key 128
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$query, ConfinedAttr<I64Attr, [IntPositive]>:$key);
  let assemblyFormat = "`query` $query `key` $key attr-dict";
}

def Skim_SkipOp : SkimClauseOp<"skip"> {
  let summary = "permission to drop tiles that hardly matter";
  let description = [{
    A tile all of whose logits lie more than `threshold` nats under the row's final maximum may be dropped in flight. It is a permission: what is lost is at
    most `kv_len * exp(-threshold)` of a row's mass.

    Example:
    ```mlir
    skim.keep %band : !skim.set<q - k>
    skim.skip %ratio : !skim.map<: f32>
    ```
  }];
  let arguments = (ins UniformF32:$threshold);
  let assemblyFormat = "$threshold attr-dict `:` qualified(type($threshold))";
}

def Skim_LogitOp : SkimClauseOp<"logit"> {
  let summary = "the modified logit of a kept pair";
  let description = [{
    The logit of a kept pair (q, k) is the value of this map there instead of `skim.score`, the scaled product. Entries of `skim.rest_mean` are not modified.

    Constraints:
    - `logit_c1`: the map has no blocks: its axes are among head, `q`, `k`, or it has the axis `q - k` alone.

    Example:
    ```mlir
    skim.keep %band : !skim.set<q - k>
    %s = skim.score : !skim.map<head, q, k : f32>
    %capped = skim.tanh %s : !skim.map<head, q, k : f32>
    skim.logit %capped : !skim.map<head, q, k : f32>
    ```
  }];
  let arguments = (ins F32Map:$value);
  let assemblyFormat = "$value attr-dict `:` qualified(type($value))";
  let hasVerifier = 1;
}

def Skim_SinkLogitOp : SkimClauseOp<"sink_logit"> {
  let summary = "the logit of an attention sink that has no value";
  let description = [{
    `exp(value)` is added to the denominator of each row's softmax, and to its log-sum-exp. A row without a kept key and a rest entry keeps output 0 and log-sum-exp -inf.

    Example:
    ```mlir
    skim.keep %band : !skim.set<q - k>
    skim.sink_logit %slope : !skim.map<head : f32>
    ```
  }];
  let arguments = (ins UniformF32:$value);
  let assemblyFormat = "$value attr-dict `:` qualified(type($value))";
}

def Skim_DenseWhenOp : SkimClauseOp<"dense_when"> {
  let summary = "where a request and head run dense";
  let description = [{
    Where the condition holds for a request and head, the pattern keeps everything there, without rest, skip and compact.

    Example:
    ```mlir
    skim.keep %band : !skim.set<q - k>
    %length = skim.uniform kv_len : !skim.map<: index>
    %short = skim.affine_set affine_set<(q, k)[s0] : (2047 - s0 >= 0)> (%length) : (!skim.map<: index>) -> !skim.set<>
    skim.dense_when %short : !skim.set<>
    ```
  }];
  let arguments = (ins UniformSet:$condition);
  let assemblyFormat = "$condition attr-dict `:` qualified(type($condition))";
}

def Skim_CompactOp : SkimClauseOp<"compact"> {
  let summary = "the tokens that the layers after this one keep";
  let description = [{
    The tokens whose key position is in the set are gathered, positions kept, for the layers that follow.

    Constraints:
    - `compact_c1`: the set depends on key positions: it has a key axis and neither a query axis nor the axis `q - k`.

    Example:
    ```mlir
    skim.keep %band : !skim.set<q - k>
    %chosen = skim.top_k %columns, %count : (!skim.map<head, k : f32>, !skim.map<: index>) -> !skim.set<head, k>
    skim.compact %chosen : !skim.set<head, k>
    ```
  }];
  let arguments = (ins AnySet:$set);
  let assemblyFormat = "$set attr-dict `:` qualified(type($set))";
  let hasVerifier = 1;
}

def Skim_AttendOp : SkimOp<"attend", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "compile a pattern for a problem";
  let description = [{
    Asks for the kernels of `pattern`: attention with `query_heads` query heads over `kv_heads` KV heads, keys of `head_dim` and values of `value_dim`
    elements. `page_size` is the number of tokens of a page of the KV cache, 0 when keys and values are contiguous; without it the kernels serve every layout. With
    `writes_kept` they can also write the relation that they kept. `vector_lengths` gives for inputs of vectors by name how many elements they have, for weights of `skim.linear` how many
    rows; `head_dim` for those that it does not name.

    Constraints:
    - `attend_c1`: `query_heads` is a multiple of `kv_heads`;
    - `attend_c2`: `operand` and `out` are f32, bf16 or f16;
    - `attend_c3`: `pattern` names a `skim.pattern`.

    Example:
    ```mlir
    skim.attend @streaming {query_heads = 8, kv_heads = 2, head_dim = 128, value_dim = 128, operand = bf16, out = f32, page_size = 64}
    ```
  }];
  let arguments = (ins
    FlatSymbolRefAttr:$pattern,
    ConfinedAttr<I64Attr, [IntPositive]>:$query_heads,
    ConfinedAttr<I64Attr, [IntPositive]>:$kv_heads,
    ConfinedAttr<I64Attr, [IntPositive]>:$head_dim,
    ConfinedAttr<I64Attr, [IntPositive]>:$value_dim,
    TypeAttrOf<AnyFloat>:$operand,
    TypeAttrOf<AnyFloat>:$out,
    OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$page_size,
    UnitAttr:$writes_kept,
    OptionalAttr<DictionaryAttr>:$vector_lengths);
  let assemblyFormat = "$pattern attr-dict";
  let hasVerifier = 1;
}

#endif // SKIM_DIALECT_SKIM_SKIMPATTERNOPS_TD
