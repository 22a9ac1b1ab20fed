#include "codegen/cpu/ElementAccess.h"

#include "codegen/cpu/Elements.h"
#include "codegen/cpu/RowAccess.h"

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

Value skim::cpu::vectorAddress(Code &code, tile::ItemRecordOp item, tile::VectorSource source,
                               Value position) {
  if (source == tile::VectorSource::Queries)
    return queryAddress(code, item, position);
  return tokenAddress(
      code, item, source == tile::VectorSource::Keys ? tile::Operand::Keys : tile::Operand::Values,
      position);
}

Value skim::cpu::loadVectorElements(Code &code, const Target &target, tile::ItemRecordOp item,
                                    Value address, Value element, unsigned lanes) {
  Type inMemory = kernelInfo(item).problem.getOperand();
  Value bytes = code.mul(element, code.index(elementBytes(inMemory)));
  return loadElements(code, target, inMemory, code.offset(address, bytes), lanes);
}

Value skim::cpu::loadElementsByLane(Code &code, const Target &target, tile::ItemRecordOp item,
                                    tile::VectorSource source, Value positions, Value elements,
                                    unsigned lanes) {
  auto frame = [&](Type element) {
    return allocateInFrame(item, MemRefType::get({static_cast<int64_t>(lanes)}, element));
  };
  Value positionOfLane = frame(code.getIndexType()), elementOfLane = frame(code.getIndexType()),
        loaded = frame(code.getF32Type());
  code.storeVector(positions, positionOfLane, code.index(0));
  code.storeVector(elements, elementOfLane, code.index(0));
  code.loop(code.index(0), code.index(lanes), 1, [&](Value lane) {
    Value address = vectorAddress(code, item, source, code.loadScalar(positionOfLane, lane));
    Value element = code.loadScalar(elementOfLane, lane);
    code.storeScalar(loadVectorElements(code, target, item, address, element, 1), loaded, lane);
  });
  return code.loadVector(lanes, loaded, code.index(0));
}
