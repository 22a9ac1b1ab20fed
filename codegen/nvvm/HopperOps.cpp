#include "codegen/nvvm/HopperOps.h"

#include "codegen/nvvm/SharedLayout.h"
#include "dialect/Tile/PackedHeads.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "codegen/nvvm/HopperDialect.cpp.inc"
#include "codegen/nvvm/HopperEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "codegen/nvvm/HopperAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "codegen/nvvm/HopperOps.cpp.inc"

using namespace mlir;
using namespace skim;
using namespace skim::hopper;

void HopperDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "codegen/nvvm/HopperAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "codegen/nvvm/HopperOps.cpp.inc"
      >();
}

RoleOp KernelOp::getRole(Role kind) {
  for (auto role : getBody().getOps<RoleOp>())
    if (role.getRole() == kind)
      return role;
  return {};
}

LogicalResult KernelOp::verify() {
  tile::ScheduleAttr schedule = getSchedule();
  int64_t consumers = schedule.getConsumers();
  // kernel_c2
  int64_t heads = tile::headsOfTile(getProblem(), getItems().getHead());
  int64_t rows = schedule.getRows() * heads;
  if (consumers < 1 || consumers > 3 || rows != nvvm::rowsOfTile(schedule))
    return emitOpError() << "expected 1 to 3 consumers of 64 rows each but got " << consumers
                         << " for " << rows << " rows";
  if (schedule.getKeys() % 16 != 0 || schedule.getKeys() > 256)
    return emitOpError() << "expected a multiple of 16 keys up to 256 but got "
                         << schedule.getKeys();
  if (!llvm::isPowerOf2_64(schedule.getStages()))
    return emitOpError() << "expected a power of two of stages but got " << schedule.getStages();
  // kernel_c3
  int64_t producer = schedule.getProducerRegisters(), consumer = schedule.getConsumerRegisters();
  for (auto [name, registers] :
       {std::pair("producer_registers", producer), std::pair("consumer_registers", consumer)})
    if (registers % 8 != 0 || registers < 24 || registers > 255)
      return emitOpError() << "expected '" << name
                           << "' to be a multiple of 8 from 24 to 248 but got " << registers;
  // What the block has when it starts; a sum beyond it would wait forever.
  int64_t threads = 128 * (1 + consumers);
  int64_t pool = std::min<int64_t>(255, 65536 / threads) / 8 * 8 * threads;
  if (128 * (producer + consumers * consumer) > pool)
    return emitOpError() << "expected at most " << pool << " registers but got 128 * (" << producer
                         << " + " << consumers << " * " << consumer << ")";
  // kernel_c4
  int64_t bytes = nvvm::SharedLayout(getProblem(), schedule).bytes;
  if (bytes > nvvm::SharedLayout::kLargest)
    return emitOpError() << "expected rings of at most " << nvvm::SharedLayout::kLargest
                         << " bytes of shared memory but got " << bytes;
  // kernel_c5
  int64_t keys = schedule.getKeys();
  if (schedule.getGatherKeys() && (keys < 32 || keys > 128 || !llvm::isPowerOf2_64(keys)))
    return emitOpError() << "expected a power of two from 32 to 128 keys where they are gathered "
                            "but got "
                         << keys;
  // kernel_c6
  uint64_t page = getPageSize();
  bool hasTensorMap = page == 0 || (page >= 8 && llvm::isPowerOf2_64(page));
  if (!hasTensorMap && !schedule.getCopyRows())
    return emitOpError() << "expected 'copy_rows' in the schedule, or pages of a power of two of "
                            "at least 8 tokens, but got pages of "
                         << page;
  return success();
}

/// The `hopper.kernel` that holds `op` with `gather_keys` or without; failure where it is another.
static LogicalResult requireGathering(Operation *op, bool gathers) {
  auto kernel = op->getParentOfType<KernelOp>();
  // What was lowered already has no kernel around it.
  if (!kernel || kernel.getSchedule().getGatherKeys() == gathers)
    return success();
  return op->emitOpError() << "expected a kernel whose schedule has " << (gathers ? "" : "no ")
                           << "'gather_keys'";
}

LogicalResult PublishKeysOp::verify() {
  // publish_keys_c1
  return requireGathering(*this, true);
}

