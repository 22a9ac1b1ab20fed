#include "frontends/text/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace skim::text {

namespace {

constexpr unsigned any = ~0U;

constexpr BuiltinFunction table[] = {
    {"dot", 2, 2, "scale visible", "dot(a, b)"},
    {"linear", 2, 2, "", "linear(x, W)"},
    {"last", 2, 2, "", "last(x, n)"},
    {"bf16", 1, 1, "", "bf16(x)"},
    {"fp8", 1, 1, "scale", "fp8(x)"},
    {"int8", 1, 1, "", "int8(x)"},
    {"int4", 1, 1, "", "int4(x)"},
    {"exp", 1, 1, "", "exp(x)"},
    {"log", 1, 1, "", "log(x)"},
    {"relu", 1, 1, "", "relu(x)"},
    {"abs", 1, 1, "", "abs(x)"},
    {"tanh", 1, 1, "", "tanh(x)"},
    {"softmax", 1, 1, "over", "softmax(x, over: axis)"},
    {"smooth", 2, 2, "", "smooth(x, n)"},
    {"sum", 1, 2, "over into", "sum(x, over: axes, into: axes)"},
    {"mean", 1, 2, "over into", "mean(x, over: axes, into: axes)"},
    {"var", 1, 2, "over into", "var(x, over: axes, into: axes)"},
    {"max", 1, any, "over into", "max(x, over: axes, into: axes)"},
    {"min", 1, any, "over into", "min(x, over: axes, into: axes)"},
    {"top_k", 2, 2, "", "top_k(map, n)"},
    {"top_p", 2, 2, "", "top_p(map, mass)"},
    {"cover", 2, 3, "", "cover(q / A, k / B, set)"},
};

constexpr llvm::StringLiteral values[] = {"q",     "k",      "Q",     "K",    "V",
                                          "q_len", "kv_len", "layer", "head", "kv_head"};

constexpr llvm::StringLiteral joinedHeads[] = {"group", "heads"};

} // namespace

bool BuiltinFunction::takes(llvm::StringRef label) const {
  llvm::SmallVector<llvm::StringRef, 2> all;
  labels.split(all, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return llvm::is_contained(all, label);
}

const BuiltinFunction *findFunction(llvm::StringRef name) {
  for (const BuiltinFunction &function : table)
    if (function.name == name)
      return &function;
  return nullptr;
}

llvm::ArrayRef<BuiltinFunction> functions() { return table; }

llvm::ArrayRef<llvm::StringLiteral> builtinValues() { return values; }

bool isBuiltinValue(llvm::StringRef name) { return llvm::is_contained(values, name); }

llvm::ArrayRef<llvm::StringLiteral> headAxes() { return joinedHeads; }

bool isOperandArray(llvm::StringRef name) {
  return name == "v" || name == "cu_seqlens_q" || name == "kv_lens" || name == "block_table";
}

} // namespace skim::text
