#include "passes/StageBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace arith = mlir::arith;
using mlir::AffineExpr;
using mlir::Location;
using mlir::Value;

namespace skim {
namespace {

/// Extents of buffers as functions of the shape of the batch.
struct Shape {
  explicit Shape(mlir::MLIRContext *context) : builder(context) {}

  AffineExpr constant(int64_t value) { return builder.getAffineConstantExpr(value); }
  AffineExpr requests() { return builder.getAffineSymbolExpr(0); }
  AffineExpr rows() { return builder.getAffineSymbolExpr(1); }
  AffineExpr keys() { return builder.getAffineSymbolExpr(2); }
  /// Distances of a noncausal pattern are negative too, down to that of the first row and last key.
  AffineExpr keyLike(const ir::Axes &axes) {
    if (axes.diagonal)
      return keys() + rows();
    return axes.key ? keys().ceilDiv(axes.key) : constant(1);
  }
  mlir::AffineMap extents(llvm::ArrayRef<AffineExpr> list) {
    return mlir::AffineMap::get(0, 3, list, builder.getContext());
  }

  mlir::Builder builder;
};

} // namespace

int64_t addCells(tile::PlanOp plan, Location loc, llvm::StringRef name, const ir::Axes &axes,
                 mlir::Type element, int64_t elements, bool zeroed) {
  Shape shape(plan.getContext());
  int64_t heads = axes.head == ir::HeadAxis::Head     ? plan.getProblem().getQueryHeads()
                  : axes.head == ir::HeadAxis::KvHead ? plan.getProblem().getKvHeads()
                                                      : 1;
  // Rows that begin and end inside blocks touch one block more than their number suggests.
  AffineExpr queryCells =
      axes.query ? (shape.rows() + axes.query - 2).floorDiv(axes.query) + 1 : shape.constant(1);
  AffineExpr keyCells = shape.keyLike(axes);
  if (axes.diagonal && !plan.getNoncausal())
    keyCells = shape.keys();
  mlir::AffineMap extents =
      shape.extents({shape.requests(), shape.constant(heads), queryCells, keyCells});
  return plan.addBuffer(loc, name, element, elements, extents, zeroed).getSlot();
}

void createContribution(mlir::OpBuilder &builder, Location loc, Value item, const ir::Axes &axes,
                        int64_t elements, mlir::Region &region) {
  auto contribution = tile::ContributeOp::create(
      builder, loc, item, axes.query, axes.diagonal ? 1 : axes.key, axes.diagonal,
      elements != 0 ? builder.getI64IntegerAttr(elements) : mlir::IntegerAttr());
  contribution.getBody().takeBody(region);
}

tile::HeadGroup joinedHeads(ir::HeadAxis from, ir::HeadAxis to) {
  return from == ir::HeadAxis::KvHead ? tile::HeadGroup::KvHeads
         : to == ir::HeadAxis::KvHead ? tile::HeadGroup::Group
                                      : tile::HeadGroup::All;
}

mlir::Block &createHeadLoop(mlir::OpBuilder &builder, Location loc, Value item, ir::HeadAxis from,
                            ir::HeadAxis to) {
  auto loop = tile::ForEachHeadOp::create(builder, loc, item, joinedHeads(from, to));
  mlir::Block &block = loop.getBody().emplaceBlock();
  block.addArgument(tile::ItemType::get(builder.getContext()), loc);
  return block;
}

mlir::Block &createRowLoop(mlir::OpBuilder &builder, Location loc, Value item, int64_t rows,
                           Value first) {
  auto loop = tile::ForEachRowTileOp::create(builder, loc, item, rows, first);
  mlir::Block &block = loop.getBody().emplaceBlock();
  block.addArgument(tile::ItemType::get(builder.getContext()), loc);
  return block;
}

Value selectionAmount(mlir::OpBuilder &builder, Location loc, const Scalar &amount) {
  mlir::Type f64 = builder.getF64Type();
  Value value = amount.value;
  if (llvm::isa<mlir::FloatType>(value.getType()))
    value = arith::ExtFOp::create(builder, loc, f64, value);
  else
    value = arith::SIToFPOp::create(
        builder, loc, f64, arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value));
  if (!amount.defined)
    return value;
  Value nan = arith::ConstantOp::create(
      builder, loc, mlir::FloatAttr::get(f64, llvm::APFloat::getNaN(llvm::APFloat::IEEEdouble())));
  return arith::SelectOp::create(builder, loc, amount.defined, value, nan);
}

} // namespace skim
