// Constraints of reductions: into panels, into cells of buffers, over elements.
#include "dialect/Tile/ProgramOps.h"

using namespace mlir;
using namespace skim::tile;

/// The `number` contributions in the innermost place of a reduction's body. Only reductions into
/// cells share their body, and run over row tiles.
static FailureOr<SmallVector<ContributeOp>> findContributions(Operation *op, Region &body,
                                                              size_t number) {
  bool cells = isa<ReduceCellsOp>(op);
  Block *block = &body.front();
  bool heads = false, tiles = false;
  while (true) {
    SmallVector<ContributeOp> contributions;
    Block *inner = nullptr;
    bool shares = cells && !heads && !tiles && isa<ReduceCellsOp>(block->getParentOp());
    for (Operation &inside : *block) {
      bool isHeads = isa<ForEachHeadOp>(inside), isTiles = isa<ForEachRowTileOp>(inside);
      bool isShared = isa<ReduceCellsOp>(inside);
      auto contribution = dyn_cast<ContributeOp>(inside);
      if (!isHeads && !isTiles && !isShared && !contribution)
        continue;
      if (inner || (!contribution && !contributions.empty()) || contributions.size() == number ||
          (isHeads && (heads || tiles)) || (isTiles && (tiles || !cells)) || (isShared && !shares))
        return inside.emitOpError() << "cannot stand here in a '" << op->getName() << "'";
      if (contribution)
        contributions.push_back(contribution);
      else
        inner = &inside.getRegion(0).front();
      heads |= isHeads;
      tiles |= isTiles;
    }
    if (!inner && contributions.size() == number)
      return contributions;
    if (!inner && number == 1)
      return op->emitOpError() << "expected one 'tile.contribute' in its body";
    if (!inner)
      return op->emitOpError() << "expected " << number << " 'tile.contribute' in the innermost "
                               << "place of its body but got " << contributions.size();
    block = inner;
  }
}

/// How many reductions into cells share the body of `op`, and how many of them stand around it.
static std::pair<size_t, size_t> sharedReductions(ReduceCellsOp op) {
  size_t around = 0, within = 0;
  for (auto outer = dyn_cast<ReduceCellsOp>(op->getParentOp()); outer;
       outer = dyn_cast<ReduceCellsOp>(outer->getParentOp()))
    ++around;
  op.getBody().walk([&](ReduceCellsOp) { ++within; });
  return {around + within + 1, around};
}

ContributeOp ReduceCellsOp::getContribution() {
  SmallVector<ContributeOp> contributions;
  getBody().walk([&](ContributeOp contribution) {
    if (!contribution->getParentOfType<ReducePanelOp>())
      contributions.push_back(contribution);
  });
  size_t number = sharedReductions(*this).second;
  return number < contributions.size() ? contributions[number] : ContributeOp();
}

/// Whether cells of `cell` positions make up cells of `coarse` positions.
static bool refines(int64_t cell, int64_t coarse, bool equal) {
  if (equal)
    return cell == coarse;
  return coarse == 0 || (cell > 0 && coarse % cell == 0);
}

static LogicalResult requireContributedCells(Operation *op, ContributeOp contribution,
                                             int64_t queryCell, int64_t keyCell, bool equal) {
  if (auto heads = contribution->getParentOfType<ForEachHeadOp>();
      equal && heads && op->isProperAncestor(heads))
    return op->emitOpError() << "expected a kind where heads are joined";
  auto query = static_cast<int64_t>(contribution.getQueryCell());
  auto key = static_cast<int64_t>(contribution.getKeyCell());
  if (refines(query, queryCell, equal) && refines(key, keyCell, equal))
    return success();
  return contribution.emitOpError()
         << "expected cells that " << (equal ? "equal" : "refine") << " (" << queryCell << ", "
         << keyCell << ") but got (" << query << ", " << key << ")";
}

static LogicalResult requireYield(ContributeOp contribution, Type element) {
  Type yielded = contribution.getBody().front().getTerminator()->getOperand(0).getType();
  // contribute_c1
  if (yielded == element)
    return success();
  return contribution.emitOpError()
         << "expected its region to yield " << element << " but got " << yielded;
}

LogicalResult ReducePanelOp::verify() {
  // reduce_panel_c3
  if (getAccumulators() && !getKind())
    return emitOpError() << "expected 'accumulators' with a kind alone";
  // reduce_panel_c4
  PanelType panel = getPanel().getType();
  if (!panel.getElement().isF32() && !panel.getElement().isF64())
    return emitOpError() << "expected a panel of f32 or f64 but got " << panel;
  return requirePanelRows(*this, getItem(), panel);
}

LogicalResult ReducePanelOp::verifyRegions() {
  if (!(*this)->getParentOfType<ProgramOp>())
    return success();
  // reduce_panel_c1
  FailureOr<SmallVector<ContributeOp>> contributions = findContributions(*this, getBody(), 1);
  if (failed(contributions))
    return failure();
  ContributeOp contribution = contributions->front();
  bool copies = !getKind();
  // reduce_panel_c5
  PanelType panel = getPanel().getType();
  if (contribution.getDiagonal() || contribution.getElements())
    return contribution.emitOpError() << "expected no distances and no elements in a panel";
  if (panel.getElements() > 0 && contribution.getKeyCell() != 0)
    return contribution.emitOpError() << "expected no key axis with element columns but got cells "
                                      << "of " << contribution.getKeyCell() << " keys";
  // reduce_panel_c2
  if (failed(
          requireContributedCells(*this, contribution, panel.getQuery(), panel.getKey(), copies)))
    return failure();
  return requireYield(contribution, panel.getElement());
}

