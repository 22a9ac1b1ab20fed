#include "runtime/bundle/LoadKernel.h"

#include "runtime/cpu/Machine.h"

#include <skim/abi.h>

#include <algorithm>

namespace skim {

/// From machine code, and where the driver does not take that, from PTX, which it assembles.
static Expected<Kernel> loadForCuda(const Bundle &bundle, const Bundle::Entry &entry,
                                    const LaunchPlan &plan) {
  Status last;
  for (const SectionKind kind : {SectionKind::Cubin, SectionKind::Ptx}) {
    const Bundle::Section *image = entry.find(kind);
    if (!image)
      continue;
    std::string bytes(image->bytes, '\0');
    if (Status status = bundle.read(entry, *image, std::as_writable_bytes(std::span(bytes)));
        !status)
      return status;
    Expected<Kernel> kernel = Kernel::createCuda(plan, bytes);
    if (kernel)
      return kernel;
    last = kernel.status();
  }
  return bundle.failure(last.code(), last.message(), &entry);
}

Expected<Kernel> loadKernel(const Bundle &bundle, const Bundle::Entry &entry) {
  const auto failed = [&](const Status &status) {
    return bundle.failure(status.code(), status.message(), &entry);
  };
  if (bundle.abiVersion() != SKIM_ABI_VERSION)
    return bundle.failure(StatusCode::Unsupported,
                          "expected kernels for ABI version " + std::to_string(SKIM_ABI_VERSION) +
                              " but got version " + std::to_string(bundle.abiVersion()) +
                              ": compile the pattern again");
  Expected<KernelMetadata> metadata = bundle.metadata(entry);
  if (!metadata)
    return metadata.status();
  Expected<LaunchPlan> plan = bundle.launchPlan(entry);
  if (!plan)
    return plan.status();
  if (entry.find(SectionKind::Cubin) || entry.find(SectionKind::Ptx))
    return loadForCuda(bundle, entry, *plan);
  if (std::ranges::find(machineTargets(), entry.target) == machineTargets().end())
    return bundle.failure(StatusCode::Unsupported, "this machine does not run its code", &entry);
  const Bundle::Section *code = entry.find(SectionKind::CpuImage);
  if (!code || !metadata->cpuImage)
    return bundle.failure(StatusCode::Unsupported, "expected code for a CPU but got none", &entry);

  Expected<CodeMemory> memory = CodeMemory::allocate(code->bytes);
  if (!memory)
    return failed(memory.status());
  if (Status status = bundle.read(entry, *code, memory->writable()); !status)
    return status;
  Expected<std::vector<skim_cpu_kernel>> functions = memory->finish(*metadata->cpuImage);
  if (!functions)
    return failed(functions.status());
  Expected<Kernel> kernel = Kernel::create(*std::move(plan), *std::move(functions),
                                           std::make_shared<CodeMemory>(*std::move(memory)));
  if (!kernel)
    return failed(Status(StatusCode::Corrupt, kernel.status().message()));
  return kernel;
}

static Expected<Kernel> load(Expected<Bundle> bundle, const LoadOptions &options) {
  if (!bundle)
    return bundle.status();
  Expected<const Bundle::Entry *> entry = chooseEntry(*bundle, options);
  if (!entry)
    return entry.status();
  return loadKernel(*bundle, **entry);
}

Expected<Kernel> Kernel::load(const std::string &path, const LoadOptions &options) {
  return skim::load(Bundle::open(path), options);
}

Expected<Kernel> Kernel::load(std::span<const std::byte> bundle, const LoadOptions &options) {
  return skim::load(Bundle::fromMemory(bundle), options);
}

} // namespace skim
