// Products and the online softmax as register-blocked loops.
#include "codegen/cpu/DotBlock.h"
#include "codegen/cpu/KernelArguments.h"
#include "codegen/cpu/Layout.h"
#include "codegen/cpu/TargetPass.h"

namespace skim::cpu {
#define GEN_PASS_DEF_LOWERPRODUCTS
#include "codegen/cpu/Passes.h.inc"
} // namespace skim::cpu

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

namespace {

class ProductLowering {
public:
  ProductLowering(Operation *op, const Target &target)
      : op(op), target(target), layout(target), lanes(target.lanes),
        vectors(target.vectorsInRegisters), code(Code::before(op)) {}

  LogicalResult lower(tile::EmptyStateOp op);
  LogicalResult lower(tile::IssueDotOp op);
  LogicalResult lower(tile::OnlineSoftmaxOp op);
  LogicalResult lower(tile::AccumulateOp op);

private:
  /// Finds the visit and item of the loads or products that `source` comes from.
  LogicalResult open(Operation *load);
  Value rowsBegin(int64_t block) { return code.roundDown(item.getRowsBegin(), block); }
  Value at(Value index, int64_t distance) { return code.add(index, code.index(distance)); }

  void dotBlock(Value queries, Value keys, Value scores, Value row, Value key, int64_t dimension,
                Value scale);
  void softmaxBlock(Value scores, Value state, tile::StateType type, Value row);
  void accumulateBlock(Value probabilities, Value values, Value state, tile::StateType type,
                       Value row, Value column, unsigned width);

  Operation *op;
  const Target &target;
  Layout layout;
  unsigned lanes, vectors;
  Code code;
  tile::VisitRecordOp visit;
  tile::ItemRecordOp item;
};

} // namespace

LogicalResult ProductLowering::open(Operation *load) {
  auto issued = dyn_cast_or_null<tile::IssueLoadOp>(load);
  if (!issued)
    return op->emitOpError() << "expected its tile to come from a 'tile.issue_load'";
  FailureOr<tile::VisitRecordOp> foundVisit = visitRecord(op, issued.getVisit());
  if (failed(foundVisit))
    return failure();
  FailureOr<tile::ItemRecordOp> foundItem = itemRecord(op, foundVisit->getItem());
  if (failed(foundItem))
    return failure();
  visit = *foundVisit;
  item = *foundItem;
  return success();
}

LogicalResult ProductLowering::lower(tile::EmptyStateOp empty) {
  tile::StateType type = empty.getState().getType();
  Value state = allocateInFrame(empty, layout.state(type));
  auto fill = [&](int64_t begin, int64_t end, Value scalar) {
    Value vector = code.splat(scalar, lanes);
    code.loop(code.index(begin), code.index(end), lanes,
              [&](Value i) { code.storeVector(vector, state, i); });
  };
  fill(0, layout.maxima(type), code.f32(0));
  fill(layout.maxima(type), layout.sums(type), code.negativeInfinity());
  fill(layout.sums(type), layout.scales(type), code.f32(0));
  fill(layout.scales(type), layout.state(type).getNumElements(), code.f32(1));
  empty.replaceAllUsesWith(asTile(code, state, type));
  empty.erase();
  return success();
}

// scores[key + i][row + lanes] = sum over d of queries[d][row + lanes] * keys[key + i][d]
void ProductLowering::dotBlock(Value queries, Value keys, Value scores, Value row, Value key,
                               int64_t dimension, Value scale) {
  Code::Values sums = DotBlock(code, target, dimension)
                          .multiply(
                              [&](Value d, int64_t lane) {
                                return code.loadVector(lanes, queries, {d, at(row, lane)});
                              },
                              keys, key);
  for (unsigned i = 0; i < target.keysInRegisters; ++i)
    for (unsigned v = 0; v < vectors; ++v) {
      Value score = arith::MulFOp::create(code, sums[i * vectors + v], scale);
      code.storeVector(score, scores, {at(key, i), at(row, static_cast<int64_t>(v) * lanes)});
    }
}

