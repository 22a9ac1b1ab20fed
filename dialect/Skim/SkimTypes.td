// Maps and sets, whose types carry their axes.
#ifndef SKIM_DIALECT_SKIM_SKIMTYPES_TD
#define SKIM_DIALECT_SKIM_SKIMTYPES_TD

include "dialect/Skim/SkimDialect.td"
include "mlir/IR/AttrTypeBase.td"

class SkimType<string name, string typeMnemonic> : TypeDef<SkimDialect, name> {
  let mnemonic = typeMnemonic;
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def SkimMapType : SkimType<"Map", "map"> {
  let summary = "a function of query positions, key positions and heads";
  let description = [{
    ```
    map  ::= `!skim.map` `<` axes `:` element `>`
    axes ::= (axis (`,` axis)*)?
    axis ::= `head` | `kv_head` | `q` (`/` block)? | `k` (`/` block)? | `q - k`
    element ::= `vec` | `f32` | `index` | `bool`
    ```

    Axes stand in the order head, query, key or distance. `q / 128` has one cell for each block of 128 query positions;
    `q` is `q / 1`. `q - k` has one cell for each distance (diagonal) and stands alone or beside `q / B` with B > 1: at token
    granularity any two of `q`, `k` and `q - k` name the pair, which is written `q, k`. An absent axis means that the
    value holds for all positions, or heads, that it covers. `vec` is a vector of a head dimension.

    Examples: `!skim.map<head, q : vec>` is the query operand, `!skim.map<head, q / 128, k / 128 : f32>` a score for each pair of blocks,
    `!skim.map<q - k : index>` the distance, `!skim.map<: f32>` a uniform number, `!skim.map<head : index>` one number a head.
  }];
  let parameters = (ins "::skim::ir::Axes":$axes, "::skim::ir::Element":$element);
  let extraClassDeclaration = [{
    /// No position axes: one value a head, or one for all.
    bool isUniform() const { return !getAxes().hasPositions(); }
    bool isIndex() const { return getElement() == Element::Index; }
    bool isF32() const { return getElement() == Element::F32; }
    bool isVec() const { return getElement() == Element::Vec; }
    bool isBool() const { return getElement() == Element::Bool; }
    MapType withElement(Element element) const { return get(getContext(), getAxes(), element); }
    MapType withAxes(Axes axes) const { return get(getContext(), axes, getElement()); }
  }];
}

def SkimSetType : SkimType<"Set", "set"> {
  let summary = "a set of pairs of a query position and a key position";
  let description = [{
    ```
    set ::= `!skim.set` `<` axes `>`
    ```

    The axes, written as those of a map, are the granularity of the set: membership does not change within a cell. They are the greatest
    common divisor of what the set is made of; an absent axis means that membership does not depend on it.

    Examples: `!skim.set<q / 64, k / 64>` holds whole blocks, `!skim.set<q - k>` is a band, `!skim.set<>` everything or nothing.
  }];
  let parameters = (ins "::skim::ir::Axes":$axes);
  let extraClassDeclaration = [{
    bool isUniform() const { return !getAxes().hasPositions(); }
  }];
}

class MapOf<string condition, string summary>
    : Type<And<[CPred<"::llvm::isa<::skim::ir::MapType>($_self)">,
                SubstLeaves<"$_map", "::llvm::cast<::skim::ir::MapType>($_self)", CPred<condition>>]>,
           summary, "::skim::ir::MapType">;

def AnyMap : MapOf<"true", "map">;
def VecMap : MapOf<"$_map.isVec()", "map of vectors">;
def F32Map : MapOf<"$_map.isF32()", "map of f32">;
def IndexMap : MapOf<"$_map.isIndex()", "map of index">;
def BoolMap : MapOf<"$_map.isBool()", "map of bool">;
def NumberMap : MapOf<"$_map.isF32() || $_map.isIndex()", "map of f32 or index">;
def RealMap : MapOf<"$_map.isF32() || $_map.isVec()", "map of f32 or vectors">;
def ArithmeticMap : MapOf<"!$_map.isBool()", "map of f32, index or vectors">;
def UniformIndex : MapOf<"$_map.isIndex() && $_map.isUniform()", "uniform index">;
def UniformF32 : MapOf<"$_map.isF32() && $_map.isUniform()", "uniform f32">;
def UniformNumber : MapOf<"($_map.isF32() || $_map.isIndex()) && $_map.isUniform()", "uniform f32 or index">;
def WeightMap : MapOf<"$_map.isVec() && $_map.isUniform()", "map of vectors without position axes">;

def AnySet : Type<CPred<"::llvm::isa<::skim::ir::SetType>($_self)">, "set", "::skim::ir::SetType">;
def UniformSet : Type<And<[CPred<"::llvm::isa<::skim::ir::SetType>($_self)">,
                           CPred<"::llvm::cast<::skim::ir::SetType>($_self).isUniform()">]>,
                      "set without position axes", "::skim::ir::SetType">;

#endif // SKIM_DIALECT_SKIM_SKIMTYPES_TD
