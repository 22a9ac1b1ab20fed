#include "test/numerics/Cases.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace skim::numerics {
namespace {

/// The nearest bf16 or f16 number, as a double; good for the size of normal variates.
double exactIn(OperandType type, double value) {
  if (type == OperandType::f32 || value == 0)
    return static_cast<float>(value);
  int bits = type == OperandType::bf16 ? 8 : 11;
  double spacing = std::ldexp(1.0, std::ilogb(value) - (bits - 1));
  return std::nearbyint(value / spacing) * spacing;
}

reference::Tokens normalTokens(std::mt19937_64 &random, OperandType type, int64_t tokens,
                               int64_t heads, int64_t dim) {
  std::normal_distribution<double> normal;
  reference::Tokens operand{tokens, heads, dim, {}};
  operand.data.resize(tokens * heads * dim);
  for (double &value : operand.data)
    value = exactIn(type, normal(random));
  return operand;
}

void append(reference::Tokens &to, const reference::Tokens &from) {
  to.tokens += from.tokens;
  to.data.insert(to.data.end(), from.data.begin(), from.data.end());
}

reference::Tokens rowsOf(const reference::Tokens &tokens, int64_t begin, int64_t end) {
  int64_t row = tokens.heads * tokens.dim;
  return {end - begin,
          tokens.heads,
          tokens.dim,
          {tokens.data.begin() + begin * row, tokens.data.begin() + end * row}};
}

int64_t elements(const std::vector<int64_t> &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

/// Copies a box into the corner of a larger one of the same rank.
void copyInto(const reference::InputValue &from, reference::InputValue &to, int64_t offset) {
  std::vector<int64_t> at(from.shape.size(), 0);
  for (double value : from.data) {
    int64_t position = 0;
    for (size_t axis = 0; axis != at.size(); ++axis)
      position = position * to.shape[axis + 1] + at[axis];
    to.data[offset + position] = value;
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] != from.shape[axis])
        break;
      at[axis] = 0;
    }
  }
}

} // namespace

Case makeCase(const std::string &program, const std::vector<Lengths> &requests, const Heads &heads,
              uint64_t seed) {
  Case c;
  c.seed = seed;
  c.program = program;
  size_t name = program.rfind("pattern ") + 8;
  c.pattern = program.substr(name, program.find_first_of("({ ", name) - name);
  c.operand = heads.operand;
  std::mt19937_64 random(seed);
  int64_t tokens = 0, keys = 0;
  for (const Lengths &lengths : requests) {
    tokens += lengths.qLen;
    keys += lengths.kvLen;
    c.problem.cuSeqlensQ.push_back(tokens);
    c.problem.kvLens.push_back(lengths.kvLen);
  }
  c.problem.q = normalTokens(random, heads.operand, tokens, heads.heads, heads.dim);
  c.problem.k = normalTokens(random, heads.operand, keys, heads.kvHeads, heads.dim);
  c.problem.v = normalTokens(random, heads.operand, keys, heads.kvHeads,
                             heads.valueDim ? heads.valueDim : heads.dim);
  return c;
}

void addInput(Case &c, const std::string &name, const std::string &element,
              std::vector<int64_t> shape, llvm::function_ref<double(int64_t)> value) {
  reference::InputValue input;
  input.data.resize(elements(shape));
  input.shape = std::move(shape);
  for (size_t i = 0; i != input.data.size(); ++i)
    input.data[i] = value(i);
  c.problem.inputs[name] = std::move(input);
  c.inputElements[name] = element;
}

Case batchOf(const std::vector<Case> &requests) {
  Case batch = requests.front();
  for (size_t r = 1; r != requests.size(); ++r) {
    const reference::Problem &problem = requests[r].problem;
    batch.problem.cuSeqlensQ.push_back(batch.problem.cuSeqlensQ.back() + problem.q.tokens);
    batch.problem.kvLens.push_back(problem.kvLens.front());
    append(batch.problem.q, problem.q);
    append(batch.problem.k, problem.k);
    append(batch.problem.v, problem.v);
  }
  for (auto &[name, value] : batch.problem.inputs) {
    reference::InputValue joined;
    joined.shape = value.shape;
    for (const Case &request : requests)
      for (size_t axis = 0; axis != joined.shape.size(); ++axis)
        joined.shape[axis] =
            std::max(joined.shape[axis], request.problem.inputs.at(name).shape[axis]);
    int64_t size = elements(joined.shape);
    joined.shape.insert(joined.shape.begin(), requests.size());
    joined.data.assign(size * requests.size(), 0);
    for (size_t r = 0; r != requests.size(); ++r)
      copyInto(requests[r].problem.inputs.at(name), joined, r * size);
    value = std::move(joined);
  }
  return batch;
}

Case requestOf(const Case &batch, size_t request) {
  Case c = batch;
  const reference::Problem &problem = batch.problem;
  int64_t firstRow = problem.cuSeqlensQ[request], endRow = problem.cuSeqlensQ[request + 1];
  int64_t firstKey =
      std::accumulate(problem.kvLens.begin(), problem.kvLens.begin() + request, int64_t(0));
  int64_t keys = problem.kvLens[request];
  c.problem.cuSeqlensQ = {0, endRow - firstRow};
  c.problem.kvLens = {keys};
  c.problem.q = rowsOf(problem.q, firstRow, endRow);
  c.problem.k = rowsOf(problem.k, firstKey, firstKey + keys);
  c.problem.v = rowsOf(problem.v, firstKey, firstKey + keys);
  for (auto &[name, value] : c.problem.inputs) {
    int64_t size = elements(value.shape) / value.shape.front();
    auto first = value.data.begin() + static_cast<int64_t>(request) * size;
    value.data = std::vector<double>(first, first + size);
    value.shape.front() = 1;
  }
  return c;
}

Case chunkOf(const Case &whole, int64_t begin, int64_t end, int64_t queryBlock) {
  Case chunk = whole;
  chunk.problem.cuSeqlensQ = {0, end - begin};
  chunk.problem.kvLens = {end};
  chunk.problem.q = rowsOf(whole.problem.q, begin, end);
  chunk.problem.k = rowsOf(whole.problem.k, 0, end);
  chunk.problem.v = rowsOf(whole.problem.v, 0, end);
  for (auto &[name, value] : chunk.problem.inputs) {
    const reference::InputValue &source = whole.problem.inputs.at(name);
    if (source.shape.size() == 2)
      continue; // without an axis of queries
    int64_t firstBlock = begin / queryBlock;
    int64_t blocks = (end + queryBlock - 1) / queryBlock - firstBlock;
    value.shape[1] = blocks;
    value.data.clear();
    int64_t row = source.shape[2];
    for (int64_t head = 0; head != source.shape[0]; ++head) {
      auto start = source.data.begin() + (head * source.shape[1] + firstBlock) * row;
      value.data.insert(value.data.end(), start, start + blocks * row);
    }
  }
  return chunk;
}

} // namespace skim::numerics