LogicalResult ProductLowering::lower(tile::IssueDotOp dot) {
  if (failed(open(dot.getKeys().getDefiningOp())))
    return failure();
  Code start = Code::after(item);
  Value scale = arith::TruncFOp::create(
      start, start.getF32Type(), loadArgument(start, item.getArguments(), Argument::SoftmaxScale));
  scale = start.splat(scale, lanes);
  Value queries = asBuffer(code, dot.getQueries(), layout.queries(dot.getQueries().getType()));
  Value keys = asBuffer(code, dot.getKeys(), layout.keys(dot.getKeys().getType()));
  Value scores = allocateInFrame(dot, layout.scores(dot.getScores().getType()));
  int64_t dimension = dot.getKeys().getType().getColumns();
  // The block of queries stays in the first-level cache while the keys pass by.
  code.loop(rowsBegin(layout.rowBlock()), item.getRowsEnd(), layout.rowBlock(), [&](Value row) {
    code.loop(code.index(0), visit.getCount(), target.keysInRegisters,
              [&](Value key) { dotBlock(queries, keys, scores, row, key, dimension, scale); });
  });
  dot.getScores().replaceAllUsesWith(asTile(code, scores, dot.getScores().getType()));
  dot.erase();
  return success();
}

void ProductLowering::softmaxBlock(Value scores, Value state, tile::StateType type, Value row) {
  auto rowAt = [&](unsigned v) { return at(row, static_cast<int64_t>(v) * lanes); };
  auto fieldAt = [&](int64_t field, unsigned v) { return at(rowAt(v), field); };
  Code::Values before, zeros(vectors, code.splat(code.f32(0), lanes));
  for (unsigned v = 0; v < vectors; ++v)
    before.push_back(code.loadVector(lanes, state, fieldAt(layout.maxima(type), v)));
  Code::Values maxima =
      code.loop(code.index(0), visit.getCount(), 1, before, [&](Value j, ValueRange carried) {
        Code::Values next;
        for (unsigned v = 0; v < vectors; ++v)
          next.push_back(code.maximum(carried[v], code.loadVector(lanes, scores, {j, rowAt(v)})));
        return next;
      });
  // Where a row has met no key, -inf - (-inf) must not arise.
  Value infinity = code.splat(code.negativeInfinity(), lanes);
  Code::Values origins;
  for (Value maximum : maxima) {
    Value none = arith::CmpFOp::create(code, arith::CmpFPredicate::OEQ, maximum, infinity);
    origins.push_back(code.select(none, zeros[0], maximum));
  }
  Code::Values sums =
      code.loop(code.index(0), visit.getCount(), 1, zeros, [&](Value j, ValueRange carried) {
        Code::Values next;
        for (unsigned v = 0; v < vectors; ++v) {
          Value score = code.loadVector(lanes, scores, {j, rowAt(v)});
          Value exponent = arith::SubFOp::create(code, score, origins[v]);
          Value probability = math::ExpOp::create(code, exponent);
          code.storeVector(probability, scores, {j, rowAt(v)});
          next.push_back(arith::AddFOp::create(code, carried[v], probability));
        }
        return next;
      });
  for (unsigned v = 0; v < vectors; ++v) {
    Value exponent = arith::SubFOp::create(code, before[v], origins[v]);
    Value scale = math::ExpOp::create(code, exponent);
    Value old = code.loadVector(lanes, state, fieldAt(layout.sums(type), v));
    code.storeVector(maxima[v], state, fieldAt(layout.maxima(type), v));
    code.storeVector(code.multiplyAdd(old, scale, sums[v]), state, fieldAt(layout.sums(type), v));
    code.storeVector(scale, state, fieldAt(layout.scales(type), v));
  }
}

LogicalResult ProductLowering::lower(tile::OnlineSoftmaxOp softmax) {
  auto dot = softmax.getScores().getDefiningOp<tile::IssueDotOp>();
  if (!dot)
    return softmax.emitOpError() << "expected its scores to come from a 'tile.issue_dot'";
  if (failed(open(dot.getKeys().getDefiningOp())))
    return failure();
  Value scores = asBuffer(code, softmax.getScores(), layout.scores(softmax.getScores().getType()));
  tile::StateType type = softmax.getState().getType();
  Value state = asBuffer(code, softmax.getState(), layout.state(type));
  code.loop(rowsBegin(layout.rowBlock()), item.getRowsEnd(), layout.rowBlock(),
            [&](Value row) { softmaxBlock(scores, state, type, row); });
  softmax.replaceAllUsesWith(ValueRange{softmax.getScores(), softmax.getState()});
  softmax.erase();
  return success();
}

