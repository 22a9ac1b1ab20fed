#include "codegen/report/KernelCounter.h"

#include "dialect/Tile/PackedHeads.h"
#include "runtime/WorkItems.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

using mlir::Operation;
using mlir::Value;

namespace skim::report {

KernelCount KernelCounter::run() {
  tile::ItemsAttr items = program.getItems();
  bool loadsQueries =
      program.walk([](tile::LoadQueriesOp) { return mlir::WalkResult::interrupt(); })
          .wasInterrupted();
  headsOfTile = loadsQueries ? tile::headsOfTile(problem, items.getHead()) : 1;
  headsDiffer = values.dependOnHead(program);
  int64_t heads = items.getHead() == tile::HeadKind::Query ? problem.getQueryHeads()
                  : items.getHead() == tile::HeadKind::Kv  ? problem.getKvHeads()
                                                           : 1;
  const int32_t queries[] = {0, static_cast<int32_t>(options.tokens)};
  const auto context = static_cast<int32_t>(options.context);
  BatchLengths lengths{queries, &context, 1};
  Range rows{lengths.base(0), options.context}, keys{0, options.context};
  BlockRange tiles{0, 1};
  int64_t size = 0;
  if (items.getAxis() == tile::ItemAxis::Queries)
    tiles = queryBlocks(lengths, 0, size = schedule.getRows());
  else if (items.getAxis() == tile::ItemAxis::Keys)
    tiles = keyBlocks(lengths, 0, size = schedule.getKeys());
  result.workItems = tiles.count * heads;

  int64_t group = problem.getQueryHeads() / problem.getKvHeads();
  int64_t apart = items.getHead() == tile::HeadKind::Kv ? group : 1;
  for (int64_t tile = tiles.first; tile != tiles.first + tiles.count; ++tile) {
    Item item{tile, rows, keys, /*hasRows=*/items.getAxis() == tile::ItemAxis::Queries, 0};
    Range part{tile * size, (tile + 1) * size};
    Range &cut = item.hasRows ? item.rows : item.keys;
    if (size != 0)
      cut = {std::max(cut.begin, part.begin), std::min(cut.end, part.end)};
    for (int64_t head = 0; head != (headsDiffer ? heads : 1); ++head) {
      item.head = head * apart;
      countItem(item, headsDiffer ? 1 : double(heads));
    }
  }
  return result;
}

void KernelCounter::countItem(const Item &item, double times) {
  auto forEach = *program.getBody().getOps<tile::ForEachWorkItemOp>().begin();
  values.bind(forEach.getItem(), item);
  count(forEach.getBody().front(), item, times);
}

void KernelCounter::count(mlir::Block &block, const Item &item, double times) {
  for (Operation &op : block)
    count(op, item, times);
}

void KernelCounter::count(Operation &op, const Item &item, double times) {
  llvm::TypeSwitch<Operation *>(&op)
      .Case<tile::ForEachHeadOp, tile::StackPanelsOp>(
          [&](auto loop) { countHeads(loop, loop.getHeads(), item, times); })
      .Case([&](tile::ForEachRowTileOp loop) { countRowTiles(loop, item, times); })
      .Case([&](tile::ForEachVisitOp visits) { countVisits(visits, item, times); })
      .Case([&](tile::LoadQueriesOp load) {
        add({.bytesRead =
                 rowsOf(item) * double(load.getQueries().getType().getColumns()) * operandBytes()},
            times);
      })
      .Case([&](tile::LoadPanelOp load) {
        double elements = cellsOf(load.getPanel().getType(), item);
        add({.bytesRead = elements * operandBytes(), .scratchBytes = elements * 4}, times);
      })
      .Case([&](tile::DotPanelOp dot) { countDotPanel(dot, item, times); })
      .Case([&](tile::ReducePanelOp reduce) {
        tile::PanelType type = reduce.getPanel().getType();
        add({.scratchBytes = cellsOf(type, item) * bytesOf(type.getElement())}, times);
        count(reduce.getBody().front(), item, times);
      })
      .Case([&](tile::SmoothPanelOp smooth) {
        tile::PanelType type = smooth.getPanel().getType();
        add({.scratchBytes = 2 * cellsOf(type, item) * bytesOf(type.getElement())}, times);
      })
      .Case([&](tile::SelectPanelOp select) {
        tile::PanelType type = select.getPanel().getType();
        Extent extents[] = {{item.rows, type.getQuery()}, {item.keys, type.getKey()}};
        add(region(select.getBody(), extents), times);
        add({.scratchBytes = cellsOf(type, item)}, times);
      })
      .Case([&](tile::ReduceCellsOp reduce) {
        countReducedCells(reduce, item, times);
        count(reduce.getBody().front(), item, times);
      })
      .Case([&](tile::ContributeOp part) { countContribution(part, item, times); })
      .Case([&](tile::SelectOp select) { countSelection(select, item, times); })
      .Case([&](tile::ScatterListOp scatter) { countList(scatter, item, times); })
      .Case([&](tile::StorePositionsOp store) { countPositions(store, item, times); })
      .Case([&](tile::PoolOp pool) {
        double elements = double(pool.getOperand() == tile::Operand::Keys ? problem.getHeadDim()
                                                                          : problem.getValueDim());
        add({.bytesRead = double(item.keys.size()) * elements * operandBytes(),
             .bytesWritten = elements * 4},
            times);
      })
      .Case([&](tile::FinishOp finish) {
        double rows = rowsOf(item);
        double output = double(problem.getValueDim()) * bytesOf(problem.getOut()) + 4;
        add({.exponentials = finish.getSink() ? 2 * rows : 0, .bytesWritten = rows * output},
            times);
      })
      .Default([&](Operation *other) { rememberUncounted(other); });
}

void KernelCounter::rememberUncounted(Operation *op) {
  if (!llvm::isa<tile::LiteralOp, tile::EmptyStateOp, tile::RaiseStatusOp, tile::MaskOp,
                 tile::AnyOp, tile::YieldOp>(op) &&
      !tile::isScalarOperation(*op))
    result.uncounted = op->getName().getStringRef().str();
}

void KernelCounter::countHeads(Operation *loop, tile::HeadGroup joined, const Item &item,
                               double times) {
  int64_t group = problem.getQueryHeads() / problem.getKvHeads();
  mlir::Block &body = loop->getRegion(0).front();
  bool ofOneHead = loop->getParentOfType<tile::ForEachHeadOp>() ||
                   loop->getParentOfType<tile::StackPanelsOp>() ||
                   program.getItems().getHead() != tile::HeadKind::None;
  bool ofGroup = joined == tile::HeadGroup::Group && ofOneHead;
  bool ofKvHeads = joined == tile::HeadGroup::KvHeads;
  int64_t heads = ofGroup ? group : ofKvHeads ? problem.getKvHeads() : problem.getQueryHeads();
  int64_t first = ofGroup ? item.head / group * group : 0;
  for (int64_t head = 0; head != (headsDiffer ? heads : 1); ++head) {
    Item part = item;
    part.head = ofKvHeads ? head * group : first + head;
    values.bind(body.getArgument(0), part);
    count(body, part, headsDiffer ? times : times * double(heads));
    // Each panel is copied to its stack.
    for (mlir::Type type : loop->getResultTypes()) {
      auto panel = llvm::cast<tile::PanelType>(type);
      add({.scratchBytes = 2 * cellsOf(panel, part) * bytesOf(panel.getElement())},
          headsDiffer ? times : times * double(heads));
    }
  }
}

void KernelCounter::countRowTiles(tile::ForEachRowTileOp loop, const Item &item, double times) {
  auto height = static_cast<int64_t>(loop.getRows());
  int64_t tile = floorDiv(item.rows.begin, height);
  if (Value from = loop.getFirst()) {
    std::optional<int64_t> first = values.integer(from);
    if (!first && bound == Bound::Least)
      return;
    tile = std::max(tile, floorDiv(first.value_or(item.rows.begin), height));
  }
  for (; tile < ceilDiv(item.rows.end, height); ++tile) {
    Item part = item;
    part.tile = tile;
    part.hasRows = true;
    part.rows = {std::max(item.rows.begin, tile * height),
                 std::min(item.rows.end, (tile + 1) * height)};
    values.bind(loop.getInner(), part);
    count(loop.getBody().front(), part, times);
  }
}

tile::BufferOp bufferOf(tile::PlanOp plan, int64_t slot) {
  auto buffers = plan.getBody().getOps<tile::BufferOp>();
  return *llvm::find_if(buffers, [&](tile::BufferOp buffer) {
    return static_cast<int64_t>(buffer.getSlot()) == slot;
  });
}

KernelCount countKernel(tile::PlanOp plan, tile::ProgramOp program, const ReportOptions &options,
                        Bound bound) {
  return KernelCounter(plan, program, options, bound).run();
}

double denseFlops(tile::PlanOp plan, tile::ProgramOp attention, const ReportOptions &options) {
  tile::ProblemAttr problem = plan.getProblem();
  int64_t rows = attention.getSchedule().getRows(), keys = attention.getSchedule().getKeys();
  double pairs = 0;
  int64_t base = options.context - options.tokens;
  for (int64_t tile = base / rows; tile * rows < options.context; ++tile) {
    Range existing{std::max(base, tile * rows), std::min(options.context, (tile + 1) * rows)};
    int64_t seen = plan.getNoncausal() ? options.context : existing.end;
    pairs +=
        double(existing.size()) * double(std::min(ceilDiv(seen, keys) * keys, options.context));
  }
  return 2 * pairs * double(problem.getHeadDim() + problem.getValueDim()) *
         double(problem.getQueryHeads());
}

/// Bytes of one worker's slice.
static double sliceBytes(tile::BufferOp buffer, const ReportOptions &options) {
  mlir::Builder builder(buffer.getContext());
  mlir::Attribute symbols[] = {builder.getIndexAttr(1), builder.getIndexAttr(options.tokens),
                               builder.getIndexAttr(options.context)};
  llvm::SmallVector<mlir::Attribute> extents;
  double bytes = double(buffer.getCell()) * bytesOf(buffer.getElement());
  if (failed(buffer.getExtents().constantFold(symbols, extents)))
    return 0;
  for (mlir::Attribute extent : extents)
    bytes *= double(llvm::cast<mlir::IntegerAttr>(extent).getInt());
  return bytes;
}

double tokenPanelBytes(tile::PlanOp plan, tile::ProgramOp program, const ReportOptions &options) {
  llvm::SmallSet<int64_t, 8> slots;
  program.walk([&](Operation *op) {
    bool ofTokens = llvm::any_of(op->getResultTypes(), [](mlir::Type type) {
      auto panel = llvm::dyn_cast<tile::PanelType>(type);
      return panel && panel.getKey() == 1;
    });
    for (llvm::StringRef name : {"scratch", "row", "accumulators"})
      if (auto slot = op->getAttrOfType<mlir::IntegerAttr>(name); slot && ofTokens)
        slots.insert(slot.getInt());
    if (auto stacks = llvm::dyn_cast<tile::StackPanelsOp>(op); stacks && ofTokens)
      slots.insert_range(stacks.getScratch().value_or(llvm::ArrayRef<int64_t>()));
  });
  double bytes = 0;
  for (int64_t slot : slots)
    bytes += sliceBytes(bufferOf(plan, slot), options);
  return bytes;
}

} // namespace skim::report
