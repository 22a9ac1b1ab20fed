#include "tools/skim/LaunchArguments.h"

namespace skim::tool {
namespace {

ParameterValue valueOf(const ParameterDescription &parameter, const ParameterSetting &setting) {
  const std::vector<double> &values = setting.values;
  if (values.size() == 1)
    switch (parameter.type) {
    case ParameterType::Index:
      return static_cast<int64_t>(values.front());
    case ParameterType::F32:
      return values.front();
    case ParameterType::Bool:
      return values.front() != 0;
    }
  switch (parameter.type) {
  case ParameterType::Index:
    return std::vector<int64_t>(values.begin(), values.end());
  case ParameterType::Bool:
    return std::vector<bool>(values.begin(), values.end());
  case ParameterType::F32:
    break;
  }
  return values;
}

} // namespace

Parameters parametersFor(const LaunchPlan &plan, const Job &job) {
  Parameters parameters;
  for (const ParameterDescription &parameter : plan.parameters) {
    auto setting = job.settings.find(parameter.name);
    if (setting != job.settings.end())
      parameters.push_back({parameter.name, valueOf(parameter, setting->second)});
  }
  return parameters;
}

llvm::Error addInputs(const LaunchPlan &plan, HostBatch &batch, Operands &operands) {
  for (const InputDescription &description : plan.inputs) {
    llvm::Expected<std::optional<NamedTensor>> input = batch.input(description.name);
    if (!input)
      return input.takeError();
    if (std::optional<NamedTensor> &found = *input)
      operands.inputs.push_back(std::move(*found));
    else if (description.element != InputElement::ListCounts)
      return missingInput(description.name);
  }
  return llvm::Error::success();
}

Expected<Kernel> loadFromBundle(const Job &job, const std::string &target) {
  CompileOptions wanted = compileOptions(job);
  LoadOptions options;
  options.pattern = wanted.pattern;
  options.target = target;
  options.queryHeads = wanted.queryHeads;
  options.kvHeads = wanted.kvHeads;
  options.headDim = wanted.headDim;
  options.valueDim = wanted.valueDim;
  options.dtype = wanted.dtype;
  options.outDtype = wanted.outDtype;
  options.pageSize = wanted.pageSize;
  options.constants = wanted.constants;
  return Kernel::load(job.bundle, options);
}

} // namespace skim::tool
