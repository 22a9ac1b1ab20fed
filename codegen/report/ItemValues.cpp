#include "codegen/report/ItemValues.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using mlir::Attribute;
using mlir::Operation;
using mlir::Value;

namespace skim::report {

int64_t Range::blocks(int64_t block) const {
  if (block == 0)
    return 1;
  if (size() == 0)
    return 0;
  return llvm::divideFloorSigned(end - 1, block) - llvm::divideFloorSigned(begin, block) + 1;
}

void ItemValues::bind(Value argument, const Item &item) {
  items[argument] = item;
  known.clear();
}

std::optional<int64_t> ItemValues::integer(Value value) {
  auto number = llvm::dyn_cast_or_null<mlir::IntegerAttr>(find(value));
  return number ? std::optional(number.getInt()) : std::nullopt;
}

Attribute ItemValues::find(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  auto result = llvm::dyn_cast<mlir::OpResult>(value);
  Attribute found = result ? compute(result.getOwner(), result.getResultNumber()) : Attribute();
  known[value] = found;
  return found;
}

Attribute ItemValues::compute(Operation *op, unsigned result) {
  Attribute constant;
  if (mlir::matchPattern(op, mlir::m_Constant(&constant)))
    return constant;
  if (auto length = llvm::dyn_cast<tile::UniformOp>(op))
    return uniform(length);
  if (auto launched = llvm::dyn_cast<tile::ParameterOp>(op))
    return parameter(launched);
  if (op->getNumRegions() != 0 || !mlir::isMemoryEffectFree(op))
    return {};
  // Folding may change an operation in place, so a copy is folded: twice, since a change in
  // place gives no value.
  Operation *copy = op->clone();
  Attribute found;
  for (int attempt = 0; attempt != 2; ++attempt) {
    llvm::SmallVector<Attribute> operands(
        llvm::map_range(copy->getOperands(), [&](Value operand) { return find(operand); }));
    llvm::SmallVector<mlir::OpFoldResult> results;
    if (failed(copy->fold(operands, results)))
      break;
    if (results.empty())
      continue;
    auto value = llvm::dyn_cast<Value>(results[result]);
    if (value && value.getDefiningOp() == copy)
      continue;
    found = value ? find(value) : llvm::cast<Attribute>(results[result]);
    break;
  }
  copy->destroy();
  return found;
}

Attribute ItemValues::uniform(tile::UniformOp uniform) {
  mlir::Builder builder(uniform.getContext());
  Item item = items.lookup(uniform.getItem());
  int64_t group = plan.getProblem().getQueryHeads() / plan.getProblem().getKvHeads();
  switch (uniform.getKind()) {
  case tile::UniformKind::QLen:
    return builder.getIndexAttr(options.tokens);
  case tile::UniformKind::KvLen:
    return builder.getIndexAttr(options.context);
  case tile::UniformKind::Base:
    return builder.getIndexAttr(options.context - options.tokens);
  case tile::UniformKind::Request:
    return builder.getIndexAttr(0);
  case tile::UniformKind::Head:
    return builder.getIndexAttr(item.head);
  case tile::UniformKind::KvHead:
    return builder.getIndexAttr(item.head / group);
  case tile::UniformKind::Layer:
    return {};
  case tile::UniformKind::Tile:
    return builder.getIndexAttr(item.tile);
  case tile::UniformKind::FirstRow:
    return builder.getIndexAttr(item.rows.begin);
  case tile::UniformKind::EndRow:
    return builder.getIndexAttr(item.rows.end);
  }
  return {};
}

tile::PlanParameterOp ItemValues::declarationOf(tile::ParameterOp parameter) {
  auto declarations = plan.getBody().getOps<tile::PlanParameterOp>();
  return *llvm::find_if(declarations, [&](tile::PlanParameterOp declaration) {
    return declaration.getSlot() == parameter.getSlot();
  });
}

llvm::ArrayRef<double> ItemValues::valuesOf(tile::PlanParameterOp parameter) {
  if (auto given = options.parameters.find(parameter.getName().str());
      given != options.parameters.end())
    return given->second;
  return parameter.getDefaultValues().value_or(llvm::ArrayRef<double>());
}

Attribute ItemValues::parameter(tile::ParameterOp parameter) {
  llvm::ArrayRef<double> values = valuesOf(declarationOf(parameter));
  if (values.empty())
    return {};
  double value =
      values.size() == 1 ? values.front() : values[items.lookup(parameter.getItem()).head];
  mlir::Builder builder(parameter.getContext());
  mlir::Type type = parameter.getType();
  if (type.isF32())
    return builder.getF32FloatAttr(static_cast<float>(value));
  return builder.getIntegerAttr(type, static_cast<int64_t>(value));
}

bool ItemValues::dependOnHead(tile::ProgramOp program) {
  return program
      .walk([&](Operation *op) {
        bool depends = false;
        if (auto uniform = llvm::dyn_cast<tile::UniformOp>(op))
          depends = uniform.getKind() == tile::UniformKind::Head ||
                    uniform.getKind() == tile::UniformKind::KvHead;
        else if (auto parameter = llvm::dyn_cast<tile::ParameterOp>(op))
          depends = valuesOf(declarationOf(parameter)).size() > 1;
        return depends ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace skim::report
