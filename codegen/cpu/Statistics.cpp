#include "codegen/cpu/Statistics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

void skim::cpu::addToCounter(Code &code, tile::ItemRecordOp item, Counter counter, Value amount) {
  Value position = code.index(static_cast<int64_t>(counter));
  Value wide = arith::IndexCastOp::create(code, code.getI64Type(), amount);
  Value sum = arith::AddIOp::create(code, code.loadScalar(item.getStatistics(), position), wide);
  code.storeScalar(sum, item.getStatistics(), position);
}
