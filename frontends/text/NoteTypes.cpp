// What names are, in words, for those who show patterns.
#include "frontends/text/Checker.h"

namespace skim::text {

namespace {

/// `set over head, q / 128, k`, `f32 for each query head`.
std::string describeType(mlir::Type type) {
  auto map = llvm::dyn_cast<ir::MapType>(type);
  ir::Axes axes = map ? map.getAxes() : llvm::cast<ir::SetType>(type).getAxes();
  std::string kind = !map ? "set" : map.isVec() ? "vectors" : toString(map.getElement()).str();
  if (axes.hasPositions())
    return kind + " over " + toString(axes);
  switch (axes.head) {
  case ir::HeadAxis::Head:
    return kind + " for each query head";
  case ir::HeadAxis::KvHead:
    return kind + " for each KV head";
  case ir::HeadAxis::None:
    break;
  }
  return map ? kind + ", one value" : kind + " of all pairs or none";
}

} // namespace

void Checker::noteType(const Entity &entity) {
  if (types == nullptr || scope->caller != nullptr || !entity.value || entity.value->isError())
    return;
  const Value &value = *entity.value;
  (*types)[entity.nameRange.Start.getPointer()] =
      value.constant
          ? ("the constant " + value.constant->text() + " (" + typeName(value.constant->type) + ")")
                .str()
          : describeType(value.ir.getType());
}

} // namespace skim::text