LogicalResult ReduceCellsOp::verify() {
  // reduce_cells_c4
  if (getAccumulators() && !getKind())
    return emitOpError() << "expected 'accumulators' with a kind alone";
  // reduce_cells_c5
  if (failed(requireHead(*this, getItem(), getHead(), "a buffer with heads")))
    return failure();
  std::optional<ItemShape> shape = itemShape(getItem());
  auto queryCell = static_cast<int64_t>(getQueryCell()),
       keyCell = static_cast<int64_t>(getKeyCell());
  if (shape && ((queryCell > 0 && shape->rows % queryCell != 0) ||
                (keyCell > 0 && shape->keys % keyCell != 0)))
    return emitOpError() << "expected cells that divide the item's tiles of " << shape->rows
                         << " rows and " << shape->keys << " keys but got (" << queryCell << ", "
                         << keyCell << ")";
  // reduce_cells_c6
  if (shape && ((shape->rows > 0 && queryCell == 0) ||
                (shape->keys > 0 && (keyCell == 0 || getDiagonal())) || shape->head != getHead()))
    return emitOpError() << "expected a cell to belong to one item, but items run along an axis "
                            "that the buffer does not have";
  return success();
}

LogicalResult ReduceCellsOp::verifyRegions() {
  if (!(*this)->getParentOfType<ProgramOp>())
    return success();
  // reduce_cells_c1
  auto [reductions, number] = sharedReductions(*this);
  FailureOr<SmallVector<ContributeOp>> contributions =
      findContributions(*this, getBody(), reductions);
  if (failed(contributions))
    return failure();
  ContributeOp contribution = (*contributions)[number];
  // reduce_cells_c2
  bool copies = !getKind();
  auto queryCell = static_cast<int64_t>(getQueryCell()),
       keyCell = static_cast<int64_t>(getKeyCell());
  if (failed(requireContributedCells(*this, contribution, queryCell, keyCell, copies)))
    return failure();
  // reduce_cells_c3
  if (contribution.getDiagonal() && !getDiagonal() && keyCell != 0)
    return contribution.emitOpError()
           << "expected distances in a result over distances or without key axis";
  bool single = contribution.getQueryCell() == 1 && contribution.getKeyCell() == 1;
  if (getDiagonal() && (keyCell != 1 || (!contribution.getDiagonal() && (!single || copies))))
    return contribution.emitOpError()
           << "expected a reduction of single pairs, or distances, into cells of one distance";
  // reduce_cells_c7
  if (contribution.getElements() != getElements())
    return contribution.emitOpError() << "expected the elements of the result";
  Type yielded = contribution.getBody().front().getTerminator()->getOperand(0).getType();
  if (getElements() && !yielded.isF32())
    return contribution.emitOpError() << "expected elements of f32 but got " << yielded;
  return success();
}

LogicalResult ContributeOp::verify() {
  // contribute_c3
  if (!(*this)->getParentOfType<ReducePanelOp>() && !(*this)->getParentOfType<ReduceCellsOp>())
    return emitOpError() << "expected to stand in a 'tile.reduce_panel' or 'tile.reduce_cells'";
  // contribute_c4
  if (getDiagonal() && getKeyCell() != 1)
    return emitOpError() << "expected distances of one key but got cells of " << getKeyCell();
  return success();
}

LogicalResult ContributeOp::verifyRegions() {
  // contribute_c1, contribute_c2
  Type index = IndexType::get(getContext()), yielded = Float32Type::get(getContext());
  Operation *last = getBody().front().getTerminator();
  if (last->getNumOperands() == 1 && last->getOperand(0).getType().isF64())
    yielded = Float64Type::get(getContext());
  SmallVector<Type, 3> arguments(getElements() ? 3 : 2, index);
  return verifyScalarRegion(getBody(), arguments, yielded);
}

LogicalResult ReduceElementsOp::verify() {
  // reduce_elements_c1
  if (getKind() == Reduction::Sum || getKind() == Reduction::Max)
    return success();
  return emitOpError() << "expected sum or max but got " << stringifyReduction(getKind());
}

LogicalResult ReduceElementsOp::verifyRegions() {
  // reduce_elements_c1, reduce_elements_c2
  return verifyScalarRegion(getBody(), IndexType::get(getContext()),
                            Float32Type::get(getContext()));
}

LogicalResult ReducePositionsOp::verify() {
  // reduce_positions_c3
  if (getHeads().has_value() != static_cast<bool>(getItem()))
    return emitOpError() << "expected an item and which heads of it, or neither";
  if (getHeads() == HeadGroup::Group)
    return requireHead(*this, getItem(), HeadKind::Kv, "a group");
  return success();
}

LogicalResult ReducePositionsOp::verifyRegions() {
  // reduce_positions_c1, reduce_positions_c2
  Type index = IndexType::get(getContext());
  SmallVector<Type> arguments(2, index);
  if (getItem())
    arguments.insert(arguments.begin(), getItem().getType());
  return verifyScalarRegion(getBody(), arguments, Float32Type::get(getContext()));
}
