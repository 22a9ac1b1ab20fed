#include "frontends/cpp/Describe.h"

#include "dialect/Skim/SkimOps.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace skim::ir;

std::string skim::describe(Value value) {
  auto map = dyn_cast<MapType>(value.getType());
  if (!map)
    return "a set";
  if (!map.isUniform())
    return (map.isVec() ? "a map of vectors over '"
                        : "a map of " + toString(map.getElement()).str() + " over '") +
           toString(map.getAxes()) + "'";
  if (map.isVec())
    return "a vector";
  std::string name = getSourceName(value);
  std::string element = (map.isIndex() ? "an "
                         : map.isF32() ? "an "
                                       : "a ") +
                        toString(map.getElement()).str();
  return name.empty() ? element : element + " ('" + name + "')";
}

std::string skim::describe(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

std::string skim::getSourceName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto pattern = dyn_cast_or_null<PatternOp>(argument.getOwner()->getParentOp()))
      return pattern.getParameterName(argument.getArgNumber()).str();
  if (auto input = value.getDefiningOp<InputOp>())
    return input.getName().str();
  return {};
}
