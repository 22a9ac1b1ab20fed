// The C interface to the compiler.
#include "runtime/c/Handles.h"

#include <skim/Compiler.h>
#include <skim/skim_compiler.h>

using namespace skim;
using namespace skim::c;

static_assert(SKIM_STAGE_CUBIN == static_cast<int>(Stage::Cubin) &&
              SKIM_STAGE_LLVM == static_cast<int>(Stage::Llvm));

struct skim_compiler {
  Compiler compiler;
};

namespace {

Expected<CompileOptions> read(const Versioned<skim_compile_options> &given) {
  CompileOptions options;
  if (given->target)
    options.target = given->target;
  options.pattern = textOf(given->pattern);
  for (const auto &[count, into] :
       {std::pair(given->query_heads, &options.queryHeads),
        std::pair(given->kv_heads, &options.kvHeads), std::pair(given->head_dim, &options.headDim),
        std::pair(given->value_dim, &options.valueDim)})
    if (count != 0)
      *into = count;
  for (const auto &[dtype, into] :
       {std::pair(given->dtype, &options.dtype), std::pair(given->out_dtype, &options.outDtype)}) {
    if (!dtype)
      continue;
    if (!isDtype(*dtype))
      return Status(StatusCode::InvalidArgument,
                    "options.dtype: expected one of skim_dtype but got " +
                        std::to_string(static_cast<int>(*dtype)));
    *into = dtypeOf(*dtype);
  }
  if (given->page_size)
    options.pageSize = *given->page_size;
  for (size_t i = 0; i < given->constant_count; ++i)
    options.constants[textOf(given->constants[i].name)] = given->constants[i].value;
  for (size_t i = 0; i < given->input_shape_count; ++i) {
    const skim_input_shape &shape = given->input_shapes[i];
    options.inputShapes[textOf(shape.name)].assign(shape.extents,
                                                   shape.extents + std::max(0, shape.rank));
  }
  options.writesKept = given->writes_kept != 0;
  return options;
}

skim_status_code compile(const skim_compiler *compiler, const Expected<Pattern> &pattern,
                         const skim_compile_options *given, skim_kernel **kernel, char **warnings) {
  const Versioned<skim_compile_options> versioned(given);
  if (!compiler || !kernel)
    return refuse("expected a compiler and where to write the kernel but got null");
  if (!versioned.isValid())
    return versioned.refusal("options");
  if (!pattern)
    return answer(pattern.status());
  Expected<CompileOptions> options = read(versioned);
  if (!options)
    return answer(options.status());
  std::string said;
  const skim_status_code code =
      answer(compiler->compiler.compile(*pattern, *options, &said), kernel);
  if (code == SKIM_OK && warnings)
    *warnings = copyOf(said);
  return code;
}

Pattern patternOf(const char *text, const char *name) {
  return Pattern::fromText(textOf(text), name ? name : "pattern.skim");
}

skim_status_code give(const Expected<std::string> &made, const std::string &said, void **into,
                      size_t *bytes, char **warnings) {
  if (!made)
    return answer(made.status());
  *into = copyOf(*made);
  *bytes = made->size();
  if (warnings)
    *warnings = copyOf(said);
  return answer(Status::ok());
}

} // namespace

skim_status_code skim_compiler_create(const skim_compiler_options *given,
                                      skim_compiler **compiler) {
  const Versioned<skim_compiler_options> versioned(given);
  if (!versioned.isValid())
    return versioned.refusal("options");
  if (!compiler)
    return refuse("compiler: expected where to write the handle but got null");
  CompilerOptions options;
  if (versioned->cache_directory)
    options.cacheDirectory = versioned->cache_directory;
  if (versioned->cache_bytes != 0)
    options.cacheBytes = versioned->cache_bytes;
  options.metrics = metricsOf(versioned->metrics);
  *compiler = new skim_compiler{Compiler(options)};
  return answer(Status::ok());
}

void skim_compiler_free(skim_compiler *compiler) { delete compiler; }

skim_status_code skim_compiler_compile(const skim_compiler *compiler, const char *text,
                                       const char *name, const skim_compile_options *options,
                                       skim_kernel **kernel, char **warnings) {
  return compile(compiler, patternOf(text, name), options, kernel, warnings);
}

skim_status_code skim_compiler_compile_file(const skim_compiler *compiler, const char *path,
                                            const skim_compile_options *options,
                                            skim_kernel **kernel, char **warnings) {
  return compile(compiler, Pattern::load(textOf(path)), options, kernel, warnings);
}

skim_status_code skim_compiler_bundle(const skim_compiler *compiler,
                                      const skim_bundle_request *requests, size_t count,
                                      void **bundle, size_t *bytes, char **warnings) {
  if (!compiler || !bundle || !bytes || (!requests && count > 0))
    return refuse("expected a compiler, requests and where to write the bundle but got null");
  std::vector<BundleRequest> wanted;
  for (size_t i = 0; i < count; ++i) {
    const Versioned<skim_bundle_request> request(&requests[i]);
    if (!request.isValid())
      return request.refusal("requests");
    const Versioned<skim_compile_options> versioned(request->options);
    if (!versioned.isValid())
      return versioned.refusal("requests.options");
    Expected<Pattern> pattern = request->text ? patternOf(request->text, request->name)
                                              : Pattern::load(textOf(request->name));
    if (!pattern)
      return answer(pattern.status());
    Expected<CompileOptions> options = read(versioned);
    if (!options)
      return answer(options.status());
    wanted.push_back({*std::move(pattern), *std::move(options)});
  }
  std::string said;
  const Expected<std::string> written = compiler->compiler.bundle(wanted, &said);
  return give(written, said, bundle, bytes, warnings);
}

skim_status_code skim_compiler_emit(const skim_compiler *compiler, const char *text,
                                    const char *name, const skim_compile_options *given,
                                    skim_stage stage, void **code, size_t *bytes, char **warnings) {
  if (!compiler || !code || !bytes)
    return refuse("expected a compiler and where to write the code but got null");
  if (stage < SKIM_STAGE_SKIM || stage > SKIM_STAGE_CUBIN)
    return refuse("stage: expected one of skim_stage but got " +
                  std::to_string(static_cast<int>(stage)));
  const Versioned<skim_compile_options> versioned(given);
  if (!versioned.isValid())
    return versioned.refusal("options");
  Expected<CompileOptions> options = read(versioned);
  if (!options)
    return answer(options.status());
  std::string said;
  const Expected<std::string> emitted =
      compiler->compiler.emit(patternOf(text, name), *options, static_cast<Stage>(stage), &said);
  return give(emitted, said, code, bytes, warnings);
}
