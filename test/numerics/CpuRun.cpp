#include "test/numerics/CpuRun.h"

#include "frontends/text/Loader.h"
#include "reference/Interpreter.h"
#include "runtime/LaunchPlan.h"

#include <skim/WorkspaceMemory.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace skim::numerics {
namespace {

DType dtypeOf(OperandType type) {
  switch (type) {
  case OperandType::f32:
    return DType::F32;
  case OperandType::bf16:
    return DType::BF16;
  case OperandType::f16:
    return DType::F16;
  }
  return DType::F32;
}

Parameters parametersFor(const LaunchPlan &plan, const reference::Problem &problem) {
  Parameters parameters;
  for (const ParameterDescription &p : plan.parameters) {
    auto given = problem.parameters.find(p.name);
    if (given == problem.parameters.end())
      continue;
    const std::vector<double> &values = given->second;
    if (p.type == ParameterType::F32)
      parameters.push_back(
          {p.name, values.size() == 1 ? ParameterValue(values[0]) : ParameterValue(values)});
    else if (p.type == ParameterType::Index)
      parameters.push_back({p.name, values.size() == 1 ? ParameterValue(int64_t(values[0]))
                                                       : ParameterValue(std::vector<int64_t>(
                                                             values.begin(), values.end()))});
    else
      parameters.push_back({p.name, values.size() == 1 ? ParameterValue(values[0] != 0)
                                                       : ParameterValue(std::vector<bool>(
                                                             values.begin(), values.end()))});
  }
  return parameters;
}

/// The largest |scale * q . k| over the kept pairs of one head, for the bound of f32.
double largestLogit(const Case &c, const reference::Result &expected, int64_t head) {
  const reference::Problem &p = c.problem;
  double scale = p.softmaxScale.value_or(1 / std::sqrt(double(p.q.dim)));
  int64_t group = p.q.heads / p.k.heads;
  double largest = 0;
  int64_t firstKey = 0;
  for (size_t r = 0; r != p.kvLens.size(); ++r) {
    for (int64_t t = p.cuSeqlensQ[r]; t != p.cuSeqlensQ[r + 1]; ++t)
      for (int64_t k = 0; k != p.kvLens[r]; ++k) {
        if (!expected.isKept(head, t, k))
          continue;
        llvm::ArrayRef<double> query = p.q.row(t, head), key = p.k.row(firstKey + k, head / group);
        double sum = std::inner_product(query.begin(), query.end(), key.begin(), 0.0);
        largest = std::max(largest, std::abs(scale * sum));
      }
    firstKey += p.kvLens[r];
  }
  return largest;
}

} // namespace

CompileOptions optionsFor(const Case &c) {
  CompileOptions options;
  options.pattern = c.pattern;
  options.queryHeads = c.problem.q.heads;
  options.kvHeads = c.problem.k.heads;
  options.headDim = c.problem.q.dim;
  options.valueDim = c.problem.v.dim;
  options.dtype = dtypeOf(c.operand);
  options.writesKept = true;
  for (const auto &[name, input] : c.problem.inputs)
    options.inputShapes[name] = input.shape;
  text::Diagnostics diagnostics;
  text::Program program =
      text::loadBuffer(llvm::MemoryBuffer::getMemBufferCopy(c.program, "case.skim"), diagnostics);
  if (const text::Pattern *entry = text::findEntry(program, c.pattern, diagnostics))
    for (const text::Parameter &parameter : entry->parameters)
      if (auto given = c.problem.parameters.find(parameter.name);
          parameter.isConstexpr && given != c.problem.parameters.end())
        options.constants[parameter.name] = given->second.front();
  return options;
}

std::string refusalOf(const Status &status) {
  if (status.code() != StatusCode::Unsupported)
    return {};
  llvm::StringRef message = status.message();
  for (llvm::StringRef start : {"sm_90a: ", "expected pages of "})
    if (size_t at = message.find(start); at != llvm::StringRef::npos)
      return message.substr(at).split('\n').first.split(" but got ").first.str();
  return {};
}

