// Files for every target, also for those that this machine does not run.
#include "test/tile/CellKernels.h"
#include "test/tile/Programs.h"

#include "mlir/IR/BuiltinOps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

using namespace skim;
using namespace skim::test;
using testing::HasSubstr;

static const cpu::Target &target(const char *name) {
  return *llvm::cantFail(cpu::findTarget(name));
}

static std::string program(const char *operand = "bf16") {
  Shape shape;
  shape.headDim = shape.valueDim = 128;
  shape.operand = operand;
  return attentionProgram(shape, causalText(64, 64));
}

TEST(Emit, ObjectsNameTheirMachine) {
  for (const cpu::Target &each : cpu::targets()) {
    std::string object = emit(program(), each, cpu::OutputKind::Object);
    ASSERT_GT(object.size(), 20U);
    EXPECT_EQ(object.substr(1, 3), "ELF");
    // e_machine: EM_X86_64 or EM_AARCH64.
    EXPECT_EQ(static_cast<uint8_t>(object[18]), each.name == "aarch64" ? 183 : 62);
  }
}

static bool contains(const std::string &text, const char *part) {
  return text.find(part) != std::string::npos;
}

/// The functions that assembly calls.
static std::set<std::string> calls(const std::string &assembly) {
  std::set<std::string> names;
  std::regex call("\\t(?:callq|bl)\\t([A-Za-z_0-9]+)");
  for (std::sregex_iterator it(assembly.begin(), assembly.end(), call), end; it != end; ++it)
    names.insert((*it)[1]);
  return names;
}

TEST(Emit, AssemblyUsesWholeVectorsAndCallsNoMathematics) {
  for (const char *operand : {"f32", "bf16", "f16"}) {
    std::string v4 = emit(program(operand), target("x86-64-v4"), cpu::OutputKind::Assembly);
    EXPECT_TRUE(contains(v4, "vfmadd231ps"));
    EXPECT_TRUE(contains(v4, "%zmm"));
    std::string v3 = emit(program(operand), target("x86-64-v3"), cpu::OutputKind::Assembly);
    EXPECT_TRUE(contains(v3, "%ymm"));
    EXPECT_FALSE(contains(v3, "%zmm"));
    std::string v2 = emit(program(operand), target("x86-64-v2"), cpu::OutputKind::Assembly);
    EXPECT_FALSE(contains(v2, "%ymm"));
    std::string arm = emit(program(operand), target("aarch64"), cpu::OutputKind::Assembly);
    EXPECT_TRUE(contains(arm, "fmla"));
    for (const std::string &assembly : {v2, v3, v4, arm})
      EXPECT_THAT(calls(assembly), testing::IsSubsetOf({"memset", "memcpy"}));
  }
}

TEST(Emit, PanelsCallTheSelectionsAlone) {
  Shape shape;
  shape.operand = "f16";
  std::string body =
      "    %x = arith.constant 1.0 : f32\n    %n = arith.constant 9.0 : f64\n"
      "    %rows = tile.load_panel of %item scratch 0 : !tile.panel<rows = 64, query = 1, elements "
      "= 32, f32>\n"
      "    %s = tile.dot_panel %rows, keys (head = kv) scale %x visible all of %item scratch 1 : "
      "!tile.panel<rows = 64, query = 1, elements = 32, f32> -> !tile.panel<rows = 64, query = 1, "
      "key = 1, f32>\n"
      "    %c = tile.select_panel top_k %n of %item scratch 2 row 3 : !tile.panel<rows = 64, query "
      "= 1, key = 1, i1> where {\n    ^bb0(%q: index, %k: index):\n"
      "      %v = tile.panel_value %s (%q, %k) : !tile.panel<rows = 64, query = 1, key = 1, f32> "
      "-> "
      "f32\n      tile.yield %v : f32\n    }\n"
      "    tile.reduce_cells var of %item causal to buffer 4 (head = query) cells (64, 1) diagonal "
      "accumulators 5 {\n      tile.contribute of %item cells (1, 1) where {\n"
      "      ^bb0(%q: index, %k: index):\n"
      "        %v = tile.panel_value %s (%q, %k) : !tile.panel<rows = 64, query = 1, key = 1, f32> "
      "-> f32\n        %e = math.exp %v : f32\n        tile.yield %e : f32\n      }\n    }\n"
      "    tile.reduce_cells max of %item to buffer 4 (head = query) cells (64, 64) accumulators 5 "
      "{\n      tile.contribute of %item cells (1, 1) where {\n      ^bb0(%q: index, %k: index):\n"
      "        %v = tile.panel_value %s (%q, %k) : !tile.panel<rows = 64, query = 1, key = 1, f32> "
      "-> f32\n        tile.yield %v : f32\n      }\n    }\n";
  std::string text = skim::test::program(shape, 64, 64, "query", "queries", body);
  for (const cpu::Target &each : cpu::targets()) {
    std::string assembly = emit(text, each, cpu::OutputKind::Assembly);
    EXPECT_THAT(calls(assembly), testing::IsSubsetOf({"memset", "memcpy", "skim_select_top_k"}));
    EXPECT_THAT(assembly, HasSubstr("skim_select_top_k"));
  }
}

TEST(Emit, LlvmIrDefinesTheKernel) {
  std::string ir = emit(program(), target("aarch64"), cpu::OutputKind::LlvmIr);
  EXPECT_THAT(ir, HasSubstr("define void @attention(ptr"));
  EXPECT_THAT(ir, HasSubstr("aarch64"));
}

TEST(Targets, NamesAreChecked) {
  llvm::Expected<const cpu::Target *> unknown = cpu::findTarget("x86-64-v9");
  ASSERT_FALSE(static_cast<bool>(unknown));
  EXPECT_EQ(llvm::toString(unknown.takeError()),
            "unknown CPU target 'x86-64-v9', expected native, x86-64-v2, x86-64-v3, x86-64-v4, "
            "aarch64");
  llvm::Expected<const cpu::Target *> native = cpu::findTarget("native");
  ASSERT_TRUE(static_cast<bool>(native));
  EXPECT_TRUE(cpu::hostRuns(**native));
}

TEST(Jit, RefusesForeignMachines) {
  const cpu::Target *foreign = nullptr;
  for (const cpu::Target &each : cpu::targets())
    if (!cpu::hostRuns(each))
      foreign = &each;
  ASSERT_NE(foreign, nullptr);
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> empty = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
  llvm::Expected<std::unique_ptr<cpu::Jit>> jit = cpu::Jit::create(*empty, *foreign);
  ASSERT_FALSE(static_cast<bool>(jit));
  EXPECT_EQ(llvm::toString(jit.takeError()),
            "this machine cannot run code for '" + foreign->name.str() + "'");
}

TEST(Jit, NamesAMissingKernel) {
  std::unique_ptr<cpu::Jit> jit = compile(program(), target("native"));
  ASSERT_NE(jit, nullptr);
  llvm::Expected<skim_cpu_kernel> kernel = jit->lookup("no_such_kernel");
  ASSERT_FALSE(static_cast<bool>(kernel));
  EXPECT_THAT(llvm::toString(kernel.takeError()), HasSubstr("no_such_kernel"));
}
