// Attention programs to kernels of roles.
#include "codegen/nvvm/HopperOps.h"
#include "codegen/nvvm/KernelFunction.h"
#include "codegen/nvvm/Passes.h"
#include "codegen/nvvm/SharedLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

namespace skim::nvvm {
#define GEN_PASS_DEF_SPLITROLES
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

namespace {

class RoleSplitter {
public:
  explicit RoleSplitter(tile::ProgramOp program)
      : program(program), context(program.getContext()), builder(program),
        source(cast<tile::ForEachWorkItemOp>(program.getBody().front().front())) {}

  LogicalResult run();

private:
  LogicalResult checkOperands();
  /// Finds the walk over tokens and the one over block means.
  LogicalResult findWalks();
  /// Starts a role; its block has the item as its argument.
  Block *createRole(hopper::Role kind);
  void buildScheduler();
  void publishVisits(tile::ForEachVisitOp walk, IRMapping &mapping);
  void buildLoader(hopper::Role kind, ArrayRef<tile::Operand> operands);
  LogicalResult buildConsumer();
  bool needsTwoLoaders();
  /// What stands between the product of scores and the softmax, for visits of either source.
  Value modifyScores(tile::IssueDotOp dot, Value visit, Value item, const IRMapping &mapping);
  Value cloneModifications(tile::ForEachVisitOp walk, tile::IssueDotOp dot, Value visit,
                           IRMapping mapping);
  Value scaleScores(tile::IssueDotOp dot, Value visit);
  hopper::PooledVisitOp pooledVisit(Value visit, Value item) {
    return hopper::PooledVisitOp::create(builder, means.getLoc(), builder.getI1Type(),
                                         tile::VisitType::get(context), visit, item,
                                         means.getSource());
  }

  /// Copies what the item's operations compute once for it: all but the products.
  void cloneScalars(IRMapping &mapping, bool raisesStatus);
  Type staged(tile::SharedType type, int64_t stages) {
    return tile::SharedType::get(context, type.getRows(), type.getColumns(),
                                 program.getProblem().getOperand(),
                                 Panels(type.getColumns()).rowBytes, stages);
  }

  tile::ProgramOp program;
  MLIRContext *context;
  OpBuilder builder;
  tile::ForEachWorkItemOp source;
  hopper::KernelOp kernel;
  tile::ForEachVisitOp visits; ///< of tokens
  tile::ForEachVisitOp means;  ///< of block means; null without `rest mean`
};

} // namespace

LogicalResult RoleSplitter::checkOperands() {
  tile::ProblemAttr problem = program.getProblem();
  Type operand = problem.getOperand();
  if (!operand.isBF16() && !operand.isF16())
    return program.emitError() << "sm_90a: expected operands of bf16 or f16 but got " << operand;
  for (int64_t dim : {problem.getHeadDim(), problem.getValueDim()})
    if (dim % 32 != 0 || dim > 256)
      return program.emitError() << "sm_90a: expected head dimensions that are multiples of 32 up "
                                    "to 256 but got "
                                 << dim;
  return findWalks();
}

LogicalResult RoleSplitter::findWalks() {
  for (auto walk : source.getBody().getOps<tile::ForEachVisitOp>()) {
    tile::ForEachVisitOp &known = walk.getSource().getPooled() ? means : visits;
    if (known)
      return walk.emitOpError() << "sm_90a: expected at most one walk over tokens and one over "
                                   "block means";
    known = walk;
  }
  if (!visits || (means && means.getCarry() != visits.getResults()))
    return program.emitError() << "sm_90a: expected a walk over tokens, and one over block means "
                                  "to go on from its state";
  if (!means)
    return success();
  Type operand = program.getProblem().getOperand();
  for (int64_t slot : {means.getSource().getKeys(), means.getSource().getValues()})
    if (Type element = bufferElement(program, slot); element && element != operand)
      return means.emitOpError() << "sm_90a: expected block means of " << operand << " but got "
                                 << element;
  return success();
}

Block *RoleSplitter::createRole(hopper::Role kind) {
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  auto role = hopper::RoleOp::create(builder, source.getLoc(), kind);
  return builder.createBlock(&role.getBody(), {}, tile::ItemType::get(context), source.getLoc());
}

void RoleSplitter::cloneScalars(IRMapping &mapping, bool raisesStatus) {
  for (Operation &op : source.getBody().getOps()) {
    bool products =
        isa<tile::LoadQueriesOp, tile::EmptyStateOp, tile::ForEachVisitOp, tile::FinishOp>(op);
    if (products || (isa<tile::RaiseStatusOp>(op) && !raisesStatus))
      continue;
    builder.clone(op, mapping);
  }
}

void RoleSplitter::buildScheduler() {
  Block *block = createRole(hopper::Role::Scheduler);
  IRMapping mapping;
  mapping.map(source.getItem(), block->getArgument(0));
  cloneScalars(mapping, /*raisesStatus=*/true);
  publishVisits(visits, mapping);
  if (means)
    publishVisits(means, mapping);
}

void RoleSplitter::publishVisits(tile::ForEachVisitOp walk, IRMapping &mapping) {
  auto mapped = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return mapping.lookup(value); });
  };
  OpBuilder::InsertionGuard guard(builder);
  auto copy = tile::ForEachVisitOp::create(
      builder, walk.getLoc(), TypeRange(), mapping.lookup(walk.getItem()),
      mapped(walk.getSymbols()), mapped(walk.getLiterals()), ValueRange(), walk.getTouched(),
      walk.getHidden(), walk.getSource());
  Block *body =
      builder.createBlock(&copy.getBody(), {}, tile::VisitType::get(context), walk.getLoc());
  if (program.getSchedule().getGatherKeys() && !walk.getSource().getPooled())
    hopper::PublishKeysOp::create(builder, walk.getLoc(), body->getArgument(0));
  else
    hopper::PublishOp::create(builder, walk.getLoc(), body->getArgument(0));
  tile::YieldOp::create(builder, walk.getLoc(), ValueRange());
}

