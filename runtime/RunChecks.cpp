#include "runtime/RunChecks.h"

#include "runtime/ParameterBinding.h"
#include "runtime/TensorCheck.h"

#include <skim/Kernel.h>

#include <algorithm>
#include <limits>
#include <string>

namespace skim {

Status checkShape(const BatchShape &shape) {
  const std::pair<const char *, int64_t> counts[] = {{"requests", shape.requests},
                                                     {"total_query_tokens", shape.totalQueryTokens},
                                                     {"max_query_length", shape.maxQueryLength},
                                                     {"max_kv_length", shape.maxKvLength}};
  for (const auto &[name, count] : counts)
    if (count < 0 || count > std::numeric_limits<int32_t>::max())
      return expectedButGot({"", name}, "0 to 2^31 - 1", std::to_string(count));
  return Status::ok();
}

Status checkWorkspace(std::span<const std::byte> workspace, int64_t bytes) {
  if (workspace.size() < static_cast<uint64_t>(bytes))
    return {StatusCode::WorkspaceTooSmall, "workspace: expected " + std::to_string(bytes) +
                                               " bytes or more but got " +
                                               std::to_string(workspace.size())};
  if (!workspace.data() && bytes > 0)
    return {StatusCode::WorkspaceTooSmall,
            "workspace: expected " + std::to_string(bytes) + " bytes but got a null pointer"};
  if (reinterpret_cast<uintptr_t>(workspace.data()) % Plan::kWorkspaceAlignment != 0)
    return {StatusCode::WorkspaceTooSmall, "workspace: expected memory aligned to " +
                                               std::to_string(Plan::kWorkspaceAlignment) +
                                               " bytes but got an address that is not"};
  return Status::ok();
}

Status checkLayer(const LaunchPlan &plan, int64_t layer) {
  if (layer < -kLargestIndex || layer > kLargestIndex)
    return expectedButGot({"", "layer"}, kIndexRange, std::to_string(layer));
  const std::vector<int64_t> &allowed = plan.allowedLayers;
  if (allowed.empty() || std::find(allowed.begin(), allowed.end(), layer) != allowed.end())
    return Status::ok();
  return expectedButGot({"", "layer"},
                        "a label of the pattern's match (" + joinNumbers(allowed) + ")",
                        std::to_string(layer));
}

} // namespace skim
