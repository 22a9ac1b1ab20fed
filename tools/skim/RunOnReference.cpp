// Runs a job on the reference interpreter.
#include "tools/skim/Failure.h"
#include "tools/skim/Job.h"
#include "tools/skim/Progress.h"

#include "frontends/text/Diagnostics.h"
#include "frontends/text/Loader.h"
#include "reference/Interpreter.h"
#include <skim/Compiler.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace skim::tool {
namespace {

double elementAt(const TensorView &view, int64_t index) {
  switch (view.dtype) {
  case DType::F32:
    return static_cast<const float *>(view.data)[index];
  case DType::F16:
    return f16ToF32(static_cast<const uint16_t *>(view.data)[index]);
  case DType::BF16:
    return bf16ToF32(static_cast<const uint16_t *>(view.data)[index]);
  case DType::U8:
    return static_cast<const uint8_t *>(view.data)[index];
  case DType::I32:
    return static_cast<const int32_t *>(view.data)[index];
  case DType::I64:
    return static_cast<double>(static_cast<const int64_t *>(view.data)[index]);
  case DType::F64:
    return static_cast<const double *>(view.data)[index];
  case DType::F8E4M3:
    return f8E4m3ToF32(static_cast<const uint8_t *>(view.data)[index]);
  }
  return 0;
}

/// The tokens of all requests one after another.
reference::Tokens queries(const HostBatch &batch) {
  reference::Tokens tokens{batch.queryTokens(), batch.queryHeads, batch.headDim, {}};
  tokens.data.resize(tokens.tokens * tokens.heads * tokens.dim);
  for (size_t i = 0; i < tokens.data.size(); ++i)
    tokens.data[i] = elementAt(batch.q, static_cast<int64_t>(i));
  return tokens;
}

/// Keys or values, gathered from their pages where they are paged.
reference::Tokens keysOrValues(const HostBatch &batch, const TensorView &view, int64_t dim) {
  reference::Tokens tokens{batch.keyTokens(), batch.kvHeads, dim, {}};
  int64_t row = tokens.heads * dim;
  tokens.data.reserve(tokens.tokens * row);
  for (int64_t request = 0; request < batch.requests(); ++request)
    for (int64_t token = 0; token < batch.kvLens[request]; ++token) {
      int64_t slot = batch.cuSeqlensKv[request] + token;
      if (batch.isPaged()) {
        int64_t page = batch.blockTable[request * batch.maxPages + token / batch.pageSize];
        slot = page * batch.pageSize + token % batch.pageSize;
      }
      for (int64_t i = 0; i < row; ++i)
        tokens.data.push_back(elementAt(view, slot * row + i));
    }
  return tokens;
}

llvm::Expected<reference::Problem> makeProblem(const Job &job) {
  HostBatch &batch = job.batch;
  reference::Problem problem;
  problem.q = queries(batch);
  problem.k = keysOrValues(batch, batch.k, batch.headDim);
  problem.v = keysOrValues(batch, batch.v, batch.valueDim);
  problem.cuSeqlensQ.assign(batch.cuSeqlensQ.begin(), batch.cuSeqlensQ.end());
  problem.kvLens.assign(batch.kvLens.begin(), batch.kvLens.end());
  problem.layer = job.layer;
  for (const auto &[name, setting] : job.settings)
    problem.parameters[name] = setting.values;
  std::set<std::string> needed = job.source.inputNames();
  for (const auto &[name, type] : job.source.inputTypes()) {
    llvm::Expected<std::optional<NamedTensor>> input = batch.input(name);
    if (!input)
      return input.takeError();
    const std::optional<NamedTensor> &found = *input;
    if (!found) {
      if (needed.count(name) != 0)
        return missingInput(name);
      continue;
    }
    const TensorView &view = found->tensor;
    if (view.dtype != type)
      return wrongInput("input '" + name + "': expected " +
                        (type == DType::U8 ? "bool (uint8)" : dtypeName(type)) + " but got " +
                        view.describe());
    reference::InputValue &value = problem.inputs[name];
    value.shape.assign(view.shape.begin(), view.shape.begin() + view.rank);
    value.data.resize(
        std::accumulate(value.shape.begin(), value.shape.end(), int64_t(1), std::multiplies<>()));
    for (size_t i = 0; i < value.data.size(); ++i)
      value.data[i] = elementAt(view, static_cast<int64_t>(i));
  }
  return problem;
}

/// The interpreter takes patterns that the checker accepts, so it is asked first.
llvm::Error check(const Job &job, const Pattern &pattern, Variant variant) {
  std::string warnings;
  Expected<std::string> checked = Compiler().emit(pattern, compileOptions(job), Stage::Skim,
                                                  variant == Variant::Asked ? &warnings : nullptr);
  if (!checked)
    return failureOf(checked.status());
  messages() << warnings;
  return llvm::Error::success();
}

GatheredTokens gatheredTokens(const HostBatch &batch, const reference::Result &result) {
  GatheredTokens gathered;
  for (const auto &heads : result.compacted)
    for (const std::vector<int64_t> &positions : heads) {
      gathered.positions.insert(gathered.positions.end(), positions.begin(), positions.end());
      gathered.counts.push_back(static_cast<int32_t>(positions.size()));
      gathered.positions.resize(gathered.counts.size() * batch.longestKv(), -1);
    }
  return gathered;
}

} // namespace

