#include "tools/skim/Problem.h"

#include "codegen/cpu/Target.h"
#include "tools/skim/Failure.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace skim::tool {

llvm::Error checkTarget(llvm::StringRef target) {
  llvm::SmallVector<llvm::StringRef> known = {"cpu"};
  for (const cpu::Target &each : cpu::targets())
    known.push_back(each.name);
  known.push_back("sm_90a");
  if (llvm::is_contained(known, target))
    return llvm::Error::success();
  std::string targets = llvm::join(known, ", ");
  return wrongInput("--target: unknown target '" + target + "'; expected one of " + targets);
}

llvm::Expected<CompileOptions> readProblem(const Options &options) {
  CompileOptions result;
  struct Count {
    OptionId id;
    int64_t otherwise, least, most;
    int64_t *value;
  };
  int64_t pageSize = 0;
  Count counts[] = {{OPT_kv_heads, 1, 1, 65536, &result.kvHeads},
                    {OPT_query_heads, 0, 1, 65536, &result.queryHeads},
                    {OPT_head_dim, 128, 1, 65536, &result.headDim},
                    {OPT_value_dim, 0, 1, 65536, &result.valueDim},
                    {OPT_page_size, 0, 0, INT32_MAX, &pageSize}};
  for (const Count &count : counts) {
    llvm::Expected<int64_t> value =
        options.number(count.id, count.otherwise, count.least, count.most);
    if (!value)
      return value.takeError();
    *count.value = *value;
  }
  if (result.queryHeads == 0)
    result.queryHeads = result.kvHeads;
  if (result.queryHeads % result.kvHeads != 0)
    return wrongUsage("--query-heads: expected a multiple of the " + llvm::Twine(result.kvHeads) +
                      " KV heads but got " + llvm::Twine(result.queryHeads));
  result.pageSize = pageSize;
  llvm::Expected<std::vector<Setting>> shapes = options.settings(OPT_input_shape);
  if (!shapes)
    return shapes.takeError();
  for (const Setting &shape : *shapes) {
    llvm::StringRef extents = shape.values.front();
    for (llvm::StringRef text : llvm::split(extents, 'x')) {
      int64_t extent = 0;
      if (shape.values.size() != 1 || text.getAsInteger(10, extent) || extent < 1 ||
          extent > INT32_MAX)
        return wrongUsage("--input-shape: expected NAME=AxB but got '" + shape.name + "=" +
                          llvm::join(shape.values, ",") + "'");
      result.inputShapes[shape.name].push_back(extent);
    }
  }
  struct Element {
    OptionId id;
    llvm::StringRef otherwise;
    DType *type;
  };
  for (Element element : {Element{OPT_dtype, "bf16", &result.dtype},
                          Element{OPT_out_dtype, "f32", &result.outDtype}}) {
    llvm::Expected<llvm::StringRef> name =
        options.choice(element.id, element.otherwise, {"bf16", "f16", "f32"});
    if (!name)
      return name.takeError();
    *element.type = llvm::StringSwitch<DType>(*name)
                        .Case("bf16", DType::BF16)
                        .Case("f16", DType::F16)
                        .Default(DType::F32);
  }
  return result;
}

llvm::Error checkInputShapes(const CompileOptions &problem,
                             llvm::ArrayRef<const PatternSource *> sources) {
  std::set<std::string> names;
  for (const PatternSource *source : sources)
    names.merge(source->inputNames());
  std::string whose = sources.size() == 1
                          ? "pattern '" + sources.front()->entry().name + "' has no input '"
                          : std::string("none of the patterns has an input '");
  for (const auto &[name, shape] : problem.inputShapes)
    if (names.count(name) == 0)
      return wrongInput("--input-shape: " + whose + name + "'" +
                        (names.empty() ? "" : "; expected one of " + llvm::join(names, ", ")));
  return llvm::Error::success();
}

} // namespace skim::tool
