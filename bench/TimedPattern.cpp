#include "bench/TimedPattern.h"

#include "frontends/text/Loader.h"
#include "reference/Interpreter.h"
#include "runtime/LaunchPlan.h"
#include <skim/Compiler.h>

#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

namespace skim::bench {

Expected<TimedPattern> TimedPattern::compile(PatternRun what, Workload &workload,
                                             const ThreadPool &pool) {
  const Geometry &geometry = workload.geometry();
  CompileOptions options;
  options.queryHeads = geometry.queryHeads;
  options.kvHeads = geometry.kvHeads;
  options.headDim = geometry.headDim;
  options.dtype = workload.dtype();
  options.pageSize = 0;
  for (const auto &[name, input] : what.inputs)
    options.inputShapes[name] = input.shape;
  Expected<Kernel> kernel = Compiler().compile(Pattern::fromText(what.text), options);
  if (!kernel)
    return kernel.status();
  return TimedPattern(std::move(what), *std::move(kernel), workload, pool);
}

Expected<Timing> TimedPattern::run(int64_t tokens, const Parameters &parameters) {
  const Geometry &geometry = workload->geometry();
  Operands operands = workload->operands(tokens);
  for (const auto &[name, input] : what.inputs)
    operands.inputs.push_back(
        {name, TensorView::contiguous(input.data.data(), DType::I32, input.shape)});
  out.resize(tokens * geometry.queryHeads * geometry.headDim);
  operands.out = TensorView::contiguous(out.data(), DType::F32,
                                        {tokens, geometry.queryHeads, geometry.headDim});

  Expected<BatchShape> shape = BatchShape::of(operands.cuSeqlensQ, operands.kvLens);
  Expected<Plan> plan =
      shape ? kernel.plan(*shape, pool->threads()) : Expected<Plan>(shape.status());
  if (!plan)
    return plan.status();
  const size_t bytes = plan->workspaceBytes();
  if (!workspace || workspace->span().size() < bytes)
    workspace.emplace(bytes);

  std::vector<double> kernelSeconds(kernel.launchPlan().kernels.size());
  RunOptions options;
  options.pool = pool;
  options.statistics = &statistics_;
  options.kernelSeconds = kernelSeconds;
  auto before = std::chrono::steady_clock::now();
  Status status = kernel.run(*plan, operands, parameters, workspace->span(), options);
  Timing timing;
  timing.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  // The attention is the last kernel; what comes before decides what it visits.
  timing.selectionSeconds = std::accumulate(kernelSeconds.begin(), kernelSeconds.end() - 1, 0.0);
  if (!status)
    return status;
  return timing;
}

Expected<double> TimedPattern::errorAgainstReference(int64_t tokens) {
  reference::Problem problem = workload->problem(tokens);
  for (const NamedParameter &parameter : what.checkParameters) {
    const ParameterValue::Storage &value = parameter.value.storage();
    const auto *index = std::get_if<int64_t>(&value);
    problem.parameters[parameter.name] = {index ? static_cast<double>(*index)
                                                : std::get<double>(value)};
  }
  for (const auto &[name, input] : what.inputs)
    problem.inputs[name] = {input.shape, {input.data.begin(), input.data.end()}};
  Expected<Timing> timing = run(tokens, what.checkParameters);
  if (!timing)
    return timing.status();

  text::Diagnostics diagnostics;
  text::Program program =
      text::loadBuffer(llvm::MemoryBuffer::getMemBufferCopy(what.text), diagnostics);
  const text::Pattern *entry = text::findEntry(program, "", diagnostics);
  auto answer = reference::interpret(program, *entry, problem);
  if (const auto *error = std::get_if<reference::Error>(&answer))
    return Status(StatusCode::Unsupported, "the reference: " + error->message);
  const auto &result = std::get<reference::Result>(answer);
  return worstError(out, {result.out.begin(), result.out.end()}, result.heads, result.valueDim);
}

double worstError(const std::vector<float> &actual, const std::vector<float> &expected,
                  int64_t heads, int64_t dim) {
  if (actual.size() != expected.size())
    return std::numeric_limits<double>::infinity();
  std::vector<double> largest(heads), difference(heads);
  for (size_t i = 0; i < actual.size(); ++i) {
    int64_t head = static_cast<int64_t>(i) / dim % heads;
    double error = std::abs(double(actual[i]) - expected[i]);
    largest[head] = std::max(largest[head], std::abs(double(expected[i])));
    // Written so that NaN stays.
    if (!(error <= difference[head]))
      difference[head] = error;
  }
  double worst = 0;
  for (int64_t head = 0; head < heads; ++head) {
    double error = difference[head] == 0 ? 0 : difference[head] / largest[head];
    if (!(error <= worst))
      worst = error;
  }
  return worst;
}

} // namespace skim::bench