llvm::Expected<Outcome> runOnReference(const Job &job, Variant variant) {
  auto start = std::chrono::steady_clock::now();
  auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  llvm::Expected<int64_t> bytes = keptBytes(job.batch);
  if (!bytes)
    return bytes.takeError();
  Pattern pattern = job.source.variant(variant);
  if (llvm::Error error = check(job, pattern, variant))
    return error;

  text::Diagnostics diagnostics;
  text::Program program = text::loadBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(pattern.text(), pattern.path()), diagnostics);
  const text::Pattern *entry = program.find(job.source.entry().name);
  llvm::Expected<reference::Problem> problem = makeProblem(job);
  if (!problem)
    return problem.takeError();

  Outcome outcome;
  outcome.compileSeconds = seconds();
  std::vector<double> times;
  Progress progress("interpreting " + workName(job, variant));
  for (int64_t i = 0; i < job.repeat; ++i) {
    progress.show("interpreting " + workName(job, variant) + ", " + llvm::Twine(i + 1) + " of " +
                  llvm::Twine(job.repeat));
    double before = seconds();
    auto answer = reference::interpret(program, *entry, *problem);
    times.push_back(seconds() - before);
    if (const auto *error = std::get_if<reference::Error>(&answer)) {
      if (error->range.isValid()) {
        diagnostics.sources().PrintMessage(messages(), error->range.Start,
                                           llvm::SourceMgr::DK_Error, error->message, error->range);
        return alreadyReported();
      }
      return wrongInput(error->message);
    }
    auto &result = std::get<reference::Result>(answer);
    outcome.out.assign(result.out.begin(), result.out.end());
    outcome.lse.assign(result.lse.begin(), result.lse.end());
    outcome.restEntries =
        std::accumulate(result.restEntries.begin(), result.restEntries.end(), int64_t(0));
    outcome.keptPairsOfHeads.clear();
    auto perHead = static_cast<int64_t>(result.kept.size()) / job.batch.queryHeads;
    for (int64_t head = 0; head < job.batch.queryHeads; ++head)
      outcome.keptPairsOfHeads.push_back(
          llvm::count_if(llvm::ArrayRef(result.kept).slice(head * perHead, perHead),
                         [](uint8_t kept) { return kept != 0; }));
    outcome.keptPairs = std::accumulate(outcome.keptPairsOfHeads.begin(),
                                        outcome.keptPairsOfHeads.end(), int64_t(0));
    if (job.wantKept)
      outcome.kept = std::move(result.kept);
    if (job.wantGathered && !result.compacted.empty())
      outcome.gathered = gatheredTokens(job.batch, result);
    if (result.indexOutOfRange)
      outcome.problem = result.outOfRange;
    else if (result.unlistedLabel)
      outcome.problem = "a value is not a label of the pattern's match";
  }
  outcome.attentionSeconds = median(times);
  return outcome;
}

} // namespace skim::tool