// state[row + i][column + lanes] = scale * state + sum over keys of probabilities[j][row + i] *
// values[j][column + lanes].
void ProductLowering::accumulateBlock(Value probabilities, Value values, Value state,
                                      tile::StateType type, Value row, Value column,
                                      unsigned width) {
  unsigned blockRows = target.rowsInRegisters;
  int64_t columns = layout.paddedColumns(type.getColumns());
  Value first = code.add(code.mul(row, code.index(columns)), column);
  auto accumulator = [&](unsigned i, unsigned v) {
    return at(first, static_cast<int64_t>(i) * columns + static_cast<int64_t>(v) * lanes);
  };
  Code::Values initial;
  for (unsigned i = 0; i < blockRows; ++i) {
    Value scale = code.loadScalar(state, at(row, layout.scales(type) + i));
    for (unsigned v = 0; v < width; ++v)
      initial.push_back(arith::MulFOp::create(
          code, code.loadVector(lanes, state, accumulator(i, v)), code.splat(scale, lanes)));
  }
  Code::Values sums =
      code.loop(code.index(0), visit.getCount(), 1, initial, [&](Value j, ValueRange carried) {
        Code::Values next, vectorsOfValue;
        for (unsigned v = 0; v < width; ++v)
          vectorsOfValue.push_back(
              code.loadVector(lanes, values, {j, at(column, static_cast<int64_t>(v) * lanes)}));
        for (unsigned i = 0; i < blockRows; ++i) {
          Value weight = code.splat(code.loadScalar(probabilities, {j, at(row, i)}), lanes);
          for (unsigned v = 0; v < width; ++v)
            next.push_back(code.multiplyAdd(weight, vectorsOfValue[v], carried[i * width + v]));
        }
        return next;
      });
  for (unsigned i = 0; i < blockRows; ++i)
    for (unsigned v = 0; v < width; ++v)
      code.storeVector(sums[i * width + v], state, accumulator(i, v));
}

LogicalResult ProductLowering::lower(tile::AccumulateOp accumulate) {
  if (failed(open(accumulate.getValues().getDefiningOp())))
    return failure();
  tile::StateType type = accumulate.getState().getType();
  Value probabilities = asBuffer(code, accumulate.getProbabilities(),
                                 layout.scores(accumulate.getProbabilities().getType()));
  Value values =
      asBuffer(code, accumulate.getValues(), layout.values(accumulate.getValues().getType()));
  Value state = asBuffer(code, accumulate.getState(), layout.state(type));
  int64_t columns = layout.paddedColumns(type.getColumns());
  auto overRows = [&](Value column, unsigned width) {
    code.loop(rowsBegin(target.rowsInRegisters), item.getRowsEnd(), target.rowsInRegisters,
              [&](Value row) {
                accumulateBlock(probabilities, values, state, type, row, column, width);
              });
  };
  // A block of columns of the values stays in the first-level cache while the rows pass by.
  int64_t block = static_cast<int64_t>(vectors) * lanes, whole = columns / block * block;
  if (whole > 0)
    code.loop(code.index(0), code.index(whole), block,
              [&](Value column) { overRows(column, vectors); });
  if (whole < columns)
    overRows(code.index(whole), static_cast<unsigned>((columns - whole) / lanes));
  accumulate.replaceAllUsesWith(accumulate.getState());
  accumulate.erase();
  return success();
}

namespace {

struct LowerProductsPass : skim::cpu::impl::LowerProductsBase<LowerProductsPass> {
  using LowerProductsBase::LowerProductsBase;

  void runOnOperation() override {
    if (failed(lowerOperations<tile::EmptyStateOp, tile::IssueDotOp, tile::OnlineSoftmaxOp,
                               tile::AccumulateOp>(
            *this, getOperation(), target,
            [](auto op, const Target &cpu) { return ProductLowering(op, cpu).lower(op); },
            LoweringOrder::UsersFirst)))
      signalPassFailure();
  }
};

} // namespace