Expected<Kernel> compileCase(const Case &c) {
  return Compiler().compile(Pattern::fromText(c.program, "case.skim"), optionsFor(c));
}

PreparedRun::PreparedRun(const Kernel &kernel, const Case &c, const Layout &layout)
    : parameters(parametersFor(kernel.launchPlan(), c.problem)), threads(1 + layout.seed % 2),
      q(c.problem.q, dtypeOf(c.operand), layout.padding),
      cuSeqlensQ(c.problem.cuSeqlensQ.begin(), c.problem.cuSeqlensQ.end()),
      kvLens(c.problem.kvLens.begin(), c.problem.kvLens.end()),
      inputs(kernel.launchPlan(), c.problem) {
  const reference::Problem &problem = c.problem;
  DType dtype = dtypeOf(c.operand);
  int64_t requests = kvLens.size();
  for (int32_t length : kvLens)
    cuSeqlensKv.push_back(cuSeqlensKv.back() + length);

  operands.q = q.view;
  operands.kvLayout = layout.kv;
  operands.cuSeqlensQ = TensorView::contiguous(cuSeqlensQ.data(), DType::I32, {requests + 1});
  operands.kvLens = TensorView::contiguous(kvLens.data(), DType::I32, {requests});
  if (layout.kv == KvLayout::Contiguous) {
    denseKeys = std::make_unique<PaddedRows>(problem.k, dtype, layout.padding);
    denseValues = std::make_unique<PaddedRows>(problem.v, dtype, layout.padding);
    operands.k = denseKeys->view;
    operands.v = denseValues->view;
    operands.cuSeqlensKv = TensorView::contiguous(cuSeqlensKv.data(), DType::I32, {requests + 1});
  } else {
    table = std::make_unique<PageTable>(problem, layout);
    paged = std::make_unique<PagedKeysAndValues>(problem, *table, dtype, layout);
    operands.k = paged->keys;
    operands.v = paged->values;
    operands.blockTable =
        TensorView::contiguous(table->entries.data(), DType::I32, {requests, table->maxPages});
  }
  operands.inputs = inputs.tensors;
  operands.softmaxScale = problem.softmaxScale;
  operands.layer = problem.layer;

  result.heads = problem.q.heads;
  result.tokens = problem.q.tokens;
  result.valueDim = problem.v.dim;
  for (int64_t length : problem.kvLens)
    result.maxKvLen = std::max(result.maxKvLen, length);
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  result.outDtype = kernel.launchPlan().signature.output;
  result.out.assign(result.tokens * result.heads * result.valueDim, kNan);
  result.lse.assign(result.heads * result.tokens, kNan);
  void *out = result.out.data();
  if (result.outDtype != DType::F32) {
    narrowOut = std::make_unique<Floats>(result.outDtype, result.out.size());
    out = narrowOut->data();
  }
  operands.out =
      TensorView::contiguous(out, result.outDtype, {result.tokens, result.heads, result.valueDim});
  operands.lse =
      TensorView::contiguous(result.lse.data(), DType::F32, {result.heads, result.tokens});
  result.gathered.askFor(kernel.launchPlan().signature, problem, operands);
}

void run(const Kernel &kernel, PreparedRun &prepared) {
  RunResult &result = prepared.result;
  Expected<BatchShape> shape =
      BatchShape::of(prepared.operands.cuSeqlensQ, prepared.operands.kvLens);
  Expected<Plan> plan = shape ? kernel.plan(*shape) : Expected<Plan>(shape.status());
  if (!plan) {
    result.status = plan.status();
    return;
  }
  WorkspaceMemory workspace(plan->workspaceBytes());
  std::ranges::fill(workspace.span(), std::byte(0xff));
  RunOptions options;
  options.threads = prepared.threads;
  options.statistics = &result.statistics;
  if (kernel.launchPlan().signature.writesKept) {
    result.kept.assign(result.heads * result.tokens * result.maxKvLen, 0xff);
    options.kept = TensorView::contiguous(result.kept.data(), DType::U8,
                                          {result.heads, result.tokens, result.maxKvLen});
  }
  result.status = kernel.run(
      *plan, prepared.operands, prepared.parameters,
      workspace.span().first(plan->workspaceBytes() - prepared.missingWorkspace), options);
  prepared.widenOut();
}

