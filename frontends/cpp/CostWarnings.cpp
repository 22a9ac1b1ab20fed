#include "frontends/cpp/CostWarnings.h"

#include "dialect/Skim/IndexBounds.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

using namespace mlir;
using namespace skim;
using namespace skim::ir;

//===-- Scores of all pairs ------------------------------------------------------------------===//

/// Whether a map has few rows, whatever q_len is.
static bool hasLastRowsOnly(Value map) {
  while (Operation *op = map.getDefiningOp()) {
    if (isa<LastOp>(op))
      return true;
    if (!isa<CastOp, LinearOp, SmoothOp, WhereOp>(op))
      return false;
    map = op->getOperand(0);
  }
  return false;
}

static void warnOfAllPairs(DotOp dot) {
  const Axes &axes = dot.getType().getAxes();
  if (axes.query != 1 || axes.key != 1 || hasLastRowsOnly(dot.getLhs()) ||
      hasLastRowsOnly(dot.getRhs()))
    return;
  InFlightDiagnostic diagnostic = emitWarning(
      dot.getLoc(),
      "this scores all (q, k) pairs, which costs as much as dense attention does for them");
  diagnostic.attachNote(dot.getLoc())
      << "score block means, 'mean(K, 128)', or few rows, 'last(Q, 64)'";
}

//===-- Diagonals -----------------------------------------------------------------------------===//

/// Whether `set` reaches `keep` without being rounded up.
static bool reachesKeepAsIs(Value set) {
  llvm::SetVector<Value> reached;
  reached.insert(set);
  for (size_t next = 0; next != reached.size(); ++next)
    for (Operation *user : reached[next].getUsers()) {
      if (isa<KeepOp>(user))
        return true;
      if (isa<AndOp, OrOp, NotOp, MatchOp>(user))
        reached.insert(user->getResult(0));
    }
  return false;
}

static void warnOfDiagonals(Operation *selection) {
  Value set = selection->getResult(0);
  if (!cast<SetType>(set.getType()).getAxes().diagonal || !reachesKeepAsIs(set))
    return;
  InFlightDiagnostic diagnostic = emitWarning(
      selection->getLoc(), "each selected diagonal crosses every query tile and keeps one key of a "
                           "row in it, so most of the computed tile is masked");
  diagnostic.attachNote(selection->getLoc()) << "take whole blocks: 'cover(q / 64, k / 64, ...)'";
}

//===-- Noncausal windows --------------------------------------------------------------------===//

/// The sign of d expr / d dim far away along `dim`; 0 when the expression is bounded or not
/// understood.
static int getTrend(AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  if (isa<AffineDimExpr>(expr))
    return 1;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int lhs = getTrend(binary.getLHS(), dim);
  int rhs = getTrend(binary.getRHS(), dim);
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return lhs == 0 || rhs == 0 ? lhs + rhs : lhs == rhs ? lhs : 0;
  case AffineExprKind::Mul:
    if (auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS()))
      return factor.getValue() < 0 ? -lhs : lhs;
    return 0;
  case AffineExprKind::FloorDiv:
  case AffineExprKind::CeilDiv:
    return lhs;
  default:
    return 0;
  }
}

namespace {

/// Whether pairs with a fixed q and k far to one side are in a set; nothing when that depends.
/// Answers once for each set: sets share parts.
class FarAway {
public:
  /// `direction` is +1 or -1.
  explicit FarAway(int direction) : direction(direction) {}

  std::optional<bool> holds(Value set) {
    if (auto known = answers.find(set); known != answers.end())
      return known->second;
    std::optional<bool> answer = decide(set);
    answers[set] = answer;
    return answer;
  }

private:
  std::optional<bool> decide(Value set);

  int direction;
  llvm::DenseMap<Value, std::optional<bool>> answers;
};

} // namespace

std::optional<bool> FarAway::decide(Value set) {
  if (auto affine = set.getDefiningOp<AffineSetOp>()) {
    std::optional<bool> all = true;
    for (auto [expr, isEquality] :
         llvm::zip(affine.getSet().getConstraints(), affine.getSet().getEqFlags())) {
      int trend = getTrend(expr, 1) * direction;
      if (trend == 0)
        all = std::nullopt;
      else if (trend < 0 || isEquality)
        return false;
    }
    return getConstantSet(set) ? getConstantSet(set) : all;
  }
  if (auto inner = set.getDefiningOp<NotOp>()) {
    std::optional<bool> value = holds(inner.getSet());
    return value ? std::optional<bool>(!*value) : std::nullopt;
  }
  Operation *op = set.getDefiningOp();
  if (!op || !isa<AndOp, OrOp>(op))
    return std::nullopt;
  bool absorbing = isa<OrOp>(op);
  std::optional<bool> result = !absorbing;
  for (Value operand : op->getOperands()) {
    std::optional<bool> value = holds(operand);
    if (value == absorbing)
      return absorbing;
    if (!value)
      result = std::nullopt;
  }
  return result;
}

/// The operand of `or`s that alone keeps the whole future and, being a window, not the whole past.
static Value findOpenWindow(Value set) {
  FarAway future(+1);
  FarAway past(-1);
  llvm::SetVector<Value> reached;
  reached.insert(set);
  for (size_t next = 0; next != reached.size(); ++next) {
    Value part = reached[next];
    if (auto combination = part.getDefiningOp<OrOp>())
      reached.insert_range(combination.getSets());
    else if (cast<SetType>(part.getType()).getAxes().diagonal && future.holds(part) == true &&
             past.holds(part) == false)
      return part;
  }
  return {};
}

//===-- Large indices ------------------------------------------------------------------------===//

static void warnOfLargeIndices(AffineSetOp set, IndexBounds &bounds) {
  if (llvm::all_of(set.getSymbols(),
                   [&](Value symbol) { return bounds.of(symbol) <= kLargestIndex; }))
    return;
  InFlightDiagnostic diagnostic = emitWarning(
      set.getLoc(), "this comparison is tested pair by pair, since an index in it may exceed 2^31");
  diagnostic.attachNote(set.getLoc())
      << "use smaller factors, or compute the index before the launch";
}

void skim::warnOfCosts(PatternOp pattern) {
  IndexBounds bounds;
  for (Operation &op : pattern.getBody().getOps()) {
    if (auto set = dyn_cast<AffineSetOp>(op))
      warnOfLargeIndices(set, bounds);
    if (auto dot = dyn_cast<DotOp>(op))
      warnOfAllPairs(dot);
    if (isa<TopKOp, TopPOp>(op))
      warnOfDiagonals(&op);
  }
  auto keep = pattern.getClause<KeepOp>();
  if (!pattern.getNoncausal() || !keep)
    return;
  if (Value window = findOpenWindow(keep.getSet())) {
    InFlightDiagnostic diagnostic = emitWarning(
        window.getLoc(), "in a noncausal pattern this window keeps the whole future of each query");
    diagnostic.attachNote(window.getLoc())
        << "bound it on both sides: 'q - k < window and k - q < window'";
  }
}
