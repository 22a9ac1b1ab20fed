// Constraints of products, masks and the online softmax.
#include "dialect/Tile/ProgramOps.h"

using namespace mlir;
using namespace skim::tile;

/// States and fragments move from an operation to the next. A lowering that updates them in place
/// leaves the program first.
static LogicalResult requireOneUse(Operation *op, Value value, StringRef what) {
  if (value.hasOneUse() || !op->getParentOfType<ProgramOp>())
    return success();
  return op->emitOpError() << "expected " << what << " without other uses";
}

LogicalResult IssueDotOp::verify() {
  SharedType queries = getQueries().getType(), keys = getKeys().getType();
  FragmentType scores = getScores().getType();
  // issue_dot_c1
  if (queries.getColumns() != keys.getColumns() || queries.getElement() != keys.getElement())
    return emitOpError() << "expected queries and keys of one dimension and element type but got "
                         << queries << " and " << keys;
  // issue_dot_c2
  if (scores.getRows() != queries.getRows() || scores.getColumns() != keys.getRows() ||
      !scores.getElement().isF32())
    return emitOpError() << "expected scores of " << queries.getRows() << "x" << keys.getRows()
                         << "xf32 but got " << scores;
  return success();
}

LogicalResult MapScoresOp::verify() {
  // map_scores_c3
  return requireOneUse(*this, getScores(), "scores");
}

LogicalResult MapScoresOp::verifyRegions() {
  // map_scores_c1, map_scores_c2
  Type index = IndexType::get(getContext()), f32 = Float32Type::get(getContext());
  return verifyScalarRegion(getBody(), {f32, index, index}, f32);
}

LogicalResult MaskOp::verify() {
  // mask_c3
  return requireOneUse(*this, getScores(), "scores");
}

LogicalResult MaskOp::verifyRegions() {
  // mask_c1, mask_c2
  Type index = IndexType::get(getContext()), i1 = IntegerType::get(getContext(), 1);
  return verifyScalarRegion(getBody(), {index, index}, i1);
}

LogicalResult OnlineSoftmaxOp::verify() {
  FragmentType scores = getScores().getType();
  // online_softmax_c1
  if (scores.getRows() != getState().getType().getRows() || !scores.getElement().isF32())
    return emitOpError() << "expected f32 scores with the rows of the state but got " << scores
                         << " and " << getState().getType();
  // online_softmax_c2
  if (failed(requireOneUse(*this, getState(), "a state")))
    return failure();
  return requireOneUse(*this, getScores(), "scores");
}

LogicalResult AccumulateOp::verify() {
  FragmentType probabilities = getProbabilities().getType();
  SharedType values = getValues().getType();
  StateType state = getState().getType();
  // accumulate_c1
  if (probabilities.getRows() != state.getRows() ||
      probabilities.getColumns() != values.getRows() || values.getColumns() != state.getColumns())
    return emitOpError() << "expected shapes R x K, K x D and R x D but got " << probabilities
                         << ", " << values << " and " << state;
  // accumulate_c2
  if (!(*this)->getParentOfType<ProgramOp>())
    return success();
  auto softmax = getState().getDefiningOp<OnlineSoftmaxOp>();
  if (!softmax || getProbabilities() != softmax.getProbabilities())
    return emitOpError() << "expected probabilities and state of one 'tile.online_softmax'";
  return requireOneUse(*this, getState(), "a state");
}
