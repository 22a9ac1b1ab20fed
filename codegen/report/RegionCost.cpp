#include "codegen/report/RegionCost.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using mlir::Operation;
using mlir::Value;

namespace skim::report {
namespace {

class RegionCounter {
public:
  using Integer = llvm::function_ref<std::optional<int64_t>(Value)>;

  RegionCounter(tile::PlanOp plan, Integer integer) : plan(plan), integer(integer) {}

  void count(mlir::Region &region, llvm::ArrayRef<Extent> extents, double times);

  Cost cost;

private:
  /// The arguments of enclosing regions that `value` is computed of.
  llvm::SetVector<Value> sources(Value value);
  /// How many cells of `cell` positions `value` takes in over all evaluations.
  double cells(Value value, int64_t cell);
  double distances(Value query, Value key);
  void countLoad(tile::LoadCellOp load);

  tile::PlanOp plan;
  Integer integer;
  llvm::DenseMap<Value, Extent> arguments;
};

double bytesOf(mlir::Type type) {
  // Index cells of inputs are int32, truth values bytes.
  if (type.isIndex())
    return 4;
  return type.isInteger(1) ? 1 : type.getIntOrFloatBitWidth() / 8.0;
}

} // namespace

llvm::SetVector<Value> RegionCounter::sources(Value value) {
  llvm::SetVector<Value> reached, found;
  reached.insert(value);
  for (size_t next = 0; next != reached.size(); ++next) {
    if (arguments.contains(reached[next]))
      found.insert(reached[next]);
    else if (Operation *op = reached[next].getDefiningOp())
      reached.insert_range(op->getOperands());
  }
  return found;
}

double RegionCounter::cells(Value value, int64_t cell) {
  if (!value || cell == 0)
    return 1;
  double product = 1;
  for (Value source : sources(value)) {
    const Extent &extent = arguments[source];
    product *= extent.step == 0 ? 1 : extent.range.blocks(std::max(cell, extent.step));
  }
  return product;
}

double RegionCounter::distances(Value query, Value key) {
  // From the least to the largest difference of the positions that both run over.
  double span = 1;
  llvm::SetVector<Value> all = sources(query);
  all.insert_range(sources(key));
  for (Value source : all)
    if (const Extent &extent = arguments[source]; extent.step != 0)
      span += std::max<double>(double(extent.range.size()) - 1, 0);
  return span;
}

void RegionCounter::countLoad(tile::LoadCellOp load) {
  double loaded = cells(load.getElement(), 1);
  if (load.getDiagonal())
    loaded *= distances(load.getQuery(), load.getKey());
  else
    loaded *= cells(load.getQuery(), static_cast<int64_t>(load.getQueryCell())) *
              cells(load.getKey(), static_cast<int64_t>(load.getKeyCell()));
  cost.bytesRead += loaded * bytesOf(load.getType());
}

void RegionCounter::count(mlir::Region &region, llvm::ArrayRef<Extent> extents, double times) {
  for (auto [argument, extent] : llvm::zip_equal(region.getArguments(), extents)) {
    arguments[argument] = extent;
    times *= double(extent.count());
  }
  double operandBytes = plan.getProblem().getOperand().getIntOrFloatBitWidth() / 8.0;
  for (Operation &op : region.front())
    llvm::TypeSwitch<Operation *>(&op)
        .Case<mlir::math::ExpOp, mlir::math::LogOp, mlir::math::TanhOp>(
            [&](Operation *) { cost.exponentials += times; })
        .Case([&](tile::LoadCellOp load) { countLoad(load); })
        .Case([&](tile::LoadElementOp load) {
          cost.bytesRead +=
              cells(load.getPosition(), 1) * cells(load.getElement(), 1) * operandBytes;
        })
        .Case([&](tile::PanelValueOp value) {
          tile::PanelType type = value.getPanel().getType();
          bool hasColumns = type.getElements() != 0 || type.getKey() != 0;
          double columns =
              hasColumns ? cells(value.getKey(), std::max<int64_t>(type.getKey(), 1)) : 1;
          cost.scratchBytes +=
              cells(value.getQuery(), type.getQuery()) * columns * bytesOf(type.getElement());
        })
        .Case([&](tile::ReduceElementsOp reduce) {
          auto elements = static_cast<int64_t>(reduce.getElements());
          if (reduce.getKind() == tile::Reduction::Sum)
            cost.flops += 2.0 * times * double(elements);
          count(reduce.getBody(), {Extent{{0, elements}, 1}}, times);
        })
        .Case([&](tile::ReducePositionsOp reduce) {
          auto numberOf = [&](Value count) { return Extent{{0, integer(count).value_or(1)}, 1}; };
          llvm::SmallVector<Extent> extents = {numberOf(reduce.getRows()),
                                               numberOf(reduce.getKeys())};
          if (reduce.getItem()) {
            int64_t heads = plan.getProblem().getQueryHeads(),
                    kvHeads = plan.getProblem().getKvHeads();
            heads = reduce.getHeads() == tile::HeadGroup::Group     ? heads / kvHeads
                    : reduce.getHeads() == tile::HeadGroup::KvHeads ? kvHeads
                                                                    : heads;
            extents.insert(extents.begin(), Extent{{0, heads}, 1});
          }
          count(reduce.getBody(), extents, times);
        });
}

Cost regionCost(mlir::Region &region, llvm::ArrayRef<Extent> extents, tile::PlanOp plan,
                llvm::function_ref<std::optional<int64_t>(Value)> integer) {
  RegionCounter counter(plan, integer);
  counter.count(region, extents, 1);
  return counter.cost;
}

} // namespace skim::report
