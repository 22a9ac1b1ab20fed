// Writes one random pattern, well typed by construction: an expression is drawn for
// given axes, and each of its leaves has some of these axes and no others.
#ifndef SKIM_TEST_NUMERICS_PATTERNWRITER_H
#define SKIM_TEST_NUMERICS_PATTERNWRITER_H

#include "CaseShape.h"

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

namespace skim::numerics {

/// Joins `parts`, which a braced list evaluates from left to right: the order in
/// which random numbers are drawn must not depend on the compiler.
std::string join(std::initializer_list<std::string> parts);

/// A pattern that later ones may call.
struct Callee {
  std::string name;
  std::vector<std::string> indexParameters; ///< Those that a call may set.
};

/// What all patterns of a case share.
struct Draw {
  Case &result;
  Random &random;
  bool noncausal = false;
  int64_t names = 0; ///< Makes names unique.
  std::vector<Callee> callees = {};

  std::string newName(const char *stem) { return stem + std::to_string(names++); }
};

/// A number as the language writes it; parenthesised when negative.
std::string constant(double value);

class PatternWriter {
public:
  /// `isEntry`: the pattern that is run, to which a launch gives parameters.
  PatternWriter(Draw &draw, std::string name, bool isEntry)
      : draw(draw), random(draw.random), name(std::move(name)), isEntry(isEntry) {}

  /// The text of the pattern.
  std::string write();
  Callee callee() const { return {name, callableParameters}; }

private:
  using Axes = InputAxes;

  // PatternWriter.cpp: parameters, inputs, clauses.
  void addClause(const std::string &text) { body += "  " + text + "\n"; }
  std::string addParameter(const std::string &type, double value, bool perHead,
                           double most = HUGE_VAL);
  std::string indexParameter(int64_t low, int64_t high);
  /// No launch gives more than `most`.
  std::string f32Parameter(double value, double most = HUGE_VAL);
  std::string blockSize(int64_t block);
  std::string addInput(InputElement element, const Axes &axes,
                       IndexRange range = IndexRange::Positions, int64_t vectorSize = 0);
  void writeClauses();
  std::string logit();
  std::string denseCondition();

  // SetWriter.cpp: sets that are affine or come from inputs.
  std::string set(int depth);
  std::string leaf();
  std::string affineSet();
  std::string uniformSet();
  std::string boolSet();
  std::string listSet();
  std::string indexSet();
  std::string f32Set();
  std::string selection();
  std::string selectionOf(const std::string &map);
  std::string cover(int depth);
  std::string match(int depth);
  std::string call();
  std::string indexMap(const Axes &axes, int depth);
  std::string f32Map(const Axes &axes, int depth, bool exact);
  std::string inputOver(InputElement element, Axes axes, bool allAxes);
  std::string comparison(bool ordered);
  std::string keyAxis(int64_t block);
  std::string queryAxis(int64_t block);
  int64_t block();
  Axes drawAxes();
  bool isLarge(const Axes &axes) const;

  struct Map {
    std::string text;
    Axes axes;
  };
  // VectorWriter.cpp: vectors over one axis of positions.
  Map vectors(bool isQuery);
  Map changeVectors(Map map);
  Map poolVectors(Map map);
  Map project(Map map, int64_t out);
  std::string castVectors(const std::string &vectors);
  std::string filterOver(const Axes &axes);
  std::string positionAxis(const Axes &axes);
  std::string letOf(const std::string &text);

  // ScoreWriter.cpp: sets that score Q and K.
  std::string scoreSet();
  Map score();
  Map product();
  Map productOfPairs(const Map &query, const Map &key);
  bool hasFewPairs() const;
  Map transform(Map map);
  Map reduceScore(Map map);
  std::string axisOf(const Map &map) const;
  std::string compactClause();

  Draw &draw;
  Random &random;
  std::string name;
  bool isEntry;
  std::vector<std::string> parameters, callableParameters;
  std::string body;
  int leaves = 0;
};

} // namespace skim::numerics

#endif // SKIM_TEST_NUMERICS_PATTERNWRITER_H
