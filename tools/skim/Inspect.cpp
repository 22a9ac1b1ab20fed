// `skim inspect`: what a bundle holds.
#include "runtime/bundle/LoadKernel.h"
#include "tools/skim/Failure.h"
#include "tools/skim/Subcommands.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace skim::tool {
namespace {

/// An entry with all that it says.
struct Inspected {
  const Bundle::Entry *entry;
  KernelMetadata metadata;
  LaunchPlan plan;
};

/// Reads everything, code too, so that damage anywhere is found.
llvm::Expected<Inspected> inspectEntry(const Bundle &bundle, const Bundle::Entry &entry) {
  Expected<KernelMetadata> metadata = bundle.metadata(entry);
  if (!metadata)
    return failureOf(metadata.status());
  Expected<LaunchPlan> plan = bundle.launchPlan(entry);
  if (!plan)
    return failureOf(plan.status());
  for (const Bundle::Section &section : entry.sections) {
    std::vector<std::byte> bytes(section.bytes);
    if (Status status = bundle.read(entry, section, bytes); !status)
      return failureOf(status);
  }
  return Inspected{&entry, *std::move(metadata), *std::move(plan)};
}

void printJson(const Bundle &bundle, llvm::ArrayRef<Inspected> kernels) {
  auto parsed = [](const std::string &text) { return llvm::cantFail(llvm::json::parse(text)); };
  llvm::json::OStream json(llvm::outs(), /*IndentSize=*/2);
  json.object([&] {
    json.attribute("file", bundle.name());
    json.attribute("bytes", int64_t(bundle.fileBytes()));
    json.attribute("format_version", bundle.formatVersion());
    json.attribute("abi_version", bundle.abiVersion());
    json.attributeArray("kernels", [&] {
      for (const Inspected &kernel : kernels)
        json.object([&] {
          json.attribute("pattern", kernel.entry->pattern);
          json.attribute("target", kernel.entry->target);
          json.attribute("triple", kernel.entry->triple);
          json.attribute("features", kernel.entry->features);
          json.attribute("metadata", parsed(toJson(kernel.metadata)));
          json.attribute("launch_plan", parsed(toJson(kernel.plan)));
          json.attributeArray("sections", [&] {
            for (const Bundle::Section &section : kernel.entry->sections)
              json.object([&] {
                json.attribute("kind", sectionKindName(section.kind));
                json.attribute("offset", int64_t(section.offset));
                json.attribute("bytes", int64_t(section.bytes));
              });
          });
        });
    });
  });
  llvm::outs() << '\n';
}

std::string joined(llvm::ArrayRef<std::string> parts) {
  return parts.empty() ? "none" : llvm::join(parts, ", ");
}

std::string numberText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.10g", value);
  return text;
}

std::string parametersText(const LaunchPlan &plan) {
  std::vector<std::string> parts;
  for (const ParameterDescription &parameter : plan.parameters) {
    std::string text = parameter.name + ": " + parameterTypeName(parameter.type);
    if (parameter.perHead)
      text += "[head]";
    std::vector<std::string> values;
    for (double value : parameter.defaultValues)
      values.push_back(parameter.type == ParameterType::Bool ? value != 0 ? "true" : "false"
                                                             : numberText(value));
    if (!values.empty())
      text += " = " + llvm::join(values, ",");
    parts.push_back(text);
  }
  return joined(parts);
}

std::string axisText(llvm::StringRef axis, int64_t block) {
  return block == 1 ? axis.str() : axis.str() + " / " + std::to_string(block);
}

std::string inputsText(const LaunchPlan &plan) {
  std::vector<std::string> parts;
  for (const InputDescription &input : plan.inputs) {
    if (input.element == InputElement::ListCounts)
      continue;
    std::vector<std::string> axes;
    if (input.head != HeadAxis::None)
      axes.push_back(input.head == HeadAxis::KvHead ? "kv_head" : "head");
    if (input.queryBlock > 0)
      axes.push_back(axisText("q", input.queryBlock));
    if (input.keyBlock > 0)
      axes.push_back(input.diagonal ? "q - k" : axisText("k", input.keyBlock));
    parts.push_back(input.name + ": " + inputElementName(input.element) + "[" +
                    llvm::join(axes, ", ") + "]");
  }
  return joined(parts);
}

std::string invarianceText(const Invariance &invariance) {
  if (!invariance.chunkMultiple)
    return "depend on how a prompt was cut: " + llvm::join(invariance.brokenBy, "; ");
  if (*invariance.chunkMultiple == 1)
    return "do not depend on how a prompt was cut";
  return "do not depend on how a prompt was cut where chunks end on multiples of " +
         std::to_string(*invariance.chunkMultiple) + " positions";
}

void printText(const Bundle &bundle, llvm::ArrayRef<Inspected> kernels) {
  llvm::raw_ostream &os = llvm::outs();
  os << bundle.name() << ": " << bundle.fileBytes() << " bytes, " << kernels.size()
     << (kernels.size() == 1 ? " kernel" : " kernels") << ", format " << bundle.formatVersion()
     << ", ABI " << bundle.abiVersion() << '\n';
  auto row = [&](llvm::StringRef name, const llvm::Twine &text) {
    os << "  " << llvm::left_justify(name, 14) << text << '\n';
  };
  for (const Inspected &kernel : kernels) {
    os << '\n' << kernel.entry->pattern << " for " << kernel.entry->target << '\n';
    row("compiled by", "skim " + kernel.metadata.skimVersion + ", LLVM " +
                           kernel.metadata.llvmVersion + " for " + kernel.entry->triple + ", " +
                           kernel.entry->features);
    row("configuration", describeConfiguration(kernel.plan, kernel.metadata));
    row("parameters", parametersText(kernel.plan));
    row("inputs", inputsText(kernel.plan));
    row("results", invarianceText(kernel.metadata.invariance));
    row("kernels",
        joined(llvm::to_vector<8>(llvm::map_range(
            kernel.plan.kernels, [](const KernelDescription &each) { return each.symbol; }))));
    for (const Bundle::Section &section : kernel.entry->sections)
      row(sectionKindName(section.kind), llvm::Twine(section.bytes) + " bytes");
  }
}

} // namespace

llvm::Error inspect(const Options &options) {
  Expected<Bundle> bundle = Bundle::open(options.operand().str());
  if (!bundle)
    return failureOf(bundle.status());
  std::vector<Inspected> kernels;
  for (const Bundle::Entry &entry : bundle->entries()) {
    llvm::Expected<Inspected> kernel = inspectEntry(*bundle, entry);
    if (!kernel)
      return kernel.takeError();
    kernels.push_back(std::move(*kernel));
  }
  if (options.has(OPT_json))
    printJson(*bundle, kernels);
  else
    printText(*bundle, kernels);
  return llvm::Error::success();
}

} // namespace skim::tool