void RoleSplitter::buildLoader(hopper::Role kind, ArrayRef<tile::Operand> operands) {
  Location loc = visits.getLoc();
  Block *block = createRole(kind);
  Value item = block->getArgument(0);
  if (kind == hopper::Role::Loader)
    hopper::CopyQueriesOp::create(builder, loc, item);
  auto walk = hopper::ForEachPublishedOp::create(builder, loc, item, ValueRange());
  Block *body = builder.createBlock(
      &walk.getBody(), {}, {tile::VisitType::get(context), builder.getI32Type()}, {loc, loc});
  Value visit = body->getArgument(0), number = body->getArgument(1);
  auto copy = [&](Value of) {
    for (tile::Operand operand : operands)
      hopper::CopyOp::create(builder, loc, operand, of, number);
  };
  if (means) {
    auto pooled = pooledVisit(visit, item);
    auto branch = scf::IfOp::create(builder, loc, pooled.getPooled(), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    copy(pooled.getMeans());
    builder.setInsertionPointToStart(branch.elseBlock());
    copy(visit);
  } else {
    copy(visit);
  }
  tile::YieldOp::create(builder, loc, ValueRange());
}

static tile::IssueDotOp dotOf(tile::ForEachVisitOp walk) {
  return *walk.getBody().getOps<tile::IssueDotOp>().begin();
}

Value RoleSplitter::cloneModifications(tile::ForEachVisitOp walk, tile::IssueDotOp dot, Value visit,
                                       IRMapping mapping) {
  mapping.map(walk.getVisit(), visit);
  mapping.map(dotOf(walk).getResults(), dot.getResults());
  Value scores = dot.getScores();
  if (walk.getBody().getOps<tile::MapScoresOp>().empty()) {
    // Scores carry the scale in both branches or in none.
    scores = scaleScores(dot, visit);
    mapping.map(dotOf(walk).getScores(), scores);
  }
  for (Operation &op : walk.getBody().getOps())
    if (isa<tile::MapScoresOp, tile::MaskOp>(op))
      scores = builder.clone(op, mapping)->getResult(0);
  return scores;
}

Value RoleSplitter::scaleScores(tile::IssueDotOp dot, Value visit) {
  Location loc = dot.getLoc();
  auto map = tile::MapScoresOp::create(builder, loc, dot.getScores().getType(), dot.getScores(),
                                       dot.getToken(), visit);
  OpBuilder::InsertionGuard guard(builder);
  Type index = builder.getIndexType();
  Block *body = builder.createBlock(&map.getBody(), {}, {builder.getF32Type(), index, index},
                                    {loc, loc, loc});
  tile::YieldOp::create(builder, loc, body->getArgument(0));
  return map.getResult();
}

Value RoleSplitter::modifyScores(tile::IssueDotOp dot, Value visit, Value item,
                                 const IRMapping &mapping) {
  Location loc = dot.getLoc();
  auto pooled = pooledVisit(visit, item);
  auto branch = scf::IfOp::create(builder, loc, dot.getScores().getType(), pooled.getPooled(),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, cloneModifications(means, dot, pooled.getMeans(), mapping));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, cloneModifications(visits, dot, visit, mapping));
  return branch.getResult(0);
}

