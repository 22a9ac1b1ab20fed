// Cases written by hand: a program, lengths and heads; operands from a fixed seed.
#ifndef SKIM_TEST_NUMERICS_CASES_H
#define SKIM_TEST_NUMERICS_CASES_H

#include "test/numerics/ProgramGenerator.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <vector>

namespace skim::numerics {

struct Lengths {
  int64_t qLen, kvLen;
};

struct Heads {
  int64_t heads = 1, kvHeads = 1, dim = 64;
  int64_t valueDim = 0; ///< 0: dim.
  OperandType operand = OperandType::f32;
};

/// The program's last pattern over these requests, with normally distributed operands.
Case makeCase(const std::string &program, const std::vector<Lengths> &requests, const Heads &heads,
              uint64_t seed = 1);

/// Gives the input `name` as `element` (bool, index, f32 or list) with these extents; entry i of
/// its data is value(i).
void addInput(Case &c, const std::string &name, const std::string &element,
              std::vector<int64_t> shape, llvm::function_ref<double(int64_t)> value);

/// One batch of cases that have one request each, one program and heads. Inputs get a request
/// axis and the largest extents; what a request does not have is 0.
Case batchOf(const std::vector<Case> &requests);

/// One request of a batch whose inputs all have a request axis.
Case requestOf(const Case &batch, size_t request);

/// The rows [begin, end) of a case of one request whose rows are all of its keys: a chunk of a
/// prefill, with the keys up to `end`. Inputs of three axes are cut along the second, which is of
/// blocks of `queryBlock` rows; those of two have no such axis.
Case chunkOf(const Case &whole, int64_t begin, int64_t end, int64_t queryBlock);

} // namespace skim::numerics

#endif // SKIM_TEST_NUMERICS_CASES_H
