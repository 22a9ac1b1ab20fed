#include "codegen/cpu/DotBlock.h"

using namespace mlir;
using namespace skim::cpu;

Code::Values DotBlock::multiply(LoadRows rows, Value keys, Value key) {
  unsigned lanes = target.lanes, vectors = target.vectorsInRegisters;
  unsigned blockKeys = target.keysInRegisters;
  Code::Values zeros(static_cast<size_t>(blockKeys) * vectors, code.splat(code.f32(0), lanes));
  return code.loop(
      code.index(0), code.index(dimension), 1, zeros, [&](Value i, ValueRange carried) {
        Code::Values next, loaded;
        for (unsigned v = 0; v < vectors; ++v)
          loaded.push_back(rows(i, static_cast<int64_t>(v) * lanes));
        for (unsigned j = 0; j < blockKeys; ++j) {
          Value at = code.add(key, code.index(j));
          Value element = code.splat(code.loadScalar(keys, {at, i}), lanes);
          for (unsigned v = 0; v < vectors; ++v)
            next.push_back(code.multiplyAdd(element, loaded[v], carried[j * vectors + v]));
        }
        return next;
      });
}
