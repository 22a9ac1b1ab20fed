#include "test/tile/Programs.h"

#include "dialect/Tile/TileDialect.h"

#include "codegen/cpu/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

using namespace skim;
using namespace skim::test;
using llvm::formatv;

std::string skim::test::attentionProgram(const Shape &shape, const AttentionText &text) {
  std::string parameters, symbols = "%base, %kv_len";
  for (int64_t slot = 0; slot < text.indexParameters; ++slot) {
    parameters += formatv("    %p{0} = tile.parameter {0} of %item : index\n", slot);
    symbols += formatv(", %p{0}", slot);
  }
  std::string literals;
  for (int64_t id = 0; id < text.literalCount; ++id)
    literals += formatv("{0}%lit{1}", id == 0 ? "" : ", ", id);
  if (!literals.empty())
    literals = "literals(" + literals + ")";
  int64_t r = text.rows, n = text.keys, d = shape.headDim, v = shape.valueDim;
  std::string queries = formatv("!tile.shared<{0}x{1}xf32>", r, d);
  std::string keys = formatv("!tile.shared<{0}x{1}xf32>", n, d);
  std::string values = formatv("!tile.shared<{0}x{1}xf32>", n, v);
  std::string fragment = formatv("!tile.fragment<{0}x{1}xf32>", r, n);
  std::string state = formatv("!tile.state<{0}x{1}>", r, v);
  std::string scored = "%d", map;
  if (!text.scores.empty()) {
    scored = "%e";
    map = "      %e = tile.map_scores %d after %dt at %visit : " + fragment +
          " {\n      ^bb0(%s: f32, %q: index, %k: index):\n" + text.scores +
          "        tile.yield %mapped : f32\n      }\n";
  }
  std::string program =
      formatv("tile.program @attention attributes {{\n"
              "    problem = #tile.problem<query_heads = {0}, kv_heads = {1}, head_dim = {2}, "
              "value_dim = {3}, operand = {4}, out = {5}>,\n"
              "    schedule = #tile.schedule<rows = {6}, keys = {7}>, "
              "items = #tile.items<head = query, axis = queries>} {{\n"
              "  tile.for_each_work_item %item {{\n"
              "    %base = tile.uniform base of %item : index\n"
              "    %kv_len = tile.uniform kv_len of %item : index\n",
              shape.queryHeads, shape.kvHeads, d, v, shape.operand, shape.out, r, n);
  program += parameters + text.literals;
  program += formatv("    %queries = tile.load_queries %item : {0}\n"
                     "    %empty = tile.empty_state : {1}\n"
                     "    %state = tile.for_each_visit %visit of %item symbols({2}) {3}\n"
                     "        touched [{4}]\n        hidden [{5}]\n"
                     "        source #tile.source<tokens> carry(%s0 = %empty) : {1} {{\n",
                     queries, state, symbols, literals, text.touched, text.hidden);
  program += formatv("      %keys, %kt = tile.issue_load keys %visit : {0}\n"
                     "      %d, %dt = tile.issue_dot %queries, %keys after %kt : {1}, {0} -> {2}\n",
                     keys, queries, fragment);
  program += map;
  program += formatv("      %m = tile.mask {0} at %visit : {1} where {{\n"
                     "      ^bb0(%q: index, %k: index):\n{2}"
                     "        tile.yield %keep : i1\n      }\n",
                     scored, fragment, text.mask);
  program += formatv("      %p, %s1 = tile.online_softmax %m, %s0 : {0}, {1}\n"
                     "      %values, %vt = tile.issue_load values %visit : {2}\n"
                     "      %s2 = tile.accumulate %p, %values, %s1 after %vt : {0}, {2}, {1}\n"
                     "      tile.yield %s2 : {1}\n    }\n"
                     "    tile.finish %item, %state {3} : {1}\n  }\n}\n",
                     fragment, state, values, text.sink);
  return program;
}

/// `(t)[s0, s1, ...]` for two symbols and `parameters` more.
static std::string dims(int64_t parameters, const char *names) {
  std::string symbols = "s0, s1";
  for (int64_t i = 0; i < parameters; ++i)
    symbols += formatv(", s{0}", i + 2);
  return formatv("({0})[{1}]", names, symbols);
}

static std::string interval(int64_t parameters, const std::string &lower, const std::string &upper,
                            const std::string &rest = "") {
  std::string d = dims(parameters, "t");
  return formatv("interval<lower = affine_map<{0} -> ({1})>, upper = affine_map<{0} -> ({2})>{3}>",
                 d, lower, upper, rest);
}

