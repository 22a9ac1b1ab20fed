// Kinds of faults that other systems had, on a CUDA device: long contexts, graphs, batches, chunks,
// balance, streams. Each test bears the name of its kind.
#include "test/gpu/CudaRun.h"
#include "test/numerics/Cases.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace skim;
using namespace skim::numerics;

namespace {

constexpr Heads kFourHeads{.heads = 4, .kvHeads = 2, .operand = OperandType::bf16};
constexpr const char *kStreaming =
    "pattern p(sink: index = 64, window: index = 1000) { keep k < sink or q - k < window }";
constexpr const char *kPatterns[] = {
    "pattern p(sink: index = 30, window: index = 100) { keep k < sink or q - k < window }",
    "pattern p { input layout: bool[head, q / 64, k / 32]\n  keep layout or q - k < 48 }",
    "pattern p { input chosen: bool[head, k]\n  keep chosen }",
    "pattern p { keep q / 48 == k / 48 or q - k < 17 }",
    "pattern p { keep cover(q / 64, k / 64, (q - k) % 96 == 5) or q - k < 9\n"
    "  logit 20.0 * tanh(s / 20.0) - 0.125 * (q - k) }",
    "pattern p { input layout: bool[head, q / 64, k / 32]\n  keep layout or q - k < 48\n"
    "  rest mean(32, q / 64) }",
};

class CudaServing : public CudaTest {};

/// One request of `qLen` rows and `kvLen` keys, random but for its seed.
Case requestCase(const char *program, int64_t qLen, int64_t kvLen) {
  Case c = makeCase(program, {{qLen, kvLen}}, kFourHeads);
  addInput(c, "layout", "bool", {4, (qLen + 63) / 64 + 1, (kvLen + 31) / 32},
           [](int64_t i) { return i * 7 % 5 < 2; });
  addInput(c, "chosen", "bool", {4, kvLen}, [](int64_t i) { return i * 13 % 7 < 3; });
  return c;
}

TEST_F(CudaServing, K14AMillionTokensTakeNoMemoryByThePair) {
  Case small = makeCase(kStreaming, {}, {.heads = 32, .kvHeads = 8, .operand = OperandType::bf16});
  std::unique_ptr<Kernel> wide = compile(small);
  ASSERT_TRUE(wide);
  constexpr int64_t kLength = 1 << 20;
  Expected<Plan> plan = wide->plan({1, kLength, kLength, kLength});
  ASSERT_TRUE(plan) << plan.status().message();
  EXPECT_LT(plan->workspaceBytes(), 64 << 20);

  // The last rows of a million: the same as over the sink and the tail alone. All between is NaN.
  constexpr int64_t kRows = 200, kSink = 64, kTail = 1000 + kRows + 300, kDim = 64;
  Heads heads{.heads = 2, .kvHeads = 1, .operand = OperandType::bf16};
  Case cut = makeCase(kStreaming, {{kRows, kSink + kTail}}, heads);
  Case whole = cut;
  whole.problem.kvLens = {kLength};
  for (reference::Tokens reference::Problem::*operand :
       {&reference::Problem::k, &reference::Problem::v}) {
    reference::Tokens &tokens = whole.problem.*operand;
    const std::vector<double> &source = (cut.problem.*operand).data;
    tokens.tokens = kLength;
    tokens.data.assign(kLength * kDim, std::numeric_limits<double>::quiet_NaN());
    // Tiles are multiplied whole: what lies beside the sink and the window in theirs is finite.
    std::fill_n(tokens.data.begin(), 256 * kDim, 0);
    std::copy_n(source.begin(), kSink * kDim, tokens.data.begin());
    std::copy(source.begin() + kSink * kDim, source.end(), tokens.data.end() - kTail * kDim);
  }
  std::unique_ptr<Kernel> kernel = compile(cut);
  ASSERT_TRUE(kernel);
  ReferenceRun expected = runOnReference(cut);
  ASSERT_TRUE(expected.ok) << expected.message;
  RunResult actual = run(*kernel, whole, {.padding = 0});
  EXPECT_EQ(compareRuns(cut, expected.result, actual), "");
}

TEST_F(CudaServing, K14FewRowsAtTheEndOfManyKeys) {
  // A decoded token, a draft of several, a small chunk; of groups that share a tile, and of one
  // that does not.
  for (int64_t ratio : {1, 2, 4, 7, 8, 16, 64}) {
    Heads heads{.heads = ratio, .kvHeads = 1, .operand = OperandType::bf16};
    for (int64_t pageSize : {0, 1, 64}) {
      Layout layout{.padding = 8};
      if (pageSize != 0) {
        layout.kv = KvLayout::PagedNhd;
        layout.pageSize = pageSize;
      }
      Case c =
          makeCase("pattern p { keep true }", {{1, 30'000}, {7, 5000}, {1, 1}, {64, 1000}, {3, 49}},
                   heads, uint64_t(ratio));
      EXPECT_EQ(check(c, layout), "") << ratio << " heads, pages of " << pageSize;
    }
  }
}

TEST_F(CudaServing, K15OneKernelServesEveryShape) {
  std::unique_ptr<Kernel> kernel = compile(makeCase(kPatterns[0], {}, kFourHeads));
  ASSERT_TRUE(kernel);
  for (uint64_t seed = 0; seed != 40; ++seed) {
    std::vector<Lengths> lengths;
    for (uint64_t r = 0; r != seed % 7; ++r)
      lengths.push_back({int64_t((seed * 31 + r * 57) % 150), int64_t((seed * 17 + r * 71) % 400)});
    Case c = makeCase(kPatterns[0], lengths, kFourHeads, seed);
    ReferenceRun expected = runOnReference(c);
    ASSERT_TRUE(expected.ok) << expected.message;
    EXPECT_EQ(compareRuns(c, expected.result, run(*kernel, c)), "") << seed;
  }
}

TEST_F(CudaServing, K15BundlesRunWithoutACompiler) {
  Case c = requestCase(kPatterns[1], 200, 333);
  std::unique_ptr<Kernel> kernel = compile(c);
  ASSERT_TRUE(kernel);
  Expected<std::string> bytes =
      Compiler().bundle({{Pattern::fromText(c.program, "case.skim"), cudaOptionsFor(c)}});
  ASSERT_TRUE(bytes) << bytes.status().message();
  Expected<Kernel> loaded = Kernel::load(std::as_bytes(std::span(*bytes)), {.target = "sm_90a"});
  ASSERT_TRUE(loaded) << loaded.status().message();
  EXPECT_TRUE(sameResults(run(*loaded, c), run(*kernel, c)));
}

/// Puts what `host` holds to the start of memory that a larger batch had.
void overwrite(const cuda::DriverApi &api, const TensorView &onDevice, const TensorView &host) {
  if (!host.isPresent() || host.isEmpty())
    return;
  ASSERT_EQ(host.rank, onDevice.rank);
  int64_t elements = std::accumulate(host.shape.begin(), host.shape.begin() + host.rank, int64_t(1),
                                     std::multiplies<>());
  // The last axis may be longer on the device: row by row.
  int64_t row = host.shape[host.rank - 1];
  int64_t pitch = onDevice.shape[host.rank - 1];
  auto bytes = static_cast<size_t>(dtypeSize(host.dtype));
  if (row == pitch) {
    ASSERT_EQ(api.copyToDevice(onDevice.data, host.data, static_cast<size_t>(elements) * bytes), 0);
    return;
  }
  for (int64_t i = 0; i != elements / row; ++i)
    ASSERT_EQ(api.copyToDevice(
                  static_cast<std::byte *>(onDevice.data) + static_cast<size_t>(i * pitch) * bytes,
                  static_cast<std::byte *>(host.data) + static_cast<size_t>(i * row) * bytes,
                  static_cast<size_t>(row) * bytes),
              0);
}

TEST_F(CudaServing, K16AGraphIsReplayedWithOtherLengthsAndPages) {
  const Layout paged{.kv = KvLayout::PagedNhd, .pageSize = 16, .padding = 0, .seed = 3};
  Case largest = makeCase(kPatterns[0], std::vector<Lengths>(5, {100, 300}), kFourHeads);
  std::unique_ptr<Kernel> kernel = compile(largest, paged);
  ASSERT_TRUE(kernel);
  PreparedRun first(*kernel, largest, paged);
  Expected<std::unique_ptr<cuda::DeviceArena>> arena = cuda::DeviceArena::create(device);
  ASSERT_TRUE(arena) << arena.status().message();
  Expected<DeviceOperands> onDevice = DeviceOperands::copy(**arena, first.operands);
  ASSERT_TRUE(onDevice) << onDevice.status().message();
  Expected<Plan> plan = kernel->plan({5, 500, 100, 300});
  ASSERT_TRUE(plan) << plan.status().message();
  Expected<std::span<std::byte>> workspace =
      (*arena)->allocate(static_cast<size_t>(plan->workspaceBytes()));
  ASSERT_TRUE(workspace) << workspace.status().message();
  const test::DeviceStream stream;
  RunOptions options;
  options.stream = stream.get();
  const test::CapturedGraph graph(stream, [&] {
    Status status = kernel->run(*plan, onDevice->operands, first.parameters, *workspace, options);
    ASSERT_TRUE(status) << status.message();
  });
  const std::vector<std::vector<Lengths>> batches = {
      std::vector<Lengths>(5, {100, 300}),
      {{1, 1}, {0, 0}, {60, 199}, {7, 3}, {0, 0}},
      {{100, 300}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
      {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
      {{1, 130}, {1, 131}, {1, 200}, {1, 7}, {1, 300}}};
  for (size_t i = 0; i != batches.size(); ++i) {
    Case c = makeCase(kPatterns[0], batches[i], kFourHeads, 10 + i);
    RunResult eager = run(*kernel, c, paged);
    ASSERT_TRUE(eager.status) << eager.status.message();
    PreparedRun contents(*kernel, c, paged);
    // What an earlier plan left in the workspace means nothing.
    ASSERT_EQ(api().fillBytes(workspace->data(), 0xff, workspace->size()), 0);
    for (TensorView Operands::*view :
         {&Operands::q, &Operands::k, &Operands::v, &Operands::cuSeqlensQ, &Operands::kvLens,
          &Operands::blockTable})
      overwrite(api(), onDevice->operands.*view, contents.operands.*view);
    overwrite(api(), onDevice->operands.out, first.operands.out);
    overwrite(api(), onDevice->operands.lse, first.operands.lse);
    ASSERT_EQ(api().streamSynchronize(nullptr), 0);
    graph.launch(stream);
    Status met = kernel->status(stream.get());
    ASSERT_TRUE(met) << met.message();
    PreparedRun results(*kernel, largest, paged);
    ASSERT_TRUE(onDevice->read(**arena, results.operands));
    results.widenOut();
    int64_t row = eager.heads * eager.valueDim;
    llvm::ArrayRef<float> out = results.result.out;
    EXPECT_TRUE(sameBits(out.take_front(eager.tokens * row), eager.out)) << "batch " << i;
    EXPECT_TRUE(
        llvm::all_of(out.drop_front(eager.tokens * row), [](float x) { return std::isnan(x); }))
        << "written past batch " << i;
    for (int64_t head = 0; head != eager.heads; ++head)
      EXPECT_TRUE(
          sameBits(llvm::ArrayRef<float>(results.result.lse).slice(head * 500, eager.tokens),
                   llvm::ArrayRef<float>(eager.lse).slice(head * eager.tokens, eager.tokens)))
          << "batch " << i;
  }
}

TEST_F(CudaServing, K17BatchNeighboursChangeNoBit) {
  for (const char *program : kPatterns) {
    Case alone = requestCase(program, 200, 333);
    std::unique_ptr<Kernel> kernel = compile(alone);
    ASSERT_TRUE(kernel);
    RunResult expected = run(*kernel, alone);
    ASSERT_TRUE(expected.status) << expected.status.message();
    Case batch = batchOf({requestCase(program, 65, 500), alone, requestCase(program, 1, 1),
                          requestCase(program, 0, 40)});
    RunResult actual = run(*kernel, batch);
    ASSERT_TRUE(actual.status) << actual.status.message();
    EXPECT_TRUE(areRowsOf(expected, actual, 65)) << program;
  }
}

TEST_F(CudaServing, K17ChunksChangeNoBit) {
  constexpr int64_t kLength = 448, kBlock = 64;
  for (const char *program : kPatterns) {
    ReportOptions call;
    call.tokens = call.context = 64;
    Case whole = requestCase(program, kLength, kLength);
    CompileOptions options = cudaOptionsFor(whole);
    options.target = "cpu"; // What a pattern depends on is the same for all targets.
    Expected<Report> report = Compiler().report(Pattern::fromText(program), options, call);
    ASSERT_TRUE(report) << report.status().message();
    ASSERT_TRUE(report->chunkBreakers.empty()) << program;
    std::unique_ptr<Kernel> kernel = compile(whole);
    ASSERT_TRUE(kernel);
    RunResult expected = run(*kernel, whole);
    ASSERT_TRUE(expected.status) << expected.status.message();
    int64_t first = 0;
    for (int64_t cut : {1, 70, 257, 448}) {
      auto end =
          static_cast<int64_t>(llvm::alignTo(static_cast<uint64_t>(cut), report->chunkMultiple));
      RunResult chunk = run(*kernel, chunkOf(whole, first, end, kBlock));
      ASSERT_TRUE(chunk.status) << chunk.status.message();
      EXPECT_TRUE(areRowsOf(chunk, expected, first)) << program << ", rows from " << first;
      first = end;
    }
  }
}

TEST_F(CudaServing, K17AThousandRunsGiveTheSameBits) {
  Case c = requestCase(kPatterns[1], 500, 700);
  std::unique_ptr<Kernel> kernel = compile(c);
  ASSERT_TRUE(kernel);
  PreparedRun prepared(*kernel, c, {.padding = 8});
  Expected<std::unique_ptr<cuda::DeviceArena>> arena = cuda::DeviceArena::create(device);
  ASSERT_TRUE(arena) << arena.status().message();
  Expected<DeviceOperands> onDevice = DeviceOperands::copy(**arena, prepared.operands);
  ASSERT_TRUE(onDevice) << onDevice.status().message();
  std::optional<std::vector<float>> first;
  for (int i = 0; i != 20; ++i) {
    for (int repeat = 0; repeat != 50; ++repeat) {
      Status status = runOnce(**arena, api(), *kernel, {1, 500, 500, 700}, onDevice->operands,
                              prepared.parameters);
      ASSERT_TRUE(status) << status.message();
    }
    ASSERT_TRUE(onDevice->read(**arena, prepared.operands));
    if (!first)
      first = prepared.result.out;
    ASSERT_TRUE(sameBits(prepared.result.out, *first)) << i;
  }
}

/// Operands of bits that do not matter: the first rows over and over.
Case timedCase(const std::string &program, int64_t length) {
  Case c = makeCase(program, {{256, 256}},
                    {.heads = 32, .kvHeads = 8, .dim = 64, .operand = OperandType::bf16});
  for (reference::Tokens reference::Problem::*operand :
       {&reference::Problem::q, &reference::Problem::k, &reference::Problem::v}) {
    reference::Tokens &tokens = c.problem.*operand;
    std::vector<double> rows = tokens.data;
    tokens.tokens = length;
    tokens.data.clear();
    for (int64_t copies = length / 256; copies != 0; --copies)
      tokens.data.insert(tokens.data.end(), rows.begin(), rows.end());
  }
  c.problem.cuSeqlensQ = {0, length};
  c.problem.kvLens = {length};
  return c;
}

TEST_F(CudaServing, K18OneDenseHeadAmongSparseOnes) {
  constexpr int64_t kLength = 16384;
  constexpr int64_t kBlocks = kLength / 1024;
  auto seconds = [&](bool isDense) {
    Case c = timedCase("pattern p { input layout: bool[head, q / 1024, k / 1024]\n keep layout }",
                       kLength);
    // Head 0 sees all; the others one block in twenty.
    addInput(c, "layout", "bool", {32, kBlocks, kBlocks}, [&](int64_t i) {
      int64_t head = i / (kBlocks * kBlocks), row = i / kBlocks % kBlocks, key = i % kBlocks;
      return isDense || head == 0 || (5 * row + 3 * key + head) % 20 == 0;
    });
    Expected<Kernel> kernel = compileForCuda(c);
    EXPECT_TRUE(kernel) << kernel.status().message();
    if (!kernel)
      return 1.0;
    PreparedRun prepared(*kernel, c, {.padding = 0});
    Expected<std::unique_ptr<cuda::DeviceArena>> arena = cuda::DeviceArena::create(device);
    EXPECT_TRUE(arena) << arena.status().message();
    Expected<DeviceOperands> onDevice = DeviceOperands::copy(**arena, prepared.operands);
    Expected<Plan> plan = kernel->plan({1, kLength, kLength, kLength});
    EXPECT_TRUE(onDevice && plan);
    Expected<std::span<std::byte>> workspace =
        (*arena)->allocate(static_cast<size_t>(plan->workspaceBytes()));
    EXPECT_TRUE(workspace) << workspace.status().message();
    RunOptions options;
    options.stream = (*arena)->stream();
    std::vector<double> times;
    for (int i = 0; i != 12; ++i) {
      Expected<double> time = (*arena)->time([&] {
        return kernel->run(*plan, onDevice->operands, prepared.parameters, *workspace, options);
      });
      EXPECT_TRUE(time) << time.status().message();
      times.push_back(time ? *time : 1);
    }
    std::ranges::sort(times);
    return times[times.size() / 2];
  };
  double dense = seconds(true), mixed = seconds(false);
  double work = (1 + 31 * 0.05) / 32;
  std::cout << "dense " << dense * 1e3 << " ms, mixed " << mixed * 1e3 << " ms of work " << work
            << "\n";
  // What is left for starts, tails and masks is generous: another process may use the device.
  EXPECT_LT(mixed, 2 * work * dense + 50e-6);
}

TEST_F(CudaServing, K19InputsAreMadeOnAnotherStream) {
  Case c = requestCase(kPatterns[1], 400, 600);
  std::unique_ptr<Kernel> kernel = compile(c);
  ASSERT_TRUE(kernel);
  RunResult expected = run(*kernel, c, {.padding = 0});
  ASSERT_TRUE(expected.status) << expected.status.message();
  PreparedRun prepared(*kernel, c, {.padding = 0});
  Expected<std::unique_ptr<cuda::DeviceArena>> arena = cuda::DeviceArena::create(device);
  ASSERT_TRUE(arena) << arena.status().message();
  Expected<DeviceOperands> onDevice = DeviceOperands::copy(**arena, prepared.operands);
  ASSERT_TRUE(onDevice) << onDevice.status().message();
  Expected<Plan> plan = kernel->plan({1, 400, 400, 600});
  ASSERT_TRUE(plan) << plan.status().message();
  // Two runs at once, each on its own stream in its own workspace, after waiting for the copies.
  const test::DeviceStream streams[2];
  const test::DeviceBytes workspaces[] = {
      test::DeviceBytes(static_cast<size_t>(plan->workspaceBytes()), 0xff),
      test::DeviceBytes(static_cast<size_t>(plan->workspaceBytes()), 0xff)};
  Expected<DeviceOperands> others = DeviceOperands::copy(**arena, prepared.operands);
  ASSERT_TRUE(others) << others.status().message();
  for (int i = 0; i != 20; ++i)
    for (int which : {0, 1}) {
      RunOptions options;
      options.stream = streams[which].get();
      Status status = kernel->run(*plan, (which ? *others : *onDevice).operands,
                                  prepared.parameters, workspaces[which].span(), options);
      ASSERT_TRUE(status) << status.message();
    }
  for (int which : {0, 1}) {
    streams[which].wait();
    ASSERT_TRUE(kernel->status(streams[which].get()));
    ASSERT_TRUE((which ? *others : *onDevice).read(**arena, prepared.operands));
    EXPECT_TRUE(sameBits(prepared.result.out, expected.out));
    EXPECT_TRUE(sameBits(prepared.result.lse, expected.lse));
  }
}

} // namespace
