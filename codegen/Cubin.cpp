#include "codegen/Cubin.h"

#include "codegen/nvvm/Ptxas.h"
#include "runtime/cuda/Assemble.h"

#include <algorithm>
#include <span>

namespace skim {
namespace {

/// The PTX of an entry, empty where it has none.
std::string ptxOf(const BundleEntry &entry) {
  const auto found = std::ranges::find(entry.code, SectionKind::Ptx, &BundleEntry::Code::kind);
  if (found == entry.code.end())
    return "";
  return {reinterpret_cast<const char *>(found->bytes.data()), found->bytes.size()};
}

void add(BundleEntry &entry, const std::string &cubin) {
  const auto bytes = std::as_bytes(std::span(cubin));
  entry.code.push_back({SectionKind::Cubin, {bytes.begin(), bytes.end()}});
}

} // namespace

Status addCubinOfPtxas(BundleEntry &entry) {
  const std::string ptx = ptxOf(entry);
  if (ptx.empty())
    return Status::ok();
  llvm::Expected<std::optional<std::string>> ptxas = nvvm::lookForPtxas();
  if (!ptxas)
    return {StatusCode::Environment, llvm::toString(ptxas.takeError())};
  if (!*ptxas)
    return Status::ok();
  llvm::Expected<nvvm::Assembly> assembly = nvvm::assemble(ptx, entry.target);
  if (assembly)
    add(entry, assembly->cubin);
  else
    entry.metadata.warnings += "warning: '" + entry.launchPlan.pattern +
                               "' has PTX alone: " + llvm::toString(assembly.takeError()) + "\n";
  return Status::ok();
}

void addCubinOfDriver(BundleEntry &entry) {
  const std::string ptx = ptxOf(entry);
  if (ptx.empty())
    return;
  if (Expected<std::string> cubin = cuda::assemble(ptx))
    add(entry, *cubin);
}

} // namespace skim
