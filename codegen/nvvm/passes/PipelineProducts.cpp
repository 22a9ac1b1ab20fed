// The product of one visit under the softmax of another.
#include "codegen/nvvm/HopperOps.h"
#include "codegen/nvvm/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace skim::nvvm {
#define GEN_PASS_DEF_PIPELINEPRODUCTS
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

namespace {

class ProductPipeline {
public:
  explicit ProductPipeline(hopper::ForEachPublishedOp op)
      : op(op), builder(op.getLoc(), op), source(op.getBody().front()) {}

  LogicalResult run();

private:
  LogicalResult findParts();
  hopper::NextVisitOp nextVisit() {
    Type i1 = builder.getI1Type(), index = builder.getIndexType(), i32 = builder.getI32Type();
    bool gathers = op->getParentOfType<hopper::KernelOp>().getSchedule().getGatherKeys();
    return hopper::NextVisitOp::create(builder, i32, index, index, i1, i1, i1,
                                       gathers ? i32 : Type(), op.getItem());
  }
  Value visitOf(hopper::NextVisitOp next) {
    return recordOf(next, next.getCount(),
                    tile::SourceAttr::get(builder.getContext(), false, 0, 0, 1),
                    next.getPositions());
  }
  Value recordOf(hopper::NextVisitOp next, Value count, tile::SourceAttr source, Value positions) {
    return tile::VisitRecordOp::create(builder, tile::VisitType::get(builder.getContext()),
                                       op.getItem(), next.getFirstKey(), count, next.getMasked(),
                                       source, positions);
  }
  /// Maps whether `next` is a visit of block means, and that visit.
  void mapPooled(hopper::PooledVisitOp pooled, hopper::NextVisitOp next, IRMapping &mapping);
  Value issueDot(Value number) {
    Value keys = hopper::AwaitOp::create(builder, await[0].getType(), tile::Operand::Keys, number);
    return tile::IssueDotOp::create(builder, dot.getScores().getType(), dot.getToken().getType(),
                                    dot.getQueries(), keys, ValueRange())
        .getScores();
  }
  /// Waits for the scores, frees the keys, and applies what stands between product and softmax.
  Value finishScores(Value scores, hopper::NextVisitOp next, int64_t pending, Value keep);
  hopper::OnlineSoftmaxOp softmaxOf(Value scores, Value state, bool first) {
    bool bounded = op->getParentOfType<hopper::KernelOp>().getKeyNorms().has_value();
    return hopper::OnlineSoftmaxOp::create(
        builder, scores.getType(), state.getType(), scores, state, first, modifiesScores(),
        op.getItem(), bounded ? dot.getQueries() : TypedValue<tile::SharedType>());
  }
  bool modifiesScores() {
    return llvm::any_of(between, [](Operation *each) {
      return each->walk([](tile::MapScoresOp) { return WalkResult::interrupt(); }).wasInterrupted();
    });
  }
  Value pack(Value probabilities) {
    auto wide = cast<tile::FragmentType>(probabilities.getType());
    Type operand = cast<tile::SharedType>(await[1].getType()).getElement();
    return hopper::PackOp::create(
        builder,
        tile::FragmentType::get(wide.getContext(), wide.getRows(), wide.getColumns(), operand),
        probabilities);
  }
  Value wait(Value value, int64_t pending, Value keep) {
    return hopper::WaitOp::create(builder, value.getType(), value, pending, keep);
  }
  Value accumulate(Value packed, Value state, Value number) {
    Value values =
        hopper::AwaitOp::create(builder, await[1].getType(), tile::Operand::Values, number);
    return hopper::IssueAccumulateOp::create(builder, state.getType(), packed, values, state);
  }
  SmallVector<Value> loop(ValueRange initial);

  hopper::ForEachPublishedOp op;
  ImplicitLocOpBuilder builder;
  Block &source;
  SmallVector<Value, 2> await; ///< the tiles of keys and of values
  tile::IssueDotOp dot;
  SmallVector<Operation *> between; ///< from the product to the softmax
};

} // namespace

LogicalResult ProductPipeline::findParts() {
  await.resize(2);
  for (Operation &each : source.without_terminator()) {
    if (auto tile = dyn_cast<hopper::AwaitOp>(each))
      await[tile.getOperand() == tile::Operand::Keys ? 0 : 1] = tile.getTile();
    else if (auto product = dyn_cast<tile::IssueDotOp>(each))
      dot = product;
    else if (isa<tile::MapScoresOp, tile::MaskOp, hopper::PooledVisitOp, scf::IfOp>(each))
      between.push_back(&each);
    else if (!isa<tile::OnlineSoftmaxOp, tile::AccumulateOp>(each))
      return each.emitOpError() << "cannot be pipelined";
  }
  if (!await[0] || !await[1] || !dot || op.getCarry().size() != 1)
    return op.emitOpError() << "expected one product of scores and one of values";
  return success();
}

