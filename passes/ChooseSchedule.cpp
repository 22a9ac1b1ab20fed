#include "dialect/Skim/SkimOps.h"
#include "dialect/Skim/TypeRules.h"
#include "dialect/Tile/TileOps.h"
#include "passes/MapAnalysis.h"
#include "passes/Passes.h"
#include "passes/PatternFormula.h"
#include "passes/PatternSlice.h"
#include "passes/RestFormula.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

namespace skim {
#define GEN_PASS_DEF_CHOOSESCHEDULE
#include "passes/Passes.h.inc"

namespace {

/// The first size that most of the blocks divide or are divided by.
int64_t chooseSize(llvm::ArrayRef<int64_t> blocks) {
  int64_t best = 0, bestFit = -1;
  for (int64_t size : {64, 96, 80, 48, 32}) {
    int64_t fit = llvm::count_if(
        blocks, [size](int64_t block) { return size % block == 0 || block % size == 0; });
    if (fit > bestFit) {
      best = size;
      bestFit = fit;
    }
  }
  return best;
}

/// Sizes of the blocks of a pattern along either axis.
struct Blocks {
  llvm::SmallVector<int64_t> rows, keys;
};
Blocks blocksOf(ir::PatternOp pattern) {
  Blocks blocks;
  for (mlir::Operation *op : neededOperations(pattern)) {
    if (auto rest = llvm::dyn_cast<ir::RestMeanOp>(op)) {
      blocks.rows.push_back(rest.getQuery());
      blocks.keys.push_back(rest.getKey());
    }
    for (mlir::Type type : op->getResultTypes())
      if (auto set = llvm::dyn_cast<ir::SetType>(type)) {
        if (set.getAxes().query > 1)
          blocks.rows.push_back(set.getAxes().query);
        if (set.getAxes().key > 1)
          blocks.keys.push_back(set.getAxes().key);
      }
  }
  return blocks;
}

tile::ScheduleAttr scheduleForCpu(mlir::MLIRContext *context, const Blocks &blocks) {
  return tile::ScheduleAttr::get(context, chooseSize(blocks.rows), chooseSize(blocks.keys));
}

/// Whether a selection that `set` is made of tells keys of a tile apart, for all its rows alike.
bool tellsKeysApart(mlir::Value set, int64_t rows, int64_t keys) {
  llvm::SetVector<mlir::Value> reached;
  reached.insert(set);
  for (size_t next = 0; next != reached.size(); ++next) {
    mlir::Value part = reached[next];
    if (llvm::isa<ir::AndOp, ir::OrOp, ir::NotOp, ir::MatchOp>(part.getDefiningOp())) {
      for (mlir::Value operand : part.getDefiningOp()->getOperands())
        if (llvm::isa<ir::SetType>(operand.getType()))
          reached.insert(operand);
      continue;
    }
    // What is affine has a closed form.
    ir::Axes axes = axesOf(part);
    if (!isAffine(part) && !axes.diagonal && axes.query % rows == 0 && axes.key != 0 &&
        axes.key < keys)
      return true;
  }
  return false;
}

/// Whether a logit depends on where its key stands, and not through its score alone.
bool readsKeys(ir::LogitOp logit) {
  auto hasKeys = [](mlir::Value value) { return axesOf(value).key != 0 || axesOf(value).diagonal; };
  llvm::SetVector<mlir::Value> reached;
  reached.insert(logit.getValue());
  for (size_t next = 0; next != reached.size(); ++next) {
    mlir::Operation *op = reached[next].getDefiningOp();
    if (!op || llvm::isa<ir::ScoreOp>(op))
      continue;
    if (hasKeys(reached[next]) && llvm::none_of(op->getOperands(), hasKeys))
      return true;
    reached.insert_range(op->getOperands());
  }
  return false;
}

/// The registers of a thread that copies and of one that computes: all that a block of that many
/// threads starts with.
struct Registers {
  int64_t producer, consumer;
};
Registers registersFor(int64_t consumers, int64_t keys, int64_t valueDim, bool busyProducer,
                       bool mapsScores) {
  if (consumers == 3)
    return busyProducer ? Registers{80, 144} : Registers{56, 152};
  // Accumulators, scores, probabilities that a product reads, and what addresses and masks take; a
  // block starts with 168 for each thread. Few columns leave room for what maps of scores take.
  int64_t wanted = valueDim / 2 + keys / 2 + keys / 4 + 56;
  // Tiles are narrow where masks are of many sets.
  int64_t least = mapsScores ? 184 : (keys < 64 ? 176 : 168);
  int64_t consumer = std::clamp<int64_t>(wanted / 8 * 8, least, busyProducer ? 216 : 232);
  return {504 - 2 * consumer, consumer};
}

/// Pages that a tensor map describes: none for contiguous keys, or a power of two of at least 8.
bool hasTensorMap(int64_t pageSize) {
  return pageSize == 0 || (pageSize >= 8 && llvm::isPowerOf2_64(pageSize));
}

/// Whether anything that the pattern needs differs between the query heads of a group.
bool tellsQueryHeadsApart(ir::PatternOp pattern) {
  return llvm::any_of(neededOperations(pattern), [](mlir::Operation *op) {
    return ir::getHeadAxis(op->getOperandTypes()) == ir::HeadAxis::Head ||
           ir::getHeadAxis(op->getResultTypes()) == ir::HeadAxis::Head;
  });
}

/// The tile of the group's query heads has as many rows in all as one of a single head. So few rows
/// of queries, as when one token is decoded, read keys and values once for the group; with many
/// rows, less of the tiles on the diagonal is masked.
bool packsHeads(ir::AttendOp attend, ir::PatternOp pattern) {
  int64_t group = attend.getQueryHeads() / attend.getKvHeads();
  return group > 1 && 64 % group == 0 && !pattern.getClause<ir::RestMeanOp>() &&
         !tellsQueryHeadsApart(pattern);
}

/// Sets that a selection is made of, from which on its search and its masks need more registers
/// than the fastest shapes leave.
constexpr int64_t kManySets = 7;
/// Columns of values up to which a search or block means go with the scores of 64 keys.
constexpr int64_t kMostColumnsBesideMaps = 192;

bool hasManySets(ir::PatternOp pattern) {
  return llvm::count_if(neededOperations(pattern), [](mlir::Operation *op) {
           return llvm::any_of(op->getResultTypes(), llvm::IsaPred<ir::SetType>);
         }) >= kManySets;
}

/// `heads`: how many a tile holds.
tile::ScheduleAttr scheduleForHopper(ir::PatternOp pattern, ir::AttendOp attend, int64_t heads) {
  Blocks blocks = blocksOf(pattern);
  auto largestDim = std::max<int64_t>(attend.getHeadDim(), attend.getValueDim());
  auto allMultiplesOf = [](llvm::ArrayRef<int64_t> sizes, int64_t size) {
    return llvm::all_of(sizes, [size](int64_t block) { return block % size == 0; });
  };
  mlir::Value kept = pattern.getClause<ir::KeepOp>().getSet();
  auto logit = pattern.getClause<ir::LogitOp>();
  // Block means are weighed by a function of their scores.
  bool means = pattern.getClause<ir::RestMeanOp>() != nullptr, mapsScores = logit || means;
  bool copiesRows = !hasTensorMap(attend.getPageSize().value_or(0));
  // Searches and copies row by row need more registers than closed forms and tensor maps.
  bool busyProducer = copiesRows || !isAffine(kept);
  // A search and functions of scores do not fit into what three consumers leave together.
  bool large = largestDim > 128;
  bool crowded = hasManySets(pattern) || (mapsScores && busyProducer);
  int64_t consumers = !large && !crowded && allMultiplesOf(blocks.rows, 192 / heads) ? 3 : 2;
  bool wide = consumers == 2 && !large && !crowded && allMultiplesOf(blocks.keys, 128);
  // The widest accumulators leave registers for the scores of 64 keys, and for little beside them.
  bool narrow = (large && crowded) ||
                (attend.getValueDim() > kMostColumnsBesideMaps && (busyProducer || means));
  int64_t rows = 64 * consumers / heads, keys = wide ? 128 : narrow ? 32 : 64;
  bool gathers = tellsKeysApart(kept, rows, keys) && !(logit && readsKeys(logit));
  Registers registers =
      registersFor(consumers, keys, attend.getValueDim(), busyProducer, mapsScores);
  return tile::ScheduleAttr::get(attend.getContext(), rows, keys, /*stages=*/2, consumers, gathers,
                                 copiesRows, registers.producer, registers.consumer);
}

struct ChooseSchedulePass : impl::ChooseScheduleBase<ChooseSchedulePass> {
  using ChooseScheduleBase::ChooseScheduleBase;

  void runOnOperation() override {
    for (auto attend : getOperation().getOps<ir::AttendOp>()) {
      ir::PatternOp pattern = lookupPattern(attend);
      auto rest = pattern.getClause<ir::RestMeanOp>();
      if (rest && target == "sm_90a" && !rest->hasAttr(kMeanTypeAttr))
        rest->setAttr(kMeanTypeAttr, attend.getOperandAttr());
      if (attend->hasAttr(kScheduleAttr))
        continue;
      if (target != "sm_90a") {
        attend->setAttr(kScheduleAttr, scheduleForCpu(&getContext(), blocksOf(pattern)));
        continue;
      }
      bool packs = packsHeads(attend, pattern);
      if (packs)
        attend->setAttr(kPacksHeadsAttr, mlir::UnitAttr::get(&getContext()));
      int64_t heads = packs ? attend.getQueryHeads() / attend.getKvHeads() : 1;
      attend->setAttr(kScheduleAttr, scheduleForHopper(pattern, attend, heads));
    }
  }
};

} // namespace
} // namespace skim
