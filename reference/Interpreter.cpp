#include "reference/Interpreter.h"

#include "reference/Attention.h"
#include "reference/Evaluator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace skim::reference {

// Far above what the reference can work through, and far below overflow.
constexpr int64_t maxHeads = 1 << 16, maxDim = 1 << 16, maxTokens = 1 << 30;
constexpr uint64_t maxKept = uint64_t(1) << 32;
constexpr uint64_t maxInput = uint64_t(1) << 40;

/// Elements of an array; saturates. Zero extents count as one: what matters here
/// is that no stride overflows.
static uint64_t strideBound(llvm::ArrayRef<int64_t> shape) {
  uint64_t size = 1;
  for (int64_t extent : shape)
    size = llvm::SaturatingMultiply<uint64_t>(size, std::max<int64_t>(extent, 1));
  return size;
}

static std::string checkTokens(const char *name, const Tokens &operand, int64_t tokens) {
  auto wrong = [&](const std::string &text) {
    return "operand '" + std::string(name) + "': " + text;
  };
  if (operand.heads < 1 || operand.heads > maxHeads)
    return wrong("unexpected number of heads " + std::to_string(operand.heads));
  if (operand.dim < 1 || operand.dim > maxDim)
    return wrong("unexpected dimension " + std::to_string(operand.dim));
  if (operand.tokens != tokens)
    return wrong("expected " + std::to_string(tokens) + " tokens but got " +
                 std::to_string(operand.tokens));
  if (static_cast<int64_t>(operand.data.size()) != tokens * operand.heads * operand.dim)
    return wrong("size of the data does not fit its shape");
  return "";
}

/// What a launch checks of its batch (rule 15); empty when all is well.
static std::string checkProblem(const Problem &problem) {
  size_t requests = problem.kvLens.size();
  const auto &starts = problem.cuSeqlensQ;
  if (starts.size() != requests + 1 || starts.front() != 0 || !llvm::is_sorted(starts))
    return "cu_seqlens_q: expected " + std::to_string(requests + 1) + " ascending numbers from 0";
  int64_t kvTokens = 0;
  for (int64_t length : problem.kvLens) {
    if (length < 0 || length > maxTokens - kvTokens)
      return "kv_lens: unexpected length " + std::to_string(length);
    kvTokens += length;
  }
  if (starts.back() > maxTokens)
    return "cu_seqlens_q: too many tokens for the reference";
  for (std::string wrong :
       {checkTokens("q", problem.q, starts.back()), checkTokens("k", problem.k, kvTokens),
        checkTokens("v", problem.v, kvTokens)})
    if (!wrong.empty())
      return wrong;
  if (problem.k.heads != problem.v.heads || problem.q.heads % problem.k.heads != 0)
    return "heads: expected as many of v as of k, and a multiple of those of q";
  if (problem.q.dim != problem.k.dim)
    return "head dimensions of q and k differ: " + std::to_string(problem.q.dim) + " and " +
           std::to_string(problem.k.dim);
  if (std::abs(problem.layer) > int64_t(1) << 31)
    return "layer: expected an index from -2^31 to 2^31 but got " + std::to_string(problem.layer);
  for (const auto &[name, input] : problem.inputs) {
    bool negative = llvm::any_of(input.shape, [](int64_t extent) { return extent < 0; });
    if (negative || strideBound(input.shape) > maxInput)
      return "input '" + name + "': unexpected shape";
    bool empty = llvm::is_contained(input.shape, 0);
    if (input.data.size() != (empty ? 0 : strideBound(input.shape)))
      return "input '" + name + "': size of the data does not fit its shape";
  }
  return "";
}

std::variant<Result, Error> interpret(const text::Program &program, const text::Pattern &pattern,
                                      const Problem &given, const Options &options) {
  if (std::string wrong = checkProblem(given); !wrong.empty())
    return Error{wrong, {}};
  Problem problem = given;
  if (!problem.softmaxScale)
    problem.softmaxScale = 1 / std::sqrt(static_cast<double>(problem.q.dim));

  Result result;
  result.heads = problem.q.heads;
  result.tokens = problem.q.tokens;
  result.valueDim = problem.v.dim;
  for (int64_t length : problem.kvLens)
    result.maxKvLen = std::max(result.maxKvLen, length);
  uint64_t pairs =
      llvm::SaturatingMultiply<uint64_t>(result.heads * result.tokens, result.maxKvLen);
  if (pairs > maxKept)
    return Error{"the batch is too large for the reference", {}};
  result.out.resize(result.tokens * result.heads * result.valueDim);
  result.lse.resize(result.heads * result.tokens);
  if (!options.kept.empty() && options.kept.size() != pairs)
    return Error{"kept: expected " + std::to_string(pairs) + " pairs but got " +
                     std::to_string(options.kept.size()),
                 {}};
  result.kept.resize(pairs);
  if (options.open)
    result.open.resize(pairs);
  result.restEntries.resize(result.heads);

  auto hasClause = [&](text::Item::Kind kind) {
    return llvm::any_of(pattern.items, [&](const text::Item &item) { return item.kind == kind; });
  };
  size_t requests = problem.kvLens.size();
  if (hasClause(text::Item::Kind::Compact))
    result.compacted = result.openCompacted =
        std::vector(requests, std::vector<std::vector<int64_t>>(result.heads));

  PairCounts counts{std::vector<int64_t>(result.heads), std::vector<int64_t>(result.heads)};
  Request request;
  request.queryHeads = problem.q.heads;
  request.kvHeads = problem.k.heads;
  request.withErrors = options.open;
  request.causal = !hasClause(text::Item::Kind::Noncausal);
  for (size_t i = 0; i < requests; ++i) {
    request.index = i;
    request.firstRow = problem.cuSeqlensQ[i];
    request.qLen = problem.cuSeqlensQ[i + 1] - problem.cuSeqlensQ[i];
    request.kvLen = problem.kvLens[i];
    Evaluator evaluator(program, problem, request, result);
    std::optional<Clauses> clauses = evaluator.evaluate(pattern);
    if (!clauses)
      return *evaluator.error();
    attend(request, problem, *clauses, evaluator, options, result, counts);
    request.firstKey += request.kvLen;
  }
  result.visible = counts.visible;
  for (int64_t head = 0; head < result.heads; ++head)
    result.density.push_back(counts.visible[head] == 0
                                 ? 1.0
                                 : static_cast<double>(counts.kept[head]) / counts.visible[head]);
  return result;
}

} // namespace skim::reference
