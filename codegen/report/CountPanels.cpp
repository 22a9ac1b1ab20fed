// Panels, reductions and selections, and the cells that kernels write for others.
#include "codegen/report/KernelCounter.h"

namespace skim::report {

void KernelCounter::countDotPanel(tile::DotPanelOp dot, const Item &item, double times) {
  tile::PanelType type = dot.getPanel().getType();
  auto elements = double(dot.getRows().getType().getElements());
  int64_t seen = Range{0, options.context}.blocks(type.getKey());
  if (!dot.getNoncausal() && item.rows.size() != 0) {
    // The columns that the last row cell sees: whole, or their first key.
    int64_t last = item.rows.end - 1;
    int64_t firstOfLast = std::max(last / type.getQuery() * type.getQuery(), item.rows.begin);
    bool all = dot.getVisible() == tile::Visible::All;
    if (!all)
      seen = std::min(seen, last / type.getKey() + 1);
    else if (firstOfLast + 1 < options.context)
      seen = std::min(seen, (firstOfLast + 1) / type.getKey());
  }
  auto columns = double(seen), rows = double(item.rows.blocks(type.getQuery()));
  double vectorBytes = dot.getSource() == tile::VectorSource::Buffer ? 4 : operandBytes();
  add({.flops = 2 * rows * columns * elements,
       .bytesRead = columns * elements * vectorBytes,
       .scratchBytes = 4 * (rows * elements + cellsOf(type, item))},
      times);
}

void KernelCounter::countContribution(tile::ContributeOp op, const Item &item, double times) {
  auto panel = op->getParentOfType<tile::ReducePanelOp>();
  bool causal = panel ? panel.getCausal() : op->getParentOfType<tile::ReduceCellsOp>().getCausal();
  llvm::SmallVector<Extent> extents = {{item.rows, static_cast<int64_t>(op.getQueryCell())}};
  if (op.getDiagonal())
    extents.push_back({distances(), 1});
  else if (panel && panel.getPanel().getType().getElements() != 0)
    extents.push_back({{0, panel.getPanel().getType().getElements()}, 1});
  else
    extents.push_back({seenKeys(item, causal), static_cast<int64_t>(op.getKeyCell())});
  if (std::optional<uint64_t> elements = op.getElements())
    extents.push_back({{0, static_cast<int64_t>(*elements)}, 1});
  add(region(op.getBody(), extents), times);
}

void KernelCounter::countReducedCells(tile::ReduceCellsOp op, const Item &item, double times) {
  double columns = op.getDiagonal()
                       ? double(distances().size())
                       : double(item.keys.blocks(static_cast<int64_t>(op.getKeyCell())));
  double cells = double(item.rows.blocks(static_cast<int64_t>(op.getQueryCell()))) * columns *
                 double(op.getElements().value_or(1));
  mlir::Type element = bufferOf(plan, static_cast<int64_t>(op.getSlot())).getElement();
  add({.bytesWritten = cells * bytesOf(element)}, times);
}

void KernelCounter::countSelection(tile::SelectOp op, const Item &item, double times) {
  Range columns = op.getDiagonal() ? distances() : Range{0, options.context};
  Extent cells{columns, op.getDiagonal() ? 1 : static_cast<int64_t>(op.getKeyCell())};
  Extent extents[] = {{item.rows, 0}, cells};
  add(region(op.getBody(), extents), times);
  // Scores go through a buffer, and each cell of the map is written.
  tile::BufferOp scores = bufferOf(plan, static_cast<int64_t>(op.getScratch()));
  double bytes = double(cells.count()) * double(scores.getCell()) * bytesOf(scores.getElement());
  add({.bytesRead = bytes, .bytesWritten = bytes + double(cells.count())}, times);
}

void KernelCounter::countList(tile::ScatterListOp scatter, const Item &item, double times) {
  // A list has each block once, at most, and one count.
  double entries = bound == Bound::Most
                       ? double(item.keys.blocks(static_cast<int64_t>(scatter.getKeyCell())))
                       : 0;
  add({.bytesRead = 4 * entries + (scatter.getCounts() ? 4 : 0), .bytesWritten = entries}, times);
}

void KernelCounter::countPositions(tile::StorePositionsOp op, const Item &item, double times) {
  Extent extents[] = {{item.rows, 0}, {item.keys, static_cast<int64_t>(op.getKeyCell())}};
  add(region(op.getBody(), extents), times);
  // The set may hold all keys or none.
  double positions = bound == Bound::Most ? double(item.keys.size()) : 0;
  add({.bytesWritten = 4 * (positions + 1)}, times);
}

} // namespace skim::report
