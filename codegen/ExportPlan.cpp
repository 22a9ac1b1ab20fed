#include "codegen/ExportPlan.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"

using llvm::dyn_cast;
using mlir::AffineExpr;
using mlir::failed;
using mlir::failure;
using mlir::FailureOr;

namespace skim {
namespace {

std::optional<DType> dtypeOf(mlir::Type type) {
  if (type.isF32())
    return DType::F32;
  if (type.isF16())
    return DType::F16;
  if (type.isBF16())
    return DType::BF16;
  if (type.isUnsignedInteger(8))
    return DType::U8;
  if (type.isF64())
    return DType::F64;
  return std::nullopt;
}

HeadAxis headAxis(tile::HeadKind kind) {
  switch (kind) {
  case tile::HeadKind::None:
    return HeadAxis::None;
  case tile::HeadKind::Kv:
    return HeadAxis::KvHead;
  case tile::HeadKind::Query:
    return HeadAxis::QueryHead;
  }
  return HeadAxis::None;
}

ItemAxis itemAxis(tile::ItemAxis axis) {
  switch (axis) {
  case tile::ItemAxis::None:
    return ItemAxis::None;
  case tile::ItemAxis::Queries:
    return ItemAxis::Queries;
  case tile::ItemAxis::Keys:
    return ItemAxis::Keys;
  }
  return ItemAxis::None;
}

InputElement inputElement(tile::InputElement element) {
  switch (element) {
  case tile::InputElement::Bool:
    return InputElement::Bool;
  case tile::InputElement::Index:
    return InputElement::Index;
  case tile::InputElement::F32:
    return InputElement::F32;
  case tile::InputElement::Vector:
    return InputElement::Vector;
  case tile::InputElement::List:
    return InputElement::List;
  case tile::InputElement::ListCounts:
    return InputElement::ListCounts;
  }
  return InputElement::F32;
}

/// The symbols of a buffer's extents, in the order of `tile.buffer`.
constexpr ShapeSymbol kExtentSymbols[] = {ShapeSymbol::Requests, ShapeSymbol::MaxQueryLength,
                                          ShapeSymbol::MaxKvLength};

std::optional<ShapeExpr> shapeExpr(AffineExpr expr) {
  if (auto constant = dyn_cast<mlir::AffineConstantExpr>(expr))
    return ShapeExpr(constant.getValue());
  if (auto symbol = dyn_cast<mlir::AffineSymbolExpr>(expr))
    return ShapeExpr(kExtentSymbols[symbol.getPosition()]);
  auto binary = dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<ShapeExpr> lhs = shapeExpr(binary.getLHS()), rhs = shapeExpr(binary.getRHS());
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case mlir::AffineExprKind::Add:
    return ShapeExpr::add(*lhs, *rhs);
  case mlir::AffineExprKind::Mul:
    return ShapeExpr::mul(*lhs, *rhs);
  case mlir::AffineExprKind::CeilDiv:
    return ShapeExpr::ceilDiv(*lhs, *rhs);
  case mlir::AffineExprKind::FloorDiv:
    return ShapeExpr::floorDiv(*lhs, *rhs);
  default:
    return std::nullopt;
  }
}

ParameterDescription exportParameter(tile::PlanParameterOp op) {
  ParameterDescription parameter;
  parameter.name = op.getName().str();
  parameter.type = op.getType().isIndex() ? ParameterType::Index
                   : op.getType().isF32() ? ParameterType::F32
                                          : ParameterType::Bool;
  parameter.perHead = op.getPerHead();
  if (std::optional<llvm::ArrayRef<double>> values = op.getDefaultValues())
    parameter.defaultValues = values->vec();
  if (std::optional<llvm::ArrayRef<int64_t>> allowed = op.getAllowed())
    parameter.allowed = allowed->vec();
  auto number = [](std::optional<llvm::APFloat> bound) {
    return bound ? std::optional(bound->convertToDouble()) : std::nullopt;
  };
  parameter.least = number(op.getLeast());
  parameter.most = number(op.getMost());
  return parameter;
}

InputDescription exportInput(tile::PlanInputOp op) {
  InputDescription input;
  input.name = op.getName().str();
  input.element = inputElement(op.getElement());
  input.head = headAxis(op.getHead());
  input.queryBlock = op.getQueryCell();
  input.keyBlock = op.getKeyCell();
  input.diagonal = op.getDiagonal();
  input.vectorSize = static_cast<int64_t>(op.getElements().value_or(1));
  input.weightRows = static_cast<int64_t>(op.getWeightRows().value_or(0));
  return input;
}

FailureOr<BufferDescription> exportBuffer(tile::BufferOp op) {
  BufferDescription buffer;
  buffer.name = op.getName().str();
  std::optional<DType> element = dtypeOf(op.getElement());
  if (!element)
    return op.emitOpError("expected an element type of f32, f64, f16, bf16 or ui8 but got ")
           << op.getElement();
  buffer.element = *element;
  buffer.cellElements = op.getCell();
  buffer.zeroed = op.getZeroed();
  buffer.perWorker = op.getPerWorker();
  for (auto [i, extent] : llvm::enumerate(op.getExtents().getResults())) {
    std::optional<ShapeExpr> expr = shapeExpr(extent);
    if (!expr)
      return op.emitOpError("expected extents of sums, products and quotients but got ")
             << op.getExtentsAttr();
    buffer.extents[i] = std::move(*expr);
  }
  return buffer;
}

KernelDescription exportKernel(tile::LaunchOp launch) {
  auto program =
      mlir::SymbolTable::lookupNearestSymbolFrom<tile::ProgramOp>(launch, launch.getProgramAttr());
  KernelDescription kernel;
  kernel.symbol = launch.getProgram().str();
  kernel.head = headAxis(program.getItems().getHead());
  kernel.axis = itemAxis(program.getItems().getAxis());
  if (kernel.axis == ItemAxis::Queries)
    kernel.tileSize = program.getSchedule().getRows();
  else if (kernel.axis == ItemAxis::Keys)
    kernel.tileSize = program.getSchedule().getKeys();
  kernel.keyTile = program.getSchedule().getKeys();
  return kernel;
}

} // namespace

