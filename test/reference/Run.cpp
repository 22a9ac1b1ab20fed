#include "Run.h"

#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>

namespace skim::reference::testing {

static Tokens makeTokens(int64_t tokens, int64_t heads, int64_t dim, double phase) {
  Tokens result{tokens, heads, dim, {}};
  for (int64_t i = 0; i < tokens * heads * dim; ++i)
    result.data.push_back(std::sin(phase + 1.7 * static_cast<double>(i)));
  return result;
}

Problem makeProblem(const Shape &shape) {
  Problem problem;
  int64_t keys = 0;
  for (auto [qLen, kvLen] : shape.lengths) {
    problem.cuSeqlensQ.push_back(problem.cuSeqlensQ.back() + qLen);
    problem.kvLens.push_back(kvLen);
    keys += kvLen;
  }
  problem.q = makeTokens(problem.cuSeqlensQ.back(), shape.queryHeads, shape.dim, 0.1);
  problem.k = makeTokens(keys, shape.kvHeads, shape.dim, 0.5);
  problem.v = makeTokens(keys, shape.kvHeads, shape.valueDim, 0.9);
  return problem;
}

Problem makeProblem(int64_t qLen, int64_t kvLen) {
  return makeProblem(Shape{.lengths = {{qLen, kvLen}}});
}

static std::variant<Result, Error> interpretText(const std::string &text, const Problem &problem,
                                                 const Options &options = {}) {
  text::Diagnostics diagnostics;
  text::Program program =
      text::loadBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, "test.skim"), diagnostics);
  const text::Pattern *pattern = text::findEntry(program, "", diagnostics);
  if (!pattern || diagnostics.hasErrors()) {
    std::string message;
    llvm::raw_string_ostream os(message);
    diagnostics.print(os);
    ADD_FAILURE() << "the test's program does not parse: " << message;
    return Error{"does not parse", {}};
  }
  return interpret(program, *pattern, problem, options);
}

Result run(const std::string &text, const Problem &problem, const Options &options) {
  auto outcome = interpretText(text, problem, options);
  if (auto *error = std::get_if<Error>(&outcome)) {
    ADD_FAILURE() << error->message << "\n" << text;
    return {};
  }
  return std::get<Result>(std::move(outcome));
}

Error fail(const std::string &text, const Problem &problem, const Options &options) {
  auto outcome = interpretText(text, problem, options);
  if (auto *error = std::get_if<Error>(&outcome))
    return *error;
  ADD_FAILURE() << "no error from\n" << text;
  return {};
}

std::vector<std::string> kept(const Result &result, const Problem &problem, int64_t request,
                              int64_t head) {
  std::vector<std::string> rows;
  if (result.heads == 0) // `run` failed.
    return rows;
  for (int64_t row = problem.cuSeqlensQ[request]; row < problem.cuSeqlensQ[request + 1]; ++row) {
    rows.emplace_back();
    for (int64_t key = 0; key < problem.kvLens[request]; ++key)
      rows.back() += result.isKept(head, row, key) ? '1' : '0';
  }
  return rows;
}

std::vector<std::string> keptBy(const std::string &text, const Problem &problem, int64_t head) {
  return kept(run(text, problem), problem, 0, head);
}

std::string lastRowKeptBy(const std::string &text, const Problem &problem) {
  std::vector<std::string> rows = keptBy(text, problem);
  return rows.empty() ? "nothing ran" : rows.back();
}

Row attendKept(const Result &result, const Problem &problem, int64_t head, int64_t token) {
  int64_t request = 0, firstKey = 0;
  while (token >= problem.cuSeqlensQ[request + 1])
    firstKey += problem.kvLens[request++];
  int64_t kvHead = head / (problem.q.heads / problem.k.heads);
  double scale = problem.softmaxScale.value_or(1 / std::sqrt(double(problem.q.dim)));
  Row row{std::vector<double>(problem.v.dim), -std::numeric_limits<double>::infinity()};
  double total = 0;
  for (int64_t key = 0; key < problem.kvLens[request]; ++key) {
    if (!result.isKept(head, token, key))
      continue;
    double score = 0;
    for (int64_t i = 0; i < problem.q.dim; ++i)
      score += problem.q.row(token, head)[i] * problem.k.row(firstKey + key, kvHead)[i];
    double weight = std::exp(score * scale);
    total += weight;
    for (int64_t i = 0; i < problem.v.dim; ++i)
      row.out[i] += weight * problem.v.row(firstKey + key, kvHead)[i];
  }
  if (total > 0) {
    row.lse = std::log(total);
    for (double &x : row.out)
      x /= total;
  }
  return row;
}

} // namespace skim::reference::testing
