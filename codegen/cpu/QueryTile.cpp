#include "codegen/cpu/QueryTile.h"

#include "codegen/cpu/Elements.h"
#include "codegen/cpu/Items.h"
#include "codegen/cpu/RowAccess.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

/// Rows become columns: `vectors` are as many as each has lanes, a power of two.
static void transpose(Code &code, Code::Values &vectors) {
  auto lanes = static_cast<int64_t>(vectors.size());
  // Each step exchanges, in blocks of 2 x 2 runs of `run` elements, the two that are off the
  // diagonal.
  for (int64_t run = 1; run < lanes; run *= 2)
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & run)
        continue;
      Value upper = vectors[i], lower = vectors[i + run];
      SmallVector<int64_t> ofUpper, ofLower;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        bool second = lane & run;
        ofUpper.push_back(second ? lanes + lane - run : lane);
        ofLower.push_back(second ? lanes + lane : lane + run);
      }
      vectors[i] = vector::ShuffleOp::create(code, upper, lower, ofUpper);
      vectors[i + run] = vector::ShuffleOp::create(code, upper, lower, ofLower);
    }
}

void skim::cpu::transposeQueries(Code &code, const Target &target, tile::ItemRecordOp item,
                                 Value begin, Value end,
                                 function_ref<void(Value values, Value element, Value row)> store) {
  tile::ProblemAttr problem = kernelInfo(item).problem;
  Type operand = problem.getOperand();
  Value bytes = code.index(elementBytes(operand)), start = tileStart(code, item);
  int64_t dimension = problem.getHeadDim(), lanes = target.lanes;
  Value elements = code.index(dimension), whole = code.index(dimension / lanes * lanes);
  auto addressOf = [&](Value row) { return queryAddress(code, item, code.add(start, row)); };
  auto copyScalars = [&](Value row, Value first) {
    Value address = addressOf(row);
    code.loop(first, elements, 1, [&](Value i) {
      Value at = code.offset(address, code.mul(i, bytes));
      store(loadElements(code, target, operand, at, 1), i, row);
    });
  };
  auto copyOrClear = [&](Value row) {
    Value exists = code.logicalAnd(code.lessOrEqual(item.getRowsBegin(), row),
                                   code.less(row, item.getRowsEnd()));
    code.ifElse(
        exists, [&] { copyScalars(row, code.index(0)); },
        [&] {
          Value zero = code.f32(0);
          code.loop(code.index(0), elements, 1, [&](Value i) { store(zero, i, row); });
        });
  };
  auto transposeRows = [&](Value first) {
    Code::Values addresses;
    for (int64_t row = 0; row < lanes; ++row)
      addresses.push_back(addressOf(code.add(first, code.index(row))));
    code.loop(code.index(0), whole, lanes, [&](Value i) {
      Code::Values vectors;
      for (Value address : addresses)
        vectors.push_back(
            loadElements(code, target, operand, code.offset(address, code.mul(i, bytes)), lanes));
      transpose(code, vectors);
      for (int64_t element = 0; element < lanes; ++element)
        store(vectors[element], code.add(i, code.index(element)), first);
    });
    if (dimension % lanes != 0)
      code.loop(first, code.add(first, code.index(lanes)), 1,
                [&](Value row) { copyScalars(row, whole); });
  };
  // Written one by one, the elements of a row would each fall into another cache line.
  code.loop(begin, end, lanes, [&](Value first) {
    Value next = code.add(first, code.index(lanes));
    Value allExist = code.logicalAnd(code.lessOrEqual(item.getRowsBegin(), first),
                                     code.lessOrEqual(next, item.getRowsEnd()));
    code.ifElse(
        allExist, [&] { transposeRows(first); }, [&] { code.loop(first, next, 1, copyOrClear); });
  });
}