LogicalResult NextVisitOp::verify() {
  // next_visit_c1
  return requireGathering(*this, getPositions() != nullptr);
}

/// The tile that an op of a kernel waits for.
static tile::SharedType awaitedTile(KernelOp kernel, int64_t rows, int64_t dim, int64_t stages) {
  return tile::SharedType::get(kernel.getContext(), rows, dim, kernel.getProblem().getOperand(),
                               nvvm::Panels(dim).rowBytes, stages);
}

/// kernel_c7
static LogicalResult verifyAwaited(KernelOp kernel) {
  tile::ProblemAttr problem = kernel.getProblem();
  tile::ScheduleAttr schedule = kernel.getSchedule();
  auto verify = [](Operation *op, tile::SharedType type, tile::SharedType expected) {
    if (type == expected)
      return WalkResult::advance();
    op->emitOpError() << "expected a tile of type " << expected << " but got " << type;
    return WalkResult::interrupt();
  };
  WalkResult result = kernel.walk([&](Operation *op) {
    if (auto queries = dyn_cast<AwaitQueriesOp>(op))
      return verify(op, queries.getQueries().getType(),
                    awaitedTile(kernel, nvvm::rowsOfTile(schedule), problem.getHeadDim(), 1));
    if (auto await = dyn_cast<AwaitOp>(op))
      return verify(op, await.getTile().getType(),
                    awaitedTile(kernel, schedule.getKeys(),
                                await.getOperand() == tile::Operand::Keys ? problem.getHeadDim()
                                                                          : problem.getValueDim(),
                                schedule.getStages()));
    return WalkResult::advance();
  });
  return success(!result.wasInterrupted());
}

LogicalResult KernelOp::verifyRegions() {
  // kernel_c1
  SmallVector<Role> roles;
  for (Operation &op : getBody().front()) {
    auto role = dyn_cast<RoleOp>(op);
    if (!role)
      return op.emitOpError() << "cannot stand in a 'hopper.kernel' outside of its roles";
    roles.push_back(role.getRole());
  }
  if (roles != SmallVector<Role>{Role::Scheduler, Role::Loader, Role::Consumer} &&
      roles != SmallVector<Role>{Role::Scheduler, Role::Loader, Role::ValueLoader, Role::Consumer})
    return emitOpError() << "expected the roles scheduler, loader, value_loader where there is "
                            "one, and consumer, once each in this order";
  return verifyAwaited(*this);
}

LogicalResult RoleOp::verifyRegions() {
  // role_c1
  if (getBody().getArgumentTypes() != TypeRange(tile::ItemType::get(getContext())))
    return emitOpError() << "expected a body with one argument of type '!tile.item' but got ("
                         << getBody().getArgumentTypes() << ")";
  return success();
}

LogicalResult ForEachPublishedOp::verifyRegions() {
  // for_each_published_c1
  SmallVector<Type> expected = {tile::VisitType::get(getContext()),
                                IntegerType::get(getContext(), 32)};
  llvm::append_range(expected, getCarry().getTypes());
  Block &block = getBody().front();
  if (block.getArgumentTypes() != TypeRange(expected))
    return emitOpError() << "expected a body with arguments (" << expected << ") but got ("
                         << block.getArgumentTypes() << ")";
  auto yield = dyn_cast<tile::YieldOp>(block.getTerminator());
  if (!yield || yield.getOperandTypes() != getCarry().getTypes() ||
      getResultTypes() != getCarry().getTypes())
    return emitOpError() << "expected its body to yield (" << getCarry().getTypes() << ")";
  return success();
}

LogicalResult PooledVisitOp::verify() {
  // pooled_visit_c1
  if (!getSource().getPooled())
    return emitOpError() << "expected a pooled source but got " << getSource();
  return success();
}

LogicalResult PackOp::verify() {
  // pack_c1
  tile::FragmentType wide = getWide().getType(), packed = getPacked().getType();
  if (wide.getRows() != packed.getRows() || wide.getColumns() != packed.getColumns() ||
      !wide.getElement().isF32() || packed.getElement().getIntOrFloatBitWidth() != 16)
    return emitOpError() << "expected fragments of one shape, of f32 and of 16-bit elements, but "
                            "got "
                         << wide << " and " << packed;
  return success();
}
