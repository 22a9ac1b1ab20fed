// Verifiers, builders and folds of the operations on sets.
#include "dialect/Skim/SkimOps.h"
#include "dialect/Skim/SubstituteConstants.h"
#include "dialect/Skim/Verify.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace skim::ir;

std::optional<bool> skim::ir::getConstantSet(Value set) {
  auto affine = set.getDefiningOp<AffineSetOp>();
  return affine ? evaluateConstant(affine.getSet()) : std::nullopt;
}

/// Every pair, or none.
static IntegerSet getConstantIntegerSet(MLIRContext *context, bool value) {
  AffineExpr expr = getAffineConstantExpr(value ? 0 : 1, context);
  return IntegerSet::get(2, 0, {expr}, {true});
}

/// Replaces `op` by a set of the same type that holds every pair or none.
static void replaceByConstantSet(PatternRewriter &rewriter, Operation *op, bool value) {
  rewriter.replaceOpWithNewOp<AffineSetOp>(
      op, op->getResultTypes(), getConstantIntegerSet(op->getContext(), value), ValueRange());
}

//===-- affine_set ----------------------------------------------------------------------------===//

static SetType inferAffineSet(IntegerSet set, ValueRange symbols) {
  return SetType::get(set.getContext(), getAxes(set).withHead(getHeadAxis(symbols.getTypes())));
}

void AffineSetOp::build(OpBuilder &builder, OperationState &state, IntegerSet set,
                        ValueRange symbols) {
  build(builder, state, inferAffineSet(set, symbols), set, symbols);
}

LogicalResult AffineSetOp::verify() {
  IntegerSet set = getSet();
  // affine_set_c1
  if (set.getNumDims() != 2 || set.getNumSymbols() != getSymbols().size())
    return emitOpError("expected a set (q, k)[symbols] with ")
           << getSymbols().size() << " symbols but got " << set.getNumDims() << " dimensions and "
           << set.getNumSymbols() << " symbols";
  // affine_set_c2
  for (AffineExpr expr : set.getConstraints())
    if (!isQuasiAffine(expr))
      return emitOpError(
          "expected quasi-affine constraints: factors must be constants, divisors positive ones");
  // affine_set_c3
  return expectSetOrFiner(*this, inferAffineSet(set, getSymbols()));
}

static IntegerSet simplifyConstraints(IntegerSet set) {
  SmallVector<AffineExpr> constraints;
  for (AffineExpr expr : set.getConstraints())
    constraints.push_back(simplifyAffineExpr(expr, set.getNumDims(), set.getNumSymbols()));
  return IntegerSet::get(set.getNumDims(), set.getNumSymbols(), constraints, set.getEqFlags());
}

namespace {
/// Constant symbols become part of the constraints, repeated ones one; a constant set loses its
/// symbols.
struct SimplifyAffineSet : OpRewritePattern<AffineSetOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AffineSetOp op, PatternRewriter &rewriter) const override {
    IntegerSet set = op.getSet();
    SmallVector<Value> symbols(op.getSymbols());
    SmallVector<AffineExpr> replacements = substituteConstants(set.getContext(), symbols);
    IntegerSet simplified = set.replaceDimsAndSymbols({}, replacements, 2, symbols.size());
    simplified = dropUnusedSymbols(simplifyConstraints(simplified), symbols);
    if (std::optional<bool> value = evaluateConstant(simplified)) {
      simplified = getConstantIntegerSet(op.getContext(), *value);
      symbols.clear();
    }
    if (simplified == set && symbols.size() == op.getSymbols().size())
      return rewriter.notifyMatchFailure(op, "nothing to simplify");
    rewriter.replaceOpWithNewOp<AffineSetOp>(op, op->getResultTypes(), simplified, symbols);
    return success();
  }
};
} // namespace

void AffineSetOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SimplifyAffineSet>(context);
}

//===-- compare, as_set -----------------------------------------------------------------------===//

