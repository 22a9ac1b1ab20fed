// The example patterns: under which parameters and on which inputs each is tested, and its
// restatement.
#ifndef SKIM_TEST_EXAMPLES_EXAMPLES_H
#define SKIM_TEST_EXAMPLES_EXAMPLES_H

#include "test/examples/Attend.h"
#include "test/examples/Restatements.h"
#include "test/numerics/Cases.h"

#include <map>
#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace skim::examples {

struct Example {
  std::string name; ///< Of its file and its pattern.
  Relation (*restate)(const Prompt &prompt) = nullptr;
  /// One value, or one a head (cut to the heads of a case).
  std::map<std::string, std::vector<double>> parameters = {};
  /// Adds its inputs to a case of one request.
  void (*addInputs)(numerics::Case &c, std::mt19937_64 &random) = nullptr;
  Logit logit = nullptr;
  Rest rest = {};
};

/// For the messages of tests.
inline std::ostream &operator<<(std::ostream &os, const Example &example) {
  return os << example.name;
}

const std::vector<Example> &allExamples();

/// The text of an example with its imports in place.
std::string programOf(const std::string &name);

} // namespace skim::examples

#endif // SKIM_TEST_EXAMPLES_EXAMPLES_H