// The tiles that hold a visible pair end behind the last existing row, and those from the first
// existing row's own key on, or that reach past the last key, hide one.
static std::string causalEnd(int64_t r, int64_t n) {
  return formatv("((t + 1) * {0} - 1) floordiv {1} + 1, s1 ceildiv {1}", r, n);
}
static std::string causalHidden(int64_t parameters, int64_t r, int64_t n) {
  return interval(
             parameters,
             formatv("(t * {0} - {1}) floordiv {2} + 1, (s0 - {1}) floordiv {2} + 1", r, n - 1, n),
             causalEnd(r, n)) +
         ", " +
         interval(parameters, formatv("(s1 - {0}) floordiv {0} + 1", n),
                  formatv("s1 ceildiv {0}", n));
}

AttentionText skim::test::causalText(int64_t rows, int64_t keys) {
  AttentionText text;
  text.rows = rows;
  text.keys = keys;
  text.touched = interval(0, "0", causalEnd(rows, keys));
  text.hidden = causalHidden(0, rows, keys);
  text.mask = "        %keep = tile.contains affine_set<(q, k) : (q - k >= 0)>(%q, %k) : i1\n";
  return text;
}

AttentionText skim::test::streamingText(int64_t rows, int64_t keys) {
  AttentionText text;
  text.rows = rows;
  text.keys = keys;
  text.indexParameters = 2;
  std::string end = causalEnd(rows, keys);
  // Some row sees the tile's last key through its window: last key >= first row - window + 1.
  std::string windowStart =
      formatv("(t * {0} - s3 + 1 - {1}) ceildiv {2}, (s0 - s3 + 1 - {1}) ceildiv {2}", rows,
              keys - 1, keys);
  text.touched =
      interval(2, "0", end + formatv(", s2 ceildiv {0}", keys).str(),
               ", guard = affine_set<(t)[s0, s1, s2, s3] : (s2 - 1 >= 0)>") +
      ", " +
      interval(2, windowStart, end, ", guard = affine_set<(t)[s0, s1, s2, s3] : (s3 - 1 >= 0)>");
  // Some pair has k >= sink and q - k >= window.
  text.hidden =
      causalHidden(2, rows, keys) + ", " +
      interval(2, formatv("(s2 - {0}) ceildiv {1}", keys - 1, keys),
               formatv("((t + 1) * {0} - 1 - s3) floordiv {1} + 1, (s1 - 1 - s3) floordiv {1} + 1",
                       rows, keys));
  text.mask =
      "        %c = tile.contains affine_set<(q, k) : (q - k >= 0)>(%q, %k) : i1\n"
      "        %a = tile.contains affine_set<(q, k)[s] : (s - k - 1 >= 0)>(%q, %k)[%p0] : i1\n"
      "        %b = tile.contains affine_set<(q, k)[w] : (w - q + k - 1 >= 0)>(%q, %k)[%p1] "
      ": i1\n"
      "        %ab = arith.ori %a, %b : i1\n"
      "        %keep = arith.andi %ab, %c : i1\n";
  return text;
}

namespace {

/// A module in a context of its own.
struct ParsedModule {
  explicit ParsedModule(const std::string &text) {
    mlir::DialectRegistry registry;
    cpu::registerDialects(registry);
    context.appendDialectRegistry(registry);
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      ADD_FAILURE() << "does not parse:\n" << text;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace

std::string skim::test::emit(const std::string &text, const cpu::Target &target,
                             cpu::OutputKind kind) {
  ParsedModule parsed(text);
  if (!parsed.module)
    return {};
  llvm::Expected<llvm::SmallVector<char, 0>> output = cpu::emit(*parsed.module, target, kind);
  if (!output) {
    ADD_FAILURE() << llvm::toString(output.takeError()) << "\n" << text;
    return {};
  }
  return {output->begin(), output->end()};
}

std::unique_ptr<cpu::Jit> skim::test::compile(const std::string &text, const cpu::Target &target) {
  ParsedModule parsed(text);
  if (!parsed.module)
    return nullptr;
  llvm::Expected<std::unique_ptr<cpu::Jit>> jit = cpu::Jit::create(*parsed.module, target);
  if (!jit) {
    ADD_FAILURE() << llvm::toString(jit.takeError()) << "\n" << text;
    return nullptr;
  }
  return std::move(*jit);
}

skim_cpu_kernel skim::test::lookup(const cpu::Jit &jit, const std::string &symbol) {
  llvm::Expected<skim_cpu_kernel> kernel = jit.lookup(symbol);
  if (!kernel) {
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    return nullptr;
  }
  return *kernel;
}

std::vector<const cpu::Target *> skim::test::hostTargets() {
  std::vector<const cpu::Target *> targets;
  for (const cpu::Target &target : cpu::targets())
    if (cpu::hostRuns(target))
      targets.push_back(&target);
  return targets;
}
