// Visits of key tiles, what is computed on them, and the literals that choose them.
#include "codegen/report/KernelCounter.h"

#include "runtime/CheckedMath.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using mlir::Operation;
using mlir::Value;

namespace skim::report {

/// `guard`, or where there is none the set that always holds.
static mlir::IntegerSet orAlways(mlir::IntegerSet guard, mlir::AffineMap lower, unsigned dims) {
  if (guard)
    return guard;
  mlir::AffineExpr zero = mlir::getAffineConstantExpr(0, lower.getContext());
  return mlir::IntegerSet::get(dims, lower.getNumSymbols(), zero, /*eqFlags=*/true);
}

/// The intervals that count under `bound`, asked for their positions alone.
static TileVisits tilesOf(mlir::ArrayAttr touched, Bound bound,
                          llvm::function_ref<bool(tile::IntervalAttr)> counts) {
  TileVisits visits;
  for (auto interval : touched.getAsRange<tile::IntervalAttr>()) {
    if ((bound == Bound::Least && !interval.getLiterals().empty()) || !counts(interval))
      continue;
    visits.touched.push_back({interval.getLower(),
                              interval.getUpper(),
                              orAlways(interval.getGuard(), interval.getLower(), 1),
                              orAlways(interval.getTileGuard(), interval.getLower(), 2),
                              {}});
  }
  return visits;
}

void KernelCounter::countVisits(tile::ForEachVisitOp visits, const Item &item, double times) {
  tile::SourceAttr source = visits.getSource();
  int64_t height = schedule.getKeys();
  int64_t length =
      source.getPooled() ? ceilDiv(options.context, source.getBlock()) : options.context;
  llvm::SmallVector<int64_t> symbols;
  bool known = llvm::all_of(visits.getSymbols(), [&](Value symbol) {
    std::optional<int64_t> value = values.integer(symbol);
    symbols.push_back(value.value_or(0));
    return value.has_value();
  });
  std::vector<Stretch> stretches;
  if (known) {
    TileVisits tiles = tilesOf(visits.getTouched(), bound, [](auto) { return true; });
    stretches = evaluateVisits(tiles, item.tile, symbols);
    countLiterals(visits, item, symbols, stretches, length, times);
  } else if (bound == Bound::Most) {
    int64_t seen = plan.getNoncausal() ? options.context : item.rows.end;
    if (source.getPooled())
      seen = ceilDiv(seen, source.getBlock());
    stretches.push_back({0, ceilDiv(std::min(seen, length), height), false});
  }
  double tiles = 0, keys = 0;
  for (const Stretch &stretch : stretches) {
    int64_t begin = std::max<int64_t>(stretch.begin, 0);
    int64_t end = std::min(stretch.end, ceilDiv(length, height));
    if (begin >= end)
      continue;
    tiles += double(end - begin);
    keys += double(std::min(end * height, length) - begin * height);
  }
  bool scores = !visits.getBody().getOps<tile::IssueDotOp>().empty();
  if (scores && !source.getPooled())
    result.tilesVisited += tiles * times;
  for (Operation &op : visits.getBody().front())
    countVisited(op, item, tiles, keys, source.getPooled(), times);
}

void KernelCounter::countVisited(Operation &op, const Item &item, double tiles, double keys,
                                 bool pooled, double times) {
  double rows = rowsOf(item);
  llvm::TypeSwitch<Operation *>(&op)
      .Case([&](tile::IssueLoadOp load) {
        double bytes = pooled ? 4 : operandBytes();
        add({.bytesRead = keys * double(load.getTile().getType().getColumns()) * bytes}, times);
      })
      .Case([&](tile::IssueDotOp dot) {
        add({.flops = 2 * rows * keys * double(dot.getKeys().getType().getColumns())}, times);
      })
      .Case([&](tile::AccumulateOp sum) {
        add({.flops = 2 * rows * keys * double(sum.getValues().getType().getColumns())}, times);
      })
      .Case([&](tile::OnlineSoftmaxOp) {
        // A power for each score, and one for what the state is scaled by.
        add({.exponentials = rows * keys + rows * tiles}, times);
      })
      .Case([&](tile::MapScoresOp map) {
        // The region is evaluated at each score; what it loads is uniform.
        Extent once[] = {{{0, 1}, 1}, {{0, 1}, 1}, {{0, 1}, 1}};
        add({.exponentials = region(map.getBody(), once).exponentials * rows * keys}, times);
      })
      .Case([&](tile::StoreCellOp store) {
        bool oneRow = store.getCells().getType().getRows() == 1;
        double cells = oneRow ? tiles : tiles * double(item.rows.size());
        add({.bytesWritten = cells}, times);
      })
      .Default([&](Operation *other) { rememberUncounted(other); });
}

void KernelCounter::countLiterals(tile::ForEachVisitOp visits, const Item &item,
                                  llvm::ArrayRef<int64_t> symbols, llvm::ArrayRef<Stretch> visited,
                                  int64_t length, double times) {
  if (bound == Bound::Least)
    return;
  llvm::SmallVector<mlir::Attribute> all(visits.getTouched().begin(), visits.getTouched().end());
  all.append(visits.getHidden().begin(), visits.getHidden().end());
  auto intervals = mlir::ArrayAttr::get(visits.getContext(), all);
  for (auto [id, value] : llvm::enumerate(visits.getLiterals())) {
    auto literal = value.getDefiningOp<tile::LiteralOp>();
    TileVisits tested = tilesOf(intervals, bound, [id = id](tile::IntervalAttr interval) {
      return llvm::any_of(interval.getLiterals(),
                          [id](const tile::LiteralUse &use) { return use.id == id; });
    });
    auto test = [&](int64_t firstTile, int64_t endTile) {
      Range keys{firstTile * schedule.getKeys(), std::min(endTile * schedule.getKeys(), length)};
      Extent extents[] = {{item.rows, static_cast<int64_t>(literal.getQueryCell())},
                          {keys, static_cast<int64_t>(literal.getKeyCell())}};
      if (keys.size() != 0)
        add(region(literal.getBody(), extents), times);
    };
    // Tiles that no interval touches are not looked at.
    for (const Stretch &asked : evaluateVisits(tested, item.tile, symbols))
      for (const Stretch &touched : visited)
        test(std::max<int64_t>({asked.begin, touched.begin, 0}), std::min(asked.end, touched.end));
  }
}

} // namespace skim::report
