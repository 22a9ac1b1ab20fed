// The enumerations that operations carry.
#ifndef SKIM_DIALECT_SKIM_SKIMATTRS_TD
#define SKIM_DIALECT_SKIM_SKIMATTRS_TD

include "mlir/IR/EnumAttr.td"

class SkimEnum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::skim::ir";
}

def SkimOperandKind : SkimEnum<"OperandKind", "an operand of the attention call", [
  I32EnumAttrCase<"Query", 0, "Q">,
  I32EnumAttrCase<"Key", 1, "K">,
  I32EnumAttrCase<"Value", 2, "V">]>;

def SkimUniformKind : SkimEnum<"UniformKind", "a value that is one for a whole head of a request", [
  I32EnumAttrCase<"QueryLength", 0, "q_len">,
  I32EnumAttrCase<"KeyLength", 1, "kv_len">,
  I32EnumAttrCase<"Layer", 2, "layer">,
  I32EnumAttrCase<"Head", 3, "head">,
  I32EnumAttrCase<"KvHead", 4, "kv_head">]>;

def SkimPositionAxis : SkimEnum<"PositionAxis", "a position axis of a map", [
  I32EnumAttrCase<"Query", 0, "q">,
  I32EnumAttrCase<"Key", 1, "k">,
  I32EnumAttrCase<"Diagonal", 2, "diagonal">]>;

def SkimReduceKind : SkimEnum<"ReduceKind", "how cells are combined", [
  I32EnumAttrCase<"Sum", 0, "sum">,
  I32EnumAttrCase<"Mean", 1, "mean">,
  I32EnumAttrCase<"Max", 2, "max">,
  I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"Var", 4, "var">]>;

def SkimCastKind : SkimEnum<"CastKind", "the number format that values are rounded to", [
  I32EnumAttrCase<"BF16", 0, "bf16">,
  I32EnumAttrCase<"FP8", 1, "fp8">,
  I32EnumAttrCase<"Int8", 2, "int8">,
  I32EnumAttrCase<"Int4", 3, "int4">]>;

def SkimVisibility : SkimEnum<"Visibility", "when a cell computed from operands exists", [
  I32EnumAttrCase<"All", 0, "all">,
  I32EnumAttrCase<"Any", 1, "any">]>;

def SkimComparison : SkimEnum<"Comparison", "an ordered comparison, false where a side is undefined or NaN", [
  I32EnumAttrCase<"Lt", 0, "lt">,
  I32EnumAttrCase<"Le", 1, "le">,
  I32EnumAttrCase<"Gt", 2, "gt">,
  I32EnumAttrCase<"Ge", 3, "ge">,
  I32EnumAttrCase<"Eq", 4, "eq">,
  I32EnumAttrCase<"Ne", 5, "ne">]>;

#endif // SKIM_DIALECT_SKIM_SKIMATTRS_TD
