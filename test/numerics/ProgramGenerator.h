// Random well-typed programs with random shapes and inputs: the cases on which
// every target is compared with the reference.
#ifndef SKIM_TEST_NUMERICS_PROGRAMGENERATOR_H
#define SKIM_TEST_NUMERICS_PROGRAMGENERATOR_H

#include "reference/Problem.h"

#include <cstdint>
#include <map>
#include <string>

namespace skim::numerics {

/// Which part of the language a program draws from.
enum class Profile {
  /// Sets that are affine or come from inputs; nothing scores Q and K.
  staticAndInputs,
  /// The whole language.
  whole,
  /// As `staticAndInputs`, over operands of 16 bits with the head dimensions and pages of GPUs.
  hopper
};

enum class OperandType { f32, bf16, f16 };

/// One program and all that it runs on; a function of profile and seed alone.
struct Case {
  Profile profile = Profile::staticAndInputs;
  uint64_t seed = 0;

  std::string program; ///< `.skim` text; the pattern to run is the last one.
  std::string pattern; ///< Its name.

  /// Every value of Q, K and V is exact in this type.
  OperandType operand = OperandType::f32;
  int64_t pageSize = 0; ///< 0: contiguous keys and values.
  bool scores = false;  ///< The program scores Q and K somewhere, or gathers tokens.
  reference::Problem problem;
  /// Values of `constexpr` parameters that replace their defaults; in
  /// `problem.parameters` as well.
  std::map<std::string, double> constants;
  /// The element type of each of `problem.inputs`: bool, index, f32, vec or list (of which
  /// `NAME_counts` is an index).
  std::map<std::string, std::string> inputElements;

  /// Program, shapes and seed: what a failing test prints.
  std::string describe() const;
};

Case generateCase(Profile profile, uint64_t seed);

/// The same without the numbers of Q, K and V: enough to compile.
Case generateProgram(Profile profile, uint64_t seed);

} // namespace skim::numerics

#endif // SKIM_TEST_NUMERICS_PROGRAMGENERATOR_H
