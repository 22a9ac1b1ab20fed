#include "tools/skim/Job.h"

#include "tools/skim/Failure.h"

#include "llvm/Support/MathExtras.h"

namespace skim::tool {

llvm::Expected<Device> deviceOf(const Options &options) {
  llvm::Expected<llvm::StringRef> name =
      options.choice(OPT_device, "cpu", {"cpu", "reference", "cuda"});
  if (!name)
    return name.takeError();
  if (*name == "cuda")
    return environmentFailed("--device cuda: this build of skim compiles for no GPU; "
                             "expected cpu or reference");
  return *name == "cpu" ? Device::Cpu : Device::Reference;
}

llvm::Expected<Outcome> run(const Job &job, Variant variant) {
  return job.device == Device::Cpu ? runOnCpu(job, variant) : runOnReference(job, variant);
}

llvm::Expected<int64_t> keptBytes(const HostBatch &batch) {
  constexpr int64_t most = int64_t(1) << 30;
  int64_t bytes = batch.queryHeads;
  if (llvm::MulOverflow(bytes, batch.queryTokens(), bytes) ||
      llvm::MulOverflow(bytes, batch.longestKv(), bytes) || bytes > most)
    return wrongInput("the kept relation of " + llvm::Twine(batch.queryHeads) + " heads, " +
                      llvm::Twine(batch.queryTokens()) + " query tokens and up to " +
                      llvm::Twine(batch.longestKv()) +
                      " keys takes more than 1 GiB; use fewer tokens");
  return bytes;
}

} // namespace skim::tool
