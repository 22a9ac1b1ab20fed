#include "runtime/bundle/LoadKernel.h"
#include "runtime/cpu/Machine.h"

#include <algorithm>
#include <set>

namespace skim {
namespace {

/// Names in their order, each once, joined by commas.
class NameList {
public:
  void add(const std::string &name) {
    if (seen_.insert(name).second)
      text_ += (text_.empty() ? "" : ", ") + name;
  }
  size_t size() const { return seen_.size(); }
  const std::string &text() const { return text_.empty() ? kNone : text_; }

private:
  inline static const std::string kNone = "none";
  std::set<std::string> seen_;
  std::string text_;
};

struct Candidate {
  const Bundle::Entry *entry;
  size_t rank; ///< of its target, the best is 0
  LaunchPlan plan;
  KernelMetadata metadata;

  bool hasPageSize() const { return plan.signature.pageSize.has_value(); }
};

template <typename T> bool fits(const std::optional<T> &wanted, const T &value) {
  return !wanted || *wanted == value;
}

bool fits(const LoadOptions &options, const Candidate &candidate) {
  const Signature &signature = candidate.plan.signature;
  const auto hasConstant = [&](const auto &wanted) {
    return std::ranges::any_of(candidate.metadata.constants, [&](const ConstantValue &constant) {
      return constant.name == wanted.first && constant.value == wanted.second;
    });
  };
  return fits(options.queryHeads, signature.queryHeads) &&
         fits(options.kvHeads, signature.kvHeads) && fits(options.headDim, signature.headDim) &&
         fits(options.valueDim, signature.valueDim) && fits(options.dtype, signature.operand) &&
         fits(options.outDtype, signature.output) &&
         (!signature.pageSize || fits(options.pageSize, *signature.pageSize)) &&
         std::ranges::all_of(options.constants, hasConstant);
}

/// The targets that will do, the best first.
std::vector<std::string> targetsFor(const LoadOptions &options) {
  const auto machine = machineTargets();
  if (options.target.empty())
    return {machine.begin(), machine.end()};
  // Whether a device runs code for it is for its driver to say.
  if (options.target.starts_with("sm_") ||
      std::ranges::find(machine, options.target) != machine.end())
    return {options.target};
  return {};
}

std::string listed(const std::vector<Candidate> &candidates) {
  std::string text;
  for (const Candidate &candidate : candidates)
    text += "\n  " + candidate.entry->target + ": " +
            describeConfiguration(candidate.plan, candidate.metadata);
  return text;
}

} // namespace

std::string describeConfiguration(const LaunchPlan &plan, const KernelMetadata &metadata) {
  const Signature &signature = plan.signature;
  std::string text = std::to_string(signature.queryHeads) + " query and " +
                     std::to_string(signature.kvHeads) + " KV heads of dimension " +
                     std::to_string(signature.headDim);
  if (signature.valueDim != signature.headDim)
    text += ", values of " + std::to_string(signature.valueDim);
  text += std::string(", ") + dtypeName(signature.operand) + " to " + dtypeName(signature.output);
  if (!signature.pageSize)
    text += ", every layout";
  else if (*signature.pageSize == 0)
    text += ", contiguous";
  else
    text += ", pages of " + std::to_string(*signature.pageSize) + " tokens";
  for (const ConstantValue &constant : metadata.constants) {
    std::string value = std::to_string(constant.value);
    value.erase(value.find_last_not_of('0') + 1);
    if (value.ends_with('.'))
      value.pop_back();
    text += ", " + constant.name + " = " + value;
  }
  return text;
}

Expected<const Bundle::Entry *> chooseEntry(const Bundle &bundle, const LoadOptions &options) {
  NameList patterns;
  NameList targets;
  for (const Bundle::Entry &entry : bundle.entries())
    patterns.add(entry.pattern);
  if (options.pattern.empty() && patterns.size() != 1)
    return bundle.failure(StatusCode::InvalidArgument,
                          "expected the name of one of its patterns: " + patterns.text());
  const std::vector<std::string> wanted = targetsFor(options);
  std::vector<Candidate> runnable;
  for (const Bundle::Entry &entry : bundle.entries()) {
    if (!options.pattern.empty() && entry.pattern != options.pattern)
      continue;
    targets.add(entry.target);
    const auto target = std::ranges::find(wanted, entry.target);
    if (target == wanted.end())
      continue;
    Expected<LaunchPlan> plan = bundle.launchPlan(entry);
    if (!plan)
      return plan.status();
    Expected<KernelMetadata> metadata = bundle.metadata(entry);
    if (!metadata)
      return metadata.status();
    runnable.push_back({&entry, static_cast<size_t>(target - wanted.begin()), *std::move(plan),
                        *std::move(metadata)});
  }
  if (targets.size() == 0)
    return bundle.failure(StatusCode::InvalidArgument, "expected one of its patterns, " +
                                                           patterns.text() + ", but got '" +
                                                           options.pattern + "'");
  if (runnable.empty()) {
    NameList machine;
    for (const std::string_view target : machineTargets())
      machine.add(std::string(target));
    return bundle.failure(StatusCode::Unsupported,
                          options.target.empty()
                              ? "expected code for this machine, which runs " + machine.text() +
                                    ", but got code for " + targets.text()
                              : "expected code for " + options.target +
                                    " on a machine that runs it; the bundle has code for " +
                                    targets.text() + ", this machine runs " + machine.text());
  }
  std::vector<Candidate> fitting;
  std::ranges::copy_if(runnable, std::back_inserter(fitting),
                       [&](const Candidate &candidate) { return fits(options, candidate); });
  if (fitting.empty())
    return bundle.failure(StatusCode::InvalidArgument,
                          "no kernel has the configuration asked for; there are" +
                              listed(runnable));
  const size_t best = std::ranges::min_element(fitting, {}, &Candidate::rank)->rank;
  std::erase_if(fitting, [&](const Candidate &candidate) { return candidate.rank != best; });
  // Those made for the page size go before those that serve every layout.
  if (options.pageSize && std::ranges::any_of(fitting, &Candidate::hasPageSize))
    std::erase_if(fitting, [](const Candidate &candidate) { return !candidate.hasPageSize(); });
  if (fitting.size() > 1)
    return bundle.failure(StatusCode::InvalidArgument,
                          "several kernels fit, expected options that tell them apart:" +
                              listed(fitting));
  return fitting.front().entry;
}

} // namespace skim