FailureOr<LaunchPlan> exportPlan(tile::PlanOp op) {
  tile::ProblemAttr problem = op.getProblem();
  LaunchPlan plan;
  plan.pattern = op.getPattern().str();
  plan.signature.queryHeads = problem.getQueryHeads();
  plan.signature.kvHeads = problem.getKvHeads();
  plan.signature.headDim = problem.getHeadDim();
  plan.signature.valueDim = problem.getValueDim();
  std::optional<DType> operand = dtypeOf(problem.getOperand());
  std::optional<DType> output = dtypeOf(problem.getOut());
  if (!operand || !output)
    return op.emitOpError("expected operands and output of f32, f16 or bf16 but got ")
           << problem.getOperand() << " and " << problem.getOut();
  plan.signature.operand = *operand;
  plan.signature.output = *output;
  plan.signature.noncausal = op.getNoncausal();
  plan.signature.writesKept = op.getWritesKept();
  if (std::optional<tile::HeadKind> heads = op.getCompactHeads())
    plan.signature.compactHeads = headAxis(*heads);
  if (std::optional<uint64_t> pageSize = op.getPageSize())
    plan.signature.pageSize = static_cast<int64_t>(*pageSize);
  if (std::optional<llvm::ArrayRef<int64_t>> layers = op.getAllowedLayers())
    plan.allowedLayers = layers->vec();
  for (mlir::Operation &entry : op.getBody().front()) {
    if (auto parameter = dyn_cast<tile::PlanParameterOp>(entry)) {
      plan.parameters.push_back(exportParameter(parameter));
    } else if (auto input = dyn_cast<tile::PlanInputOp>(entry)) {
      plan.inputs.push_back(exportInput(input));
    } else if (auto buffer = dyn_cast<tile::BufferOp>(entry)) {
      FailureOr<BufferDescription> exported = exportBuffer(buffer);
      if (failed(exported))
        return failure();
      plan.buffers.push_back(std::move(*exported));
    } else if (auto launch = dyn_cast<tile::LaunchOp>(entry)) {
      plan.kernels.push_back(exportKernel(launch));
    }
  }
  return plan;
}

} // namespace skim
