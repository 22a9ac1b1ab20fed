#include "test/examples/Examples.h"

#include <cmath>
#include <fstream>
#include <sstream>

namespace skim::examples {
namespace {

using numerics::addInput;
using numerics::Case;
using Random = std::mt19937_64;

/// Blocks of rows that the one request of a case touches.
int64_t rowBlocks(const Case &c, int64_t size) {
  int64_t rows = c.problem.q.tokens, keys = c.problem.kvLens.front();
  return rows == 0 ? 0 : floorDiv(keys - 1, size) - floorDiv(keys - rows, size) + 1;
}
int64_t keyBlocks(const Case &c, int64_t size) {
  return (c.problem.kvLens.front() + size - 1) / size;
}
int64_t heads(const Case &c) { return c.problem.q.heads; }
int64_t kvHeads(const Case &c) { return c.problem.k.heads; }

int64_t below(Random &random, int64_t limit) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
}
double normal(Random &random) { return std::normal_distribution<float>()(random); }

void addLayout(Case &c, Random &random) {
  addInput(c, "layout", "bool", {heads(c), rowBlocks(c, 128), keyBlocks(c, 128)},
           [&](int64_t) { return below(random, 2); });
}
/// Lists with duplicates, in any order, padded.
void addBlocks(Case &c, Random &random) {
  addInput(c, "blocks", "list", {kvHeads(c), rowBlocks(c, 64), 3},
           [&](int64_t) { return below(random, keyBlocks(c, 64) + 1) - 1; });
}
void addChosen(Case &c, Random &random) {
  addInput(c, "chosen", "bool", {kvHeads(c), c.problem.kvLens.front()},
           [&](int64_t) { return below(random, 10) == 0; });
}
/// Few values, so that many are equal.
void addImportance(Case &c, Random &random) {
  addInput(c, "importance", "f32", {kvHeads(c), c.problem.kvLens.front()},
           [&](int64_t) { return std::round(4 * normal(random)) / 4; });
}
void addStart(Case &c, Random &random) {
  int64_t begin = 0, base = c.problem.kvLens.front() - c.problem.q.tokens;
  addInput(c, "start", "index", {c.problem.q.tokens}, [&](int64_t row) {
    if (below(random, 40) == 0)
      begin = std::max<int64_t>(0, base + row);
    return begin;
  });
}
void addKind(Case &c, Random &random) {
  addInput(c, "kind", "index", {heads(c)}, [](int64_t head) { return (head + 1) % 2; });
}
void addGates(Case &c, Random &) {
  // The same for all requests: a weight belongs to the model.
  Random random(7);
  auto weight = [&](int64_t) { return normal(random) / 4; };
  addInput(c, "gate_query", "vec", {heads(c), 8, c.problem.q.dim}, weight);
  for (const char *name : {"gate_mean", "gate_max", "gate_min"})
    addInput(c, name, "vec", {kvHeads(c), 8, c.problem.k.dim}, weight);
}

double cappedWithSlope(const Prompt &prompt, int64_t head, double s, int64_t q, int64_t k) {
  double cap = prompt.f32("cap");
  return cap * std::tanh(s / cap) - prompt.parameters.at("slope").at(head) * double(q - k);
}

} // namespace

const std::vector<Example> &allExamples() {
  static const std::vector<Example> examples = {
      {"a_shape", aShape, {{"block", {64}}, {"first", {1}}, {"band", {2}}}},
      {"alibi_soft_cap",
       slidingWindow,
       {{"slope", {0.5, 0.25, 0.125, 0.0625, 0.5, 0.25, 0.125, 0.0625}},
        {"cap", {2}},
        {"window", {75}}},
       nullptr,
       cappedWithSlope},
      {"block_list", blockList, {}, addBlocks},
      {"block_mask", blockMask, {}, addLayout},
      {"causal", causal},
      {"columns", columns, {{"window", {20}}}, addChosen},
      {"dilated_window", dilatedWindow, {{"stride", {3}}, {"near", {10}}, {"reach", {100}}}},
      {"distant_means", streaming, {{"sink", {5}}, {"window", {20}}}, nullptr, nullptr, {64, 64}},
      {"document", document, {}, addStart},
      {"flash_prefill",
       flashPrefill,
       {{"alpha", {0.875}}, {"sink", {10}}, {"window", {20}}},
       nullptr,
       nullptr,
       {128, 128}},
      {"lserve", lserve, {{"window", {50}}}, addKind},
      {"moba", moba, {{"block", {48}}, {"blocks", {3}}}},
      {"peak", peak, {{"mass", {0.125}}, {"window", {20}}}},
      {"quest", quest, {{"pages", {4}}}},
      {"seer_attention", seerAttention, {{"threshold", {0.25}}}, addGates},
      {"short_dense", shortDense, {{"limit", {300}}}},
      {"streaming", streaming, {{"sink", {5}}, {"window", {40}}}},
      {"token_topk", tokenTopK, {{"ratio", {0.25}}, {"window", {20}}}, addImportance},
      {"vertical_slash", verticalSlash, {{"vertical", {20}}, {"slash", {10}}, {"probe", {24}}}},
      {"xattention", xAttention, {{"stride", {8}}, {"mass", {0.5}}, {"sink", {10}}}},
  };
  return examples;
}

std::string programOf(const std::string &name) {
  std::ifstream file(std::string(SKIM_EXAMPLES) + "/" + name + ".skim");
  std::ostringstream text;
  const std::string import = "import \"";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(import))
      text << programOf(line.substr(import.size(), line.rfind(".skim") - import.size()));
    else
      text << line << '\n';
  return text.str();
}

} // namespace skim::examples