LogicalResult CompareOp::verify() {
  RuleViolation why;
  return expectResult(*this, inferCompare(getLhs().getType(), getRhs().getType(), why), why);
}

template <typename T> static bool evaluate(Comparison predicate, const T &lhs, const T &rhs) {
  switch (predicate) {
  case Comparison::Lt:
    return lhs < rhs;
  case Comparison::Le:
    return lhs <= rhs;
  case Comparison::Gt:
    return lhs > rhs;
  case Comparison::Ge:
    return lhs >= rhs;
  case Comparison::Eq:
    return lhs == rhs;
  case Comparison::Ne:
    return lhs < rhs || lhs > rhs; // False for NaN.
  }
  return false;
}

namespace {
/// A comparison of constants holds everywhere or nowhere.
struct EvaluateCompare : OpRewritePattern<CompareOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(CompareOp op, PatternRewriter &rewriter) const override {
    IntegerAttr lhsIndex, rhsIndex;
    FloatAttr lhsFloat, rhsFloat;
    bool value = false;
    if (matchPattern(op.getLhs(), m_Constant(&lhsIndex)) &&
        matchPattern(op.getRhs(), m_Constant(&rhsIndex)))
      value = evaluate(op.getPredicate(), lhsIndex.getInt(), rhsIndex.getInt());
    else if (matchPattern(op.getLhs(), m_Constant(&lhsFloat)) &&
             matchPattern(op.getRhs(), m_Constant(&rhsFloat)))
      value = evaluate(op.getPredicate(), lhsFloat.getValueAsDouble(), rhsFloat.getValueAsDouble());
    else
      return rewriter.notifyMatchFailure(op, "a side is not constant");
    replaceByConstantSet(rewriter, op, value);
    return success();
  }
};

struct EvaluateAsSet : OpRewritePattern<AsSetOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AsSetOp op, PatternRewriter &rewriter) const override {
    IntegerAttr value;
    if (!matchPattern(op.getInput(), m_Constant(&value)))
      return rewriter.notifyMatchFailure(op, "the map is not constant");
    replaceByConstantSet(rewriter, op, !value.getValue().isZero());
    return success();
  }
};
} // namespace

void CompareOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<EvaluateCompare>(context);
}

void AsSetOp::build(OpBuilder &builder, OperationState &state, Value input) {
  build(builder, state, SetType::get(builder.getContext(), getAxes(input.getType())), input);
}

LogicalResult AsSetOp::verify() {
  // as_set_c1
  return expectType(*this, getType(), SetType::get(getContext(), getInput().getType().getAxes()));
}

void AsSetOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<EvaluateAsSet>(context);
}

//===-- top_k, top_p, cover -------------------------------------------------------------------===//

LogicalResult TopKOp::verify() {
  RuleViolation why;
  return expectResult(*this, inferSelection(getInput().getType(), getCount().getType(), why), why);
}

LogicalResult TopPOp::verify() {
  RuleViolation why;
  return expectResult(*this, inferSelection(getInput().getType(), getMass().getType(), why), why);
}

LogicalResult CoverOp::verify() {
  RuleViolation why;
  return expectResult(*this, inferCover(getSet().getType(), getQuery(), getKey(), why), why);
}

//===-- and, or, not --------------------------------------------------------------------------===//

static SetType inferSets(ValueRange sets) {
  RuleViolation why;
  return *inferCombination(SmallVector<Type>(sets.getTypes()), why);
}

void AndOp::build(OpBuilder &builder, OperationState &state, ValueRange sets) {
  build(builder, state, inferSets(sets), sets);
}

void OrOp::build(OpBuilder &builder, OperationState &state, ValueRange sets) {
  build(builder, state, inferSets(sets), sets);
}

static LogicalResult verifyCombination(Operation *op) {
  RuleViolation why;
  FailureOr<SetType> inferred = inferCombination(SmallVector<Type>(op->getOperandTypes()), why);
  if (failed(inferred))
    return report(op, why);
  // and_c2 or_c2
  return expectSetOrFiner(op, *inferred);
}

