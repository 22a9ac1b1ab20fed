/* The compiler's C interface from a C99 program: c_compiler P.skim */
#include <skim/skim_compiler.h>

#include <stdio.h>
#include <string.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, skim_last_message());             \
      return 1;                                                                                    \
    }                                                                                              \
  } while (0)

int main(int argc, char **argv) {
  const skim_dtype dtype = SKIM_F16;
  const int64_t page_size = 32;
  const skim_constant stride = {"stride", 6};
  skim_compiler_options compiler_options;
  skim_compile_options options;
  skim_compiler *compiler = NULL;
  skim_kernel *kernel = NULL;
  skim_signature signature;
  skim_metrics *metrics = NULL;
  skim_metrics_totals totals;
  char *warnings = NULL;

  CHECK(argc == 2);
  memset(&compiler_options, 0, sizeof(compiler_options));
  compiler_options.struct_size = sizeof(compiler_options);
  compiler_options.cache_directory = "";
  CHECK(skim_metrics_create(&metrics) == SKIM_OK);
  compiler_options.metrics = metrics;
  CHECK(skim_compiler_create(&compiler_options, &compiler) == SKIM_OK);
  CHECK(skim_compiler_compile(compiler, "pattern p { keep k < }", "broken.skim", NULL, &kernel,
                              NULL) == SKIM_INVALID_PATTERN);
  CHECK(strncmp(skim_last_message(), "broken.skim:1:", 14) == 0 && !kernel);
  CHECK(skim_compiler_compile_file(compiler, "nowhere.skim", NULL, &kernel, NULL) ==
        SKIM_INVALID_ARGUMENT);

  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.query_heads = 6;
  options.kv_heads = 3;
  options.head_dim = 32;
  options.dtype = &dtype;
  options.page_size = &page_size;
  CHECK(skim_compiler_compile_file(compiler, argv[1], &options, &kernel, &warnings) == SKIM_OK);
  CHECK(strcmp(warnings, "") == 0 && strcmp(skim_kernel_pattern(kernel), "streaming") == 0);
  signature = skim_kernel_signature(kernel);
  CHECK(signature.query_heads == 6 && signature.kv_heads == 3 && signature.head_dim == 32 &&
        signature.value_dim == 32 && signature.dtype == SKIM_F16 &&
        signature.out_dtype == SKIM_F32 && signature.page_size == 32);
  skim_string_free(warnings);
  skim_kernel_free(kernel);

  options.constants = &stride;
  options.constant_count = 1;
  CHECK(skim_compiler_compile(compiler,
                              "pattern p(constexpr stride: index = 4) { keep k % stride == 0 }",
                              NULL, &options, &kernel, NULL) == SKIM_OK);
  CHECK(strcmp(skim_kernel_pattern(kernel), "p") == 0);
  skim_kernel_free(kernel);
  skim_compiler_free(compiler);

  /* Two patterns compiled, without a cache to look into. */
  memset(&totals, 0, sizeof(totals));
  totals.struct_size = sizeof(totals);
  CHECK(skim_metrics_get_totals(metrics, &totals) == SKIM_OK);
  CHECK(totals.compile_seconds.sum > 0 && totals.cache_hits == 0 && totals.cache_misses == 0);
  skim_metrics_free(metrics);
  printf("fine\n");
  return 0;
}
