#include "tools/skim/Job.h"

#include "runtime/cuda/Device.h"
#include "tools/skim/Failure.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace skim::tool {

llvm::Expected<Device> deviceOf(const Options &options) {
  llvm::Expected<llvm::StringRef> name =
      options.choice(OPT_device, "cpu", {"cpu", "reference", "cuda"});
  if (!name)
    return name.takeError();
  if (*name == "cuda") {
    if (Expected<std::shared_ptr<const cuda::Device>> opened = cuda::Device::open(); !opened)
      return failureOf(opened.status());
    return Device::Cuda;
  }
  return *name == "cpu" ? Device::Cpu : Device::Reference;
}

llvm::StringRef deviceName(Device device) {
  switch (device) {
  case Device::Cpu:
    return "cpu";
  case Device::Reference:
    return "reference";
  case Device::Cuda:
    return "cuda";
  }
  return "";
}

llvm::Expected<Prepared> prepare(const Options &options) {
  llvm::Expected<Device> device = deviceOf(options);
  if (!device)
    return device.takeError();
  llvm::Expected<int64_t> layer = options.number(OPT_layer, 0, 0, INT32_MAX);
  if (!layer)
    return layer.takeError();
  llvm::Expected<std::vector<Setting>> given = options.settings();
  if (!given)
    return given.takeError();
  auto source = PatternSource::load(options.operand(), options.text(OPT_pattern));
  if (!source)
    return source.takeError();
  auto settings = matchSettings((*source)->entry(), *given);
  if (!settings)
    return settings.takeError();
  return Prepared{std::move(*source), std::move(*settings), *device, *layer};
}

CompileOptions compileOptions(const Job &job) {
  CompileOptions options;
  options.pattern = job.source.entry().name;
  options.queryHeads = job.batch.queryHeads;
  options.kvHeads = job.batch.kvHeads;
  options.headDim = job.batch.headDim;
  options.valueDim = job.batch.valueDim;
  options.dtype = job.batch.dtype;
  options.pageSize = job.batch.pageSize;
  options.writesKept = job.wantKept;
  options.inputShapes = job.batch.shapes();
  for (const auto &[name, setting] : job.settings)
    if (setting.isConstexpr)
      options.constants[name] = setting.values.front();
  return options;
}

llvm::Error missingInput(llvm::StringRef name) {
  return wrongInput("input '" + name +
                    "': expected a tensor of this name in the file of --qkv or of --inputs");
}

double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

llvm::StringRef workName(const Job &job, Variant variant) {
  bool isDense = variant == Variant::Dense || variant == Variant::DenseKeysAlone;
  return isDense ? llvm::StringRef("dense attention") : llvm::StringRef(job.source.entry().name);
}

llvm::Expected<Outcome> run(const Job &job, Variant variant) {
  switch (job.device) {
  case Device::Cpu:
    return runOnCpu(job, variant);
  case Device::Cuda:
    return runOnCuda(job, variant);
  case Device::Reference:
    break;
  }
  return runOnReference(job, variant);
}

llvm::Expected<int64_t> keptBytes(int64_t queryHeads, int64_t queryTokens, int64_t longestKv) {
  constexpr int64_t most = int64_t(1) << 30;
  int64_t bytes = queryHeads;
  if (llvm::MulOverflow(bytes, queryTokens, bytes) || llvm::MulOverflow(bytes, longestKv, bytes) ||
      bytes > most)
    return wrongInput("the kept relation of " + llvm::Twine(queryHeads) + " heads, " +
                      llvm::Twine(queryTokens) + " query tokens and up to " +
                      llvm::Twine(longestKv) + " keys takes more than 1 GiB; use fewer tokens");
  return bytes;
}

llvm::Expected<int64_t> keptBytes(const HostBatch &batch) {
  return keptBytes(batch.queryHeads, batch.queryTokens(), batch.longestKv());
}

} // namespace skim::tool