LogicalResult AndOp::verify() { return verifyCombination(*this); }
LogicalResult OrOp::verify() { return verifyCombination(*this); }

/// `absorbing` decides alone (false for `and`, true for `or`); its opposite adds nothing.
static OpFoldResult foldCombination(Operation *op, bool absorbing) {
  Type type = op->getResult(0).getType();
  SmallVector<Value> kept;
  for (Value set : op->getOperands()) {
    std::optional<bool> value = getConstantSet(set);
    if (value == absorbing && set.getType() == type)
      return set;
    if (value == !absorbing || llvm::is_contained(kept, set))
      continue;
    kept.push_back(set);
  }
  if (kept.empty()) // All are neutral.
    kept.push_back(op->getOperand(0));
  if (kept.size() == 1 && kept.front().getType() == type)
    return kept.front();
  if (kept.size() == op->getNumOperands())
    return {};
  op->setOperands(kept);
  return op->getResult(0);
}

OpFoldResult AndOp::fold(FoldAdaptor) { return foldCombination(*this, false); }
OpFoldResult OrOp::fold(FoldAdaptor) { return foldCombination(*this, true); }

namespace {
/// `and (and a, b), c` is `and a, b, c`; the same for `or`.
template <typename OpT> struct FlattenCombination : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    SmallVector<Value> sets;
    for (Value set : op.getSets()) {
      if (auto inner = set.template getDefiningOp<OpT>())
        llvm::append_range(sets, inner.getSets());
      else
        sets.push_back(set);
    }
    if (sets.size() == op.getSets().size())
      return rewriter.notifyMatchFailure(op, "no operand of the same kind");
    rewriter.modifyOpInPlace(op, [&] { op.getSetsMutable().assign(sets); });
    return success();
  }
};

/// An absorbing operand of another granularity than the result's.
template <typename OpT, bool absorbing> struct AbsorbCombination : OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    if (llvm::none_of(op.getSets(), [](Value set) { return getConstantSet(set) == absorbing; }))
      return rewriter.notifyMatchFailure(op, "no operand decides alone");
    replaceByConstantSet(rewriter, op, absorbing);
    return success();
  }
};

struct EvaluateNot : OpRewritePattern<NotOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(NotOp op, PatternRewriter &rewriter) const override {
    std::optional<bool> value = getConstantSet(op.getSet());
    if (!value)
      return rewriter.notifyMatchFailure(op, "the set is not constant");
    replaceByConstantSet(rewriter, op, !*value);
    return success();
  }
};
} // namespace

void AndOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FlattenCombination<AndOp>, AbsorbCombination<AndOp, false>>(context);
}

void OrOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FlattenCombination<OrOp>, AbsorbCombination<OrOp, true>>(context);
}

OpFoldResult NotOp::fold(FoldAdaptor) {
  if (auto inner = getSet().getDefiningOp<NotOp>())
    return inner.getSet();
  return {};
}

void NotOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<EvaluateNot>(context);
}

//===-- match ---------------------------------------------------------------------------------===//

LogicalResult MatchOp::verify() {
  RuleViolation why;
  FailureOr<SetType> inferred =
      inferMatch(getSelector().getType(), getLabels(), SmallVector<Type>(getArms().getTypes()),
                 getOtherwise() ? getOtherwise().getType() : Type(), why);
  return expectResult(*this, inferred, why);
}

OpFoldResult MatchOp::fold(FoldAdaptor adaptor) {
  auto selector = dyn_cast_or_null<IntegerAttr>(adaptor.getSelector());
  if (!selector)
    return {};
  Value chosen = getOtherwise();
  for (auto [label, arm] : llvm::zip(getLabels(), getArms()))
    if (label == selector.getInt())
      chosen = arm;
  return chosen && chosen.getType() == getType() ? OpFoldResult(chosen) : OpFoldResult();
}
