#include "dialect/Skim/SubstituteConstants.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

SmallVector<AffineExpr> skim::ir::substituteConstants(MLIRContext *context,
                                                      SmallVectorImpl<Value> &symbols) {
  SmallVector<AffineExpr> replacements;
  SmallVector<Value> left;
  for (Value symbol : symbols) {
    IntegerAttr constant;
    if (matchPattern(symbol, m_Constant(&constant))) {
      replacements.push_back(getAffineConstantExpr(constant.getInt(), context));
      continue;
    }
    const auto *known = llvm::find(left, symbol);
    replacements.push_back(getAffineSymbolExpr(known - left.begin(), context));
    if (known == left.end())
      left.push_back(symbol);
  }
  symbols.assign(left);
  return replacements;
}

/// Renumbers the symbols for which `isUsed`; returns the replacement of each.
static SmallVector<AffineExpr> renumber(MLIRContext *context, function_ref<bool(unsigned)> isUsed,
                                        SmallVectorImpl<Value> &symbols) {
  SmallVector<AffineExpr> replacements;
  SmallVector<Value> left;
  for (auto [position, symbol] : llvm::enumerate(symbols)) {
    replacements.push_back(getAffineSymbolExpr(left.size(), context));
    if (isUsed(position))
      left.push_back(symbol);
  }
  symbols.assign(left);
  return replacements;
}

AffineMap skim::ir::dropUnusedSymbols(AffineMap map, SmallVectorImpl<Value> &symbols) {
  auto replacements = renumber(
      map.getContext(), [&](unsigned position) { return map.isFunctionOfSymbol(position); },
      symbols);
  return map.replaceDimsAndSymbols({}, replacements, map.getNumDims(), symbols.size());
}

IntegerSet skim::ir::dropUnusedSymbols(IntegerSet set, SmallVectorImpl<Value> &symbols) {
  auto isUsed = [&](unsigned position) {
    return llvm::any_of(set.getConstraints(),
                        [&](AffineExpr expr) { return expr.isFunctionOfSymbol(position); });
  };
  auto replacements = renumber(set.getContext(), isUsed, symbols);
  return set.replaceDimsAndSymbols({}, replacements, set.getNumDims(), symbols.size());
}

std::optional<bool> skim::ir::evaluateConstant(IntegerSet set) {
  bool depends = false;
  for (auto [expr, isEquality] : llvm::zip(set.getConstraints(), set.getEqFlags())) {
    AffineExpr simplified = simplifyAffineExpr(expr, set.getNumDims(), set.getNumSymbols());
    auto constant = dyn_cast<AffineConstantExpr>(simplified);
    if (!constant)
      depends = true;
    else if (isEquality ? constant.getValue() != 0 : constant.getValue() < 0)
      return false;
  }
  return depends ? std::nullopt : std::optional<bool>(true);
}
