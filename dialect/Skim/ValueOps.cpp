// Verifiers, builders and folds of the operations that maps come from.
#include "dialect/Skim/SkimOps.h"
#include "dialect/Skim/SubstituteConstants.h"
#include "dialect/Skim/Verify.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace skim::ir;

//===-- constant ------------------------------------------------------------------------------===//

/// The element that an attribute is a value of.
static std::optional<Element> getElementOf(TypedAttr value) {
  if (isa<IntegerAttr>(value) && value.getType().isIndex())
    return Element::Index;
  if (isa<IntegerAttr>(value) && value.getType().isInteger(1))
    return Element::Bool;
  if (isa<FloatAttr>(value) && value.getType().isF32())
    return Element::F32;
  return std::nullopt;
}

void ConstantOp::build(OpBuilder &builder, OperationState &state, TypedAttr value) {
  Element element = getElementOf(value).value_or(Element::Index);
  build(builder, state, MapType::get(builder.getContext(), Axes::none(), element), value);
}

LogicalResult ConstantOp::verify() {
  std::optional<Element> element = getElementOf(getValue());
  // constant_c1
  if (!element)
    return emitOpError("expected an index, f32 or bool value but got ") << getValue();
  return expectType(*this, getType(), MapType::get(getContext(), Axes::none(), *element));
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===-- uniform, operand, score --------------------------------------------------------------===//

void UniformOp::build(OpBuilder &builder, OperationState &state, UniformKind kind) {
  build(builder, state, getUniformType(builder.getContext(), kind), kind);
}

LogicalResult UniformOp::verify() {
  return expectType(*this, getType(), getUniformType(getContext(), getKind()));
}

void OperandOp::build(OpBuilder &builder, OperationState &state, OperandKind kind) {
  build(builder, state, getOperandType(builder.getContext(), kind), kind);
}

LogicalResult OperandOp::verify() {
  return expectType(*this, getType(), getOperandType(getContext(), getKind()));
}

void ScoreOp::build(OpBuilder &builder, OperationState &state) {
  build(builder, state, getScoreType(builder.getContext()));
}

LogicalResult ScoreOp::verify() { return expectType(*this, getType(), getScoreType(getContext())); }

//===-- position ------------------------------------------------------------------------------===//

static MapType inferPosition(AffineMap map, ValueRange symbols) {
  return MapType::get(map.getContext(), getAxes(map).withHead(getHeadAxis(symbols.getTypes())),
                      Element::Index);
}

void PositionOp::build(OpBuilder &builder, OperationState &state, AffineMap map,
                       ValueRange symbols) {
  build(builder, state, inferPosition(map, symbols), map, symbols);
}

LogicalResult PositionOp::verify() {
  AffineMap map = getMap();
  // position_c1
  if (map.getNumDims() != 2 || map.getNumResults() != 1 ||
      map.getNumSymbols() != getSymbols().size())
    return emitOpError("expected a map (q, k)[symbols] with one result and ")
           << getSymbols().size() << " symbols but got " << map.getNumDims() << " dimensions, "
           << map.getNumResults() << " results and " << map.getNumSymbols() << " symbols";
  // position_c2
  if (!isQuasiAffine(map.getResult(0)))
    return emitOpError(
        "expected a quasi-affine expression: factors must be constants, divisors positive ones");
  // position_c3
  return expectType(*this, getType(), inferPosition(map, getSymbols()));
}

namespace {
/// Constant symbols become part of the expression, repeated ones one.
struct SimplifyPosition : OpRewritePattern<PositionOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PositionOp op, PatternRewriter &rewriter) const override {
    AffineMap map = op.getMap();
    SmallVector<Value> symbols(op.getSymbols());
    SmallVector<AffineExpr> replacements = substituteConstants(map.getContext(), symbols);
    AffineMap simplified =
        simplifyAffineMap(map.replaceDimsAndSymbols({}, replacements, 2, symbols.size()));
    simplified = dropUnusedSymbols(simplified, symbols);
    if (auto constant = dyn_cast<AffineConstantExpr>(simplified.getResult(0)))
      if (op.getType() == MapType::get(op.getContext(), Axes::none(), Element::Index)) {
        rewriter.replaceOpWithNewOp<ConstantOp>(op, rewriter.getIndexAttr(constant.getValue()));
        return success();
      }
    if (simplified == map && symbols.size() == op.getSymbols().size())
      return rewriter.notifyMatchFailure(op, "nothing to simplify");
    // Fewer symbols or a simpler expression may mean fewer axes; users were typed with those of
    // now.
    if (inferPosition(simplified, symbols) != op.getType())
      return rewriter.notifyMatchFailure(op, "the simpler expression has other axes");
    rewriter.replaceOpWithNewOp<PositionOp>(op, simplified, symbols);
    return success();
  }
};
} // namespace

void PositionOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SimplifyPosition>(context);
}

//===-- input, input_list ---------------------------------------------------------------------===//

LogicalResult InputOp::verify() {
  // input_c1
  if (getName().empty())
    return emitOpError("expected a name");
  return success();
}

LogicalResult InputListOp::verify() {
  // input_list_c1
  if (getName().empty())
    return emitOpError("expected a name");
  RuleViolation why;
  return expectResult(*this, inferInputList(getType(), why), why);
}