LogicalResult RoleSplitter::buildConsumer() {
  Location loc = visits.getLoc();
  Block *block = createRole(hopper::Role::Consumer);
  Value item = block->getArgument(0);
  int64_t stages = program.getSchedule().getStages();
  IRMapping mapping;
  mapping.map(source.getItem(), item);
  cloneScalars(mapping, /*raisesStatus=*/false);
  for (auto load : source.getBody().getOps<tile::LoadQueriesOp>())
    mapping.map(load.getQueries(), hopper::AwaitQueriesOp::create(
                                       builder, loc, staged(load.getQueries().getType(), 1), item));
  auto carry = llvm::map_to_vector(visits.getCarry(), [&](Value value) -> Value {
    return builder.clone(*value.getDefiningOp(), mapping)->getResult(0);
  });
  auto walk = hopper::ForEachPublishedOp::create(builder, loc, item, carry);
  SmallVector<Type> types = {tile::VisitType::get(context), builder.getI32Type()};
  llvm::append_range(types, visits.getCarry().getTypes());
  Block *body =
      builder.createBlock(&walk.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  mapping.map(visits.getVisit(), body->getArgument(0));
  mapping.map(visits.getCarriedArguments(), body->getArguments().drop_front(2));
  for (Operation &op : visits.getBody().getOps()) {
    if (auto load = dyn_cast<tile::IssueLoadOp>(op)) {
      // The slot is full when the consumer sees it: nothing is left to wait for.
      mapping.map(load.getTile(),
                  hopper::AwaitOp::create(builder, loc, staged(load.getTile().getType(), stages),
                                          load.getOperand(), body->getArgument(1)));
      continue;
    }
    if (means && isa<tile::MapScoresOp, tile::MaskOp>(op))
      continue;
    if (auto softmax = dyn_cast<tile::OnlineSoftmaxOp>(op); softmax && means) {
      auto dot = mapping.lookup(dotOf(visits).getScores()).getDefiningOp<tile::IssueDotOp>();
      mapping.map(softmax.getScores(), modifyScores(dot, body->getArgument(0), item, mapping));
    }
    Operation *copy = op.cloneWithoutRegions(mapping);
    for (unsigned i = copy->getNumOperands(); i-- > 0;)
      if (Value operand = op.getOperand(i);
          isa<tile::TokenType>(operand.getType()) && operand.getDefiningOp<tile::IssueLoadOp>())
        copy->eraseOperand(i);
    builder.insert(copy);
    for (auto [from, to] : llvm::zip(op.getRegions(), copy->getRegions()))
      from.cloneInto(&to, mapping);
  }
  builder.setInsertionPointToEnd(block);
  for (auto finish : source.getBody().getOps<tile::FinishOp>()) {
    mapping.map((means ? means : visits).getResults(), walk.getResults());
    builder.clone(*finish, mapping);
    // The slot's record of the item is read until here.
    hopper::ReleaseQueriesOp::create(builder, loc, item);
  }
  return success();
}

/// Contiguous tiles are copied by one warp, keys and values in turn: a loader of keys that runs
/// ahead of the values slows the consumers down. Pages and single rows are looked up first, which
/// keeps two warps busy.
bool RoleSplitter::needsTwoLoaders() {
  tile::ScheduleAttr schedule = program.getSchedule();
  return schedule.getGatherKeys() || schedule.getCopyRows() || pageSizeOf(program) != 0;
}

LogicalResult RoleSplitter::run() {
  if (failed(checkOperands()))
    return failure();
  kernel = hopper::KernelOp::create(
      builder, program.getLoc(), program.getSymName(), program.getProblem(), program.getSchedule(),
      program.getItems(), pageSizeOf(program), program->getAttrOfType<IntegerAttr>(kKeyNormsAttr));
  builder.createBlock(&kernel.getBody());
  buildScheduler();
  if (needsTwoLoaders()) {
    buildLoader(hopper::Role::Loader, tile::Operand::Keys);
    buildLoader(hopper::Role::ValueLoader, tile::Operand::Values);
  } else {
    buildLoader(hopper::Role::Loader, {tile::Operand::Keys, tile::Operand::Values});
  }
  if (failed(buildConsumer()))
    return failure();
  program.erase();
  return success();
}

/// What a pattern calls that which `op` computes by scores.
static StringRef wordFor(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<tile::SelectOp, tile::SelectPanelOp>(
          [](auto select) { return tile::stringifySelection(select.getKind()); })
      .Case([](tile::ReducePanelOp reduce) {
        return reduce.getKind() ? tile::stringifyReduction(*reduce.getKind()) : "dot";
      })
      .Case([](tile::SmoothPanelOp) { return "smooth"; })
      .Default([](Operation *) { return "dot"; });
}

/// What no kernel of this target computes.
static LogicalResult refuse(tile::ProgramOp program) {
  WalkResult found = program.walk([](Operation *op) {
    bool scores = isa<tile::SelectOp>(op) ||
                  llvm::any_of(op->getResultTypes(), llvm::IsaPred<tile::PanelType>);
    if (scores)
      op->emitError() << "sm_90a: maps and selections by scores are not compiled for this target: '"
                      << wordFor(op) << "'";
    return scores ? WalkResult::interrupt() : WalkResult::advance();
  });
  return success(!found.wasInterrupted());
}

namespace {

struct SplitRolesPass : skim::nvvm::impl::SplitRolesBase<SplitRolesPass> {
  void runOnOperation() override {
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<tile::ProgramOp>())) {
      if (failed(refuse(program)) || (isAttention(program) && failed(RoleSplitter(program).run())))
        return signalPassFailure();
    }
    // Launch plans name programs; they are for the host.
    for (auto plan : llvm::make_early_inc_range(getOperation().getOps<tile::PlanOp>()))
      plan.erase();
  }
};

} // namespace