void PreparedRun::widenOut() {
  if (narrowOut)
    for (size_t i = 0; i != result.out.size(); ++i)
      result.out[i] = narrowOut->get(i);
}

RunResult runOnCpu(const Kernel &kernel, const Case &c, const Layout &layout) {
  PreparedRun prepared(kernel, c, layout);
  run(kernel, prepared);
  return std::move(prepared.result);
}

static ReferenceRun interpret(const Case &c, const reference::Options &options) {
  ReferenceRun run;
  text::Diagnostics diagnostics;
  text::Program program =
      text::loadBuffer(llvm::MemoryBuffer::getMemBufferCopy(c.program, "case.skim"), diagnostics);
  const text::Pattern *entry = text::findEntry(program, c.pattern, diagnostics);
  if (!entry || diagnostics.hasErrors()) {
    llvm::raw_string_ostream stream(run.message);
    diagnostics.print(stream);
    return run;
  }
  auto result = reference::interpret(program, *entry, c.problem, options);
  if (auto *error = std::get_if<reference::Error>(&result)) {
    run.message = error->message;
    return run;
  }
  run.ok = true;
  run.result = std::move(std::get<reference::Result>(result));
  return run;
}

ReferenceRun runOnReference(const Case &c, reference::MeanType means) {
  return interpret(c, {.open = true, .kept = {}, .means = means});
}

ReferenceRun runOnReference(const Case &c, llvm::ArrayRef<uint8_t> kept) {
  return interpret(c, {.open = false, .kept = kept});
}

Agreement openPairs(const reference::Result &expected) {
  Agreement agreement;
  agreement.visible = std::accumulate(expected.visible.begin(), expected.visible.end(), int64_t(0));
  agreement.open = std::count(expected.open.begin(), expected.open.end(), 1);
  return agreement;
}

/// What rounding to an output type adds to the error of a value, whatever its size: half a step of
/// the subnormal numbers.
static double smallestRoundingOf(DType type) { return type == DType::F16 ? 0x1p-25 : 0; }

/// What it adds relative to the value.
static double roundingOf(DType type) {
  switch (type) {
  case DType::BF16:
    return 0x1p-8;
  case DType::F16:
    return 0x1p-11;
  default:
    return 0;
  }
}

/// The pairs; counts those that differ and are open.
static std::string compareKept(const reference::Result &expected, const RunResult &actual,
                               int64_t &forgiven) {
  if (actual.kept.empty())
    return {};
  for (int64_t h = 0; h != expected.heads; ++h)
    for (int64_t t = 0; t != expected.tokens; ++t)
      for (int64_t k = 0; k != expected.maxKvLen; ++k) {
        uint8_t byte = actual.kept[(h * actual.tokens + t) * actual.maxKvLen + k];
        if (byte > 1)
          return llvm::formatv("head {0}, token {1}, key {2}: kept is {3}, expected 0 or 1", h, t,
                               k, unsigned(byte))
              .str();
        bool kept = byte == 1;
        if (kept == expected.isKept(h, t, k))
          continue;
        if (!expected.isOpen(h, t, k))
          return llvm::formatv(
                     "head {0}, token {1}, key {2}: {3} by the reference, {4} by the kernel", h, t,
                     k, kept ? "dropped" : "kept", kept ? "kept" : "dropped")
              .str();
        ++forgiven;
      }
  return {};
}

/// The sums of p |v|: what attention gives where all values are positive.
static ReferenceRun magnitudesOf(const Case &c, const RunResult &actual) {
  Case positive = c;
  for (double &x : positive.problem.v.data)
    x = std::abs(x);
  return actual.kept.empty() ? runOnReference(positive) : runOnReference(positive, actual.kept);
}

