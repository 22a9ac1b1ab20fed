#include "passes/StageBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace arith = mlir::arith;
using mlir::AffineExpr;
using mlir::Location;
using mlir::Value;

namespace skim {
namespace {

/// `name`, numbered when a buffer of the plan has it.
std::string uniqueName(tile::PlanOp plan, llvm::StringRef name) {
  std::string candidate = name.str();
  auto taken = [&](tile::BufferOp buffer) { return buffer.getName() == candidate; };
  for (unsigned number = 1; llvm::any_of(plan.getBody().getOps<tile::BufferOp>(), taken); ++number)
    candidate = (name + "_" + llvm::Twine(number)).str();
  return candidate;
}

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

/// Sums, sums of squares and counts.
constexpr int64_t kPlanes = 3;

/// Scratch is shared by programs, which run one after the other.
int64_t addScratch(tile::PlanOp plan, Location loc, llvm::StringRef name, mlir::Type element,
                   int64_t elements, AffineExpr columns, AffineExpr rows) {
  constexpr llvm::StringLiteral kTakenBy = "tile.taken_by";
  Shape shape(plan.getContext());
  mlir::AffineMap extents = shape.extents({shape.constant(1), shape.constant(1), columns, rows});
  llvm::SmallVector<tile::LaunchOp> launches(plan.getBody().getOps<tile::LaunchOp>());
  mlir::Attribute program = launches.back().getProgramAttr();
  for (auto buffer : plan.getBody().getOps<tile::BufferOp>())
    if (buffer.getPerWorker() && buffer.getElement() == element &&
        static_cast<int64_t>(buffer.getCell()) == elements && buffer.getExtents() == extents &&
        buffer->getAttr(kTakenBy) != program) {
      buffer->setAttr(kTakenBy, program);
      return static_cast<int64_t>(buffer.getSlot());
    }
  tile::BufferOp buffer = plan.addBuffer(loc, uniqueName(plan, name), element, elements, extents,
                                         /*zeroed=*/false, /*perWorker=*/true);
  buffer->setAttr(kTakenBy, program);
  return static_cast<int64_t>(buffer.getSlot());
}

/// Rows of a panel stand side by side, in whole vectors of every target.
AffineExpr rowsOf(Shape &shape, tile::PanelType type) {
  constexpr int64_t kRowAlignment = 64;
  return shape.constant(llvm::alignTo(type.getRows(), kRowAlignment));
}

AffineExpr columnsOf(Shape &shape, tile::PanelType type) {
  if (type.getElements() != 0)
    return shape.constant(type.getElements());
  return type.getKey() != 0 ? shape.keys().ceilDiv(type.getKey()) : shape.constant(1);
}

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
  return plan.addBuffer(loc, uniqueName(plan, name), element, elements, extents, zeroed).getSlot();
}

int64_t addPanelScratch(tile::PlanOp plan, Location loc, tile::PanelType type) {
  Shape shape(plan.getContext());
  mlir::Type element = type.getElement();
  if (element.isInteger(1))
    element = mlir::IntegerType::get(plan.getContext(), 8, mlir::IntegerType::Unsigned);
  return addScratch(plan, loc, "panel", element, 1, columnsOf(shape, type) + 1,
                    rowsOf(shape, type));
}

int64_t addPanelSums(tile::PlanOp plan, Location loc, tile::PanelType type) {
  Shape shape(plan.getContext());
  return addScratch(plan, loc, "panel_sums", mlir::Float64Type::get(plan.getContext()), 1,
                    (columnsOf(shape, type) + 1) * kPlanes, rowsOf(shape, type));
}

int64_t addRowScratch(tile::PlanOp plan, Location loc, tile::PanelType type, tile::Selection kind) {
  // Scores and what is selected; the order of all cells where prefixes are summed.
  int64_t elements = kind == tile::Selection::TopK ? 2 : 3;
  Shape shape(plan.getContext());
  return addScratch(plan, loc, "row", mlir::Float32Type::get(plan.getContext()), elements,
                    shape.constant(1), columnsOf(shape, type));
}

int64_t addSums(tile::PlanOp plan, Location loc, const ir::Axes &axes, int64_t rows,
                int64_t elements) {
  Shape shape(plan.getContext());
  return addScratch(plan, loc, "sums", mlir::Float64Type::get(plan.getContext()),
                    kPlanes * elements, shape.constant(rows), shape.keyLike(axes));
}

void createContribution(mlir::OpBuilder &builder, Location loc, Value item, const ir::Axes &axes,
                        int64_t elements, mlir::Region &region) {
  auto contribution = tile::ContributeOp::create(
      builder, loc, item, axes.query, axes.diagonal ? 1 : axes.key, axes.diagonal,
      elements != 0 ? builder.getI64IntegerAttr(elements) : mlir::IntegerAttr());
  contribution.getBody().takeBody(region);
}

mlir::Block &createHeadLoop(mlir::OpBuilder &builder, Location loc, Value item, ir::HeadAxis from,
                            ir::HeadAxis to) {
  tile::HeadGroup heads = from == ir::HeadAxis::KvHead ? tile::HeadGroup::KvHeads
                          : to == ir::HeadAxis::KvHead ? tile::HeadGroup::Group
                                                       : tile::HeadGroup::All;
  auto loop = tile::ForEachHeadOp::create(builder, loc, item, heads);
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
