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
  /// Starts a role; its block has the item as its argument.
  Block *createRole(hopper::Role kind);
  void buildScheduler();
  void buildLoader(hopper::Role kind, ArrayRef<tile::Operand> operands);
  LogicalResult buildConsumer();
  bool needsTwoLoaders();

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
  tile::ForEachVisitOp visits;
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
  auto all = source.getBody().getOps<tile::ForEachVisitOp>();
  if (!llvm::hasSingleElement(all))
    return program.emitError() << "sm_90a: 'rest mean' is not compiled for this target";
  visits = *all.begin();
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
  auto mapped = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return mapping.lookup(value); });
  };
  auto walk = tile::ForEachVisitOp::create(
      builder, visits.getLoc(), TypeRange(), block->getArgument(0), mapped(visits.getSymbols()),
      mapped(visits.getLiterals()), ValueRange(), visits.getTouched(), visits.getHidden(),
      visits.getSource());
  Block *body =
      builder.createBlock(&walk.getBody(), {}, tile::VisitType::get(context), visits.getLoc());
  if (program.getSchedule().getGatherKeys())
    hopper::PublishKeysOp::create(builder, visits.getLoc(), body->getArgument(0));
  else
    hopper::PublishOp::create(builder, visits.getLoc(), body->getArgument(0));
  tile::YieldOp::create(builder, visits.getLoc(), ValueRange());
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
  for (tile::Operand operand : operands)
    hopper::CopyOp::create(builder, loc, operand, body->getArgument(0), body->getArgument(1));
  tile::YieldOp::create(builder, loc, ValueRange());
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
    mapping.map(visits.getResults(), walk.getResults());
    builder.clone(*finish, mapping);
    // The slot's record of the item is read until here.
    hopper::ReleaseQueriesOp::create(builder, loc, item);
  }
  return success();
}

/// A lane starts the copy of a whole tile, keys and values in turn: a loader of keys that runs
/// ahead of the values slows the consumers down. Copies row by row, or of many pages a tile, keep
/// two warps busy.
bool RoleSplitter::needsTwoLoaders() {
  tile::ScheduleAttr schedule = program.getSchedule();
  int64_t pageSize = pageSizeOf(program);
  return schedule.getGatherKeys() || schedule.getCopyRows() ||
         (pageSize != 0 && pageSize < schedule.getKeys());
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