/// Outputs and log-sum-exp, where both kept the same pairs.
static std::string compareOutputs(const Case &c, const reference::Result &expected,
                                  const RunResult &actual) {
  std::optional<ReferenceRun> magnitudes;
  if (actual.bounds)
    magnitudes = magnitudesOf(c, actual);
  if (magnitudes && !magnitudes->ok)
    return "the reference refuses: " + magnitudes->message;
  for (int64_t h = 0; h != expected.heads; ++h) {
    double bound = c.operand == OperandType::f32
                       ? 3e-6 * std::max(1.0, largestLogit(c, expected, h) / 4)
                       : 2e-3;
    double lseBound = actual.bounds ? actual.bounds->lse : bound;
    double largest = 0, largestLse = 1;
    for (int64_t t = 0; t != expected.tokens; ++t) {
      for (int64_t i = 0; i != expected.valueDim; ++i)
        largest = std::max(
            largest, std::abs(expected.out[(t * expected.heads + h) * expected.valueDim + i]));
      if (double lse = expected.lse[h * expected.tokens + t]; std::isfinite(lse))
        largestLse = std::max(largestLse, std::abs(lse));
    }
    for (int64_t t = 0; t != expected.tokens; ++t) {
      double lse = expected.lse[h * expected.tokens + t];
      float actualLse = actual.lse[h * expected.tokens + t];
      if (std::isinf(lse) ? double(actualLse) != lse
                          : !(std::abs(actualLse - lse) <= lseBound * largestLse))
        return llvm::formatv("head {0}, token {1}: lse {2:e}, expected {3:e}", h, t, actualLse, lse)
            .str();
      for (int64_t i = 0; i != expected.valueDim; ++i) {
        int64_t at = (t * expected.heads + h) * expected.valueDim + i;
        double allowed = actual.bounds
                             ? actual.bounds->probability * magnitudes->result.out[at] +
                                   roundingOf(actual.outDtype) * std::abs(expected.out[at])
                             : (bound + roundingOf(actual.outDtype)) * largest;
        allowed += smallestRoundingOf(actual.outDtype);
        double error = std::abs(actual.out[at] - expected.out[at]);
        if (!(error <= allowed))
          return llvm::formatv("head {0}, token {1}, component {2}: {3:e}, expected {4:e}, "
                               "error {5:e} of {6:e}",
                               h, t, i, actual.out[at], expected.out[at], error, allowed)
              .str();
      }
    }
  }
  return {};
}

std::string compare(const Case &c, const reference::Result &expected, const RunResult &actual,
                    Agreement *agreement) {
  int64_t forgiven = 0;
  std::string difference = compareKept(expected, actual, forgiven);
  int64_t forgivenTokens = 0;
  if (difference.empty())
    difference = compareGathered(expected, actual.gathered, forgivenTokens);
  if (agreement) {
    Agreement open = openPairs(expected);
    agreement->visible += open.visible;
    agreement->open += open.open;
    agreement->forgiven += forgiven;
    agreement->forgivenTokens += forgivenTokens;
  }
  if (!difference.empty() || forgiven == 0)
    return difference.empty() ? compareOutputs(c, expected, actual) : difference;
  ReferenceRun own = runOnReference(c, actual.kept);
  return own.ok ? compareOutputs(c, own.result, actual)
                : "the reference refuses the pairs that the kernel kept: " + own.message;
}

std::string compareRuns(const Case &c, const reference::Result &expected, const RunResult &actual,
                        Agreement *agreement) {
  bool outOfRange = expected.indexOutOfRange || expected.unlistedLabel;
  if (actual.status.code() != (outOfRange ? StatusCode::DataOutOfRange : StatusCode::Ok))
    return "status '" + actual.status.message() + "'" +
           (outOfRange ? ", expected data out of range" : "");
  return compare(c, expected, actual, agreement);
}

bool sameBits(llvm::ArrayRef<float> a, llvm::ArrayRef<float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::string checkCase(const Case &c, const Layout &layout) {
  ReferenceRun expected = runOnReference(c);
  if (!expected.ok)
    return "the reference refuses: " + expected.message;
  Expected<Kernel> kernel = compileCase(c);
  if (!kernel)
    return "does not compile: " + kernel.status().message();
  RunResult actual = runOnCpu(*kernel, c, layout);
  return compareRuns(c, expected.result, actual);
}

} // namespace skim::numerics
