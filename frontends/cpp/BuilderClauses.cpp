// The pattern builder: clauses, and the end of a pattern.
#include "frontends/cpp/Builder.h"
#include "frontends/cpp/CostWarnings.h"
#include "frontends/cpp/Describe.h"

#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace skim;
using namespace skim::ir;

template <typename ClauseT> bool PatternBuilder::isFirst(Location loc, StringRef name) {
  auto known = pattern.getClause<ClauseT>();
  if (!known)
    return true;
  hasErrors = true;
  InFlightDiagnostic diagnostic = emitError(loc, "a pattern has at most one '" + name + "' clause");
  diagnostic.attachNote(known.getLoc()) << "the first is here";
  return false;
}

void PatternBuilder::keep(Location loc, Value set) {
  keepWasGiven = true;
  set = toSet(loc, set);
  if (!set)
    hasErrors = true; // Whoever made the null value reported why.
  else if (isFirst<KeepOp>(loc, "keep"))
    KeepOp::create(builder, loc, set);
}

void PatternBuilder::restMean(Location loc, int64_t keyBlock, int64_t queryTile) {
  // rest_mean_c1
  if (keyBlock < 1 || queryTile < 1) {
    fail(loc, "expected positive block sizes in 'rest mean' but got " + llvm::Twine(keyBlock) +
                  " and " + llvm::Twine(queryTile));
    return;
  }
  if (isFirst<RestMeanOp>(loc, "rest"))
    RestMeanOp::create(builder, loc, queryTile, keyBlock);
}

void PatternBuilder::skip(Location loc, Value threshold) {
  threshold = toUniform(loc, threshold, Element::F32, "a threshold");
  if (!threshold)
    return;
  if (std::optional<double> nats = getConstantF32(threshold); nats && !(*nats >= 0)) {
    fail(loc, "expected a threshold from 0 up but got " + describe(*nats),
         "tiles are dropped whose logits lie that many nats under the row's maximum");
    return;
  }
  if (isFirst<SkipOp>(loc, "skip"))
    SkipOp::create(builder, loc, threshold);
}

void PatternBuilder::logit(Location loc, Value value) {
  value = toReal(loc, value, "a logit");
  if (!value)
    return;
  RuleViolation why;
  if (failed(checkLogit(mlir::cast<MapType>(value.getType()), why)))
    fail(loc, why);
  else if (isFirst<LogitOp>(loc, "logit"))
    LogitOp::create(builder, loc, value);
}

void PatternBuilder::sinkLogit(Location loc, Value value) {
  value = toUniform(loc, value, Element::F32, "a logit for each head");
  if (value && isFirst<SinkLogitOp>(loc, "sink_logit"))
    SinkLogitOp::create(builder, loc, value);
}

void PatternBuilder::denseWhen(Location loc, Value condition) {
  condition = toSet(loc, condition);
  if (!condition)
    return;
  auto type = mlir::cast<SetType>(condition.getType());
  if (!type.isUniform()) {
    fail(loc,
         "expected a condition without positions but got a set over '" + toString(type.getAxes()) +
             "'",
         "'dense when' is decided once for a request and head, as in 'kv_len < 4096'");
    return;
  }
  denseCondition = denseCondition ? disjunction(loc, {denseCondition, condition}) : condition;
}

void PatternBuilder::compact(Location loc, Value set) {
  set = toSet(loc, set);
  if (!set)
    return;
  RuleViolation why;
  if (failed(checkCompact(mlir::cast<SetType>(set.getType()), why)))
    fail(loc, why);
  else if (isFirst<CompactOp>(loc, "compact"))
    CompactOp::create(builder, loc, set);
}

void PatternBuilder::noncausal(Location loc) {
  if (pattern.getNoncausal())
    fail(loc, "a pattern has at most one 'noncausal' clause");
  pattern.setNoncausal(true);
}

/// Inputs stay: they are part of the pattern's signature.
static void eraseUnused(PatternOp pattern) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(pattern.getBody().front())))
    if (!isa<InputOp, InputListOp>(op) && isOpTriviallyDead(&op))
      op.erase();
}

FailureOr<PatternOp> PatternBuilder::finish(Location loc) {
  if (!keepWasGiven)
    fail(loc, "pattern '" + pattern.getSymName() + "' has no 'keep' clause",
         "say which keys each query keeps: 'keep q - k < 4096'");
  if (pattern.getNoncausal())
    for (Operation &op : pattern.getBody().getOps())
      if (isa<InputOp, InputListOp>(op) && getAxes(op.getResult(0).getType()).diagonal)
        fail(op.getLoc(), "an input over 'q - k' cannot stand in a noncausal pattern",
             "it holds distances from 0 on: use an input over 'q, k'");
  if (denseCondition)
    DenseWhenOp::create(builder, denseCondition.getLoc(), denseCondition);
  // A pattern that was reported on may lack anything: only a whole one is verified.
  if (hasErrors || failed(verify(pattern)))
    return failure();
  eraseUnused(pattern);
  warnOfCosts(pattern);
  finished = true;
  return pattern;
}