void ProductPipeline::mapPooled(hopper::PooledVisitOp pooled, hopper::NextVisitOp next,
                                IRMapping &mapping) {
  tile::SourceAttr source = pooled.getSource();
  int64_t keys = cast<tile::SharedType>(await[0].getType()).getRows();
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, value); };
  Value length = tile::UniformOp::create(builder, builder.getIndexType(), tile::UniformKind::KvLen,
                                         op.getItem());
  Value raised = arith::AddIOp::create(builder, length, constant(source.getBlock() - 1));
  Value blocks = arith::DivUIOp::create(builder, raised, constant(source.getBlock()));
  Value left = arith::SubIOp::create(builder, blocks, next.getFirstKey());
  Value count = arith::MinSIOp::create(builder, left, constant(keys));
  mapping.map(pooled.getPooled(), next.getPooled());
  mapping.map(pooled.getMeans(), recordOf(next, count, source, /*positions=*/{}));
}

Value ProductPipeline::finishScores(Value scores, hopper::NextVisitOp next, int64_t pending,
                                    Value keep) {
  Value visit = visitOf(next);
  Value current = wait(scores, pending, keep);
  hopper::ReleaseOp::create(builder, tile::Operand::Keys, next.getNumber());
  IRMapping mapping;
  mapping.map(op.getBody().getArgument(0), visit);
  mapping.map(dot.getScores(), current);
  for (Operation *each : between) {
    if (auto pooled = dyn_cast<hopper::PooledVisitOp>(each)) {
      mapPooled(pooled, next, mapping);
      continue;
    }
    Operation *copy = builder.clone(*each, mapping);
    // What they waited for has come.
    copy->walk([](Operation *waiting) {
      for (unsigned i = waiting->getNumOperands(); i-- > 0;)
        if (isa<tile::TokenType>(waiting->getOperand(i).getType()))
          waiting->eraseOperand(i);
    });
    current = copy->getResult(0);
  }
  return current;
}

/// While there are visits: issue this one's scores, then the sum of the one before, and take this
/// one's softmax under it. Carries the state, the packed probabilities and the number of the visit
/// before, and whether that was the last.
SmallVector<Value> ProductPipeline::loop(ValueRange initial) {
  auto types = llvm::to_vector(initial.getTypes());
  SmallVector<Location> locations(types.size(), op.getLoc());
  auto walk = scf::WhileOp::create(builder, types, initial);
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&walk.getBefore(), {}, types, locations);
  Value goesOn = arith::XOrIOp::create(builder, before->getArgument(3),
                                       arith::ConstantIntOp::create(builder, 1, 1));
  scf::ConditionOp::create(builder, goesOn, before->getArguments());

  Block *body = builder.createBlock(&walk.getAfter(), {}, types, locations);
  Value state = body->getArgument(0), packed = body->getArgument(1);
  Value previous = body->getArgument(2);
  hopper::NextVisitOp next = nextVisit();
  Value number = next.getNumber();
  Value scores = issueDot(number);
  Value summed = accumulate(packed, state, previous);
  Value finished = finishScores(scores, next, /*pending=*/1, packed);
  hopper::OnlineSoftmaxOp softmax = softmaxOf(finished, summed, /*first=*/false);
  Value arrived = wait(softmax.getResult(), 0, packed);
  hopper::ReleaseOp::create(builder, tile::Operand::Values, previous);
  Value rescaled = hopper::RescaleOp::create(builder, arrived.getType(), arrived);
  scf::YieldOp::create(
      builder, ValueRange{rescaled, pack(softmax.getProbabilities()), number, next.getLast()});
  return SmallVector<Value>(walk.getResults());
}

LogicalResult ProductPipeline::run() {
  if (failed(findParts()))
    return failure();
  Value empty = op.getCarry().front();
  Value hasVisits = hopper::HasVisitsOp::create(builder, builder.getI1Type(), op.getItem());
  auto any = scf::IfOp::create(builder, empty.getType(), hasVisits, true);
  builder.setInsertionPointToStart(any.thenBlock());
  hopper::NextVisitOp first = nextVisit();
  Value scores = finishScores(issueDot(first.getNumber()), first, 0, {});
  hopper::OnlineSoftmaxOp softmax = softmaxOf(scores, empty, /*first=*/true);
  SmallVector<Value> last = loop(
      {softmax.getResult(), pack(softmax.getProbabilities()), first.getNumber(), first.getLast()});
  Value summed = accumulate(last[1], last[0], last[2]);
  Value state = wait(summed, 0, last[1]);
  hopper::ReleaseOp::create(builder, tile::Operand::Values, last[2]);
  scf::YieldOp::create(builder, state);
  builder.setInsertionPointToStart(any.elseBlock());
  scf::YieldOp::create(builder, empty);
  op.getResult(0).replaceAllUsesWith(any.getResult(0));
  op.erase();
  return success();
}

namespace {

struct PipelineProductsPass : skim::nvvm::impl::PipelineProductsBase<PipelineProductsPass> {
  void runOnOperation() override {
    SmallVector<hopper::ForEachPublishedOp> walks;
    getOperation().walk([&](hopper::ForEachPublishedOp op) {
      if (!op.getCarry().empty())
        walks.push_back(op);
    });
    for (hopper::ForEachPublishedOp op : walks)
      if (failed(ProductPipeline(op).run()))
        return signalPassFailure();
  }
};

} // namespace
