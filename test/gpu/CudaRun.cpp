#include "test/gpu/CudaRun.h"
#include "test/numerics/FromEnvironment.h"

namespace skim::numerics {

CompileOptions cudaOptionsFor(const Case &c, const Layout &layout) {
  CompileOptions options = optionsFor(c);
  options.pageSize = layout.kv == KvLayout::Contiguous ? 0 : layout.pageSize;
  options.target = "sm_90a";
  options.writesKept = false;
  return options;
}

Expected<Kernel> compileForCuda(const Case &c, const Layout &layout) {
  return Compiler().compile(Pattern::fromText(c.program, "case.skim"), cudaOptionsFor(c, layout));
}

ReferenceRun runOnReferenceOfCuda(const Case &c) {
  return runOnReference(c, c.operand == OperandType::f16 ? reference::MeanType::F16
                                                         : reference::MeanType::Bf16);
}

namespace {

std::vector<TensorView *> inputsOf(Operands &operands) {
  std::vector<TensorView *> views = {&operands.q,          &operands.k,      &operands.v,
                                     &operands.cuSeqlensQ, &operands.kvLens, &operands.cuSeqlensKv,
                                     &operands.blockTable};
  for (NamedTensor &input : operands.inputs)
    views.push_back(&input.tensor);
  return views;
}

constexpr TensorView Operands::*kResults[] = {
    &Operands::out, &Operands::lse, &Operands::compactPositions, &Operands::compactCounts};

int64_t elementsOf(const TensorView &view) {
  int64_t elements = 1;
  for (int64_t axis = 0; axis < view.rank; ++axis)
    elements *= view.shape[axis];
  return elements;
}

} // namespace

Expected<DeviceOperands> DeviceOperands::copy(cuda::DeviceArena &arena, const Operands &host) {
  DeviceOperands result{host};
  std::vector<TensorView *> views = inputsOf(result.operands);
  for (TensorView Operands::*view : kResults)
    views.push_back(&(result.operands.*view));
  for (TensorView *view : views) {
    Expected<TensorView> copied = arena.copyIn(*view);
    if (!copied)
      return copied.status();
    *view = *copied;
  }
  return result;
}

Status DeviceOperands::read(cuda::DeviceArena &arena, const Operands &host) const {
  for (TensorView Operands::*view : kResults) {
    const TensorView &into = host.*view;
    if (!into.isPresent() || into.isEmpty())
      continue;
    auto bytes = static_cast<size_t>(elementsOf(into) * dtypeSize(into.dtype));
    if (Status status = arena.copyOut(operands.*view, {static_cast<std::byte *>(into.data), bytes});
        !status)
      return status;
  }
  return Status::ok();
}

Status runOnce(cuda::DeviceArena &arena, const cuda::DriverApi &api, const Kernel &kernel,
               const BatchShape &shape, const Operands &operands, const Parameters &parameters) {
  Expected<Plan> plan = kernel.plan(shape);
  if (!plan)
    return plan.status();
  auto bytes = static_cast<size_t>(plan->workspaceBytes());
  Expected<std::span<std::byte>> workspace = arena.allocate(bytes);
  if (!workspace)
    return workspace.status();
  RunOptions options;
  options.stream = arena.stream();
  if (bytes != 0 && fromEnvironment("SKIM_TEST_POISON", 1) != 0)
    if (Status status =
            api.check(api.fillBytesAsync(workspace->data(), 0xff, bytes, arena.stream()),
                      "filling the workspace");
        !status)
      return status;
  if (Status status = kernel.run(*plan, operands, parameters, *workspace, options); !status)
    return status;
  return kernel.status(arena.stream());
}

void runOnCuda(const std::shared_ptr<const cuda::Device> &device, const Kernel &kernel,
               PreparedRun &prepared) {
  RunResult &result = prepared.result;
  // Probabilities are rounded to the operands' type before they meet values; their sum is not. What
  // f32 and the special function unit round comes on top.
  bool isHalf = prepared.operands.v.dtype == DType::F16;
  result.bounds = {.probability = (isHalf ? 0x1p-11 : 0x1p-8) + 0x1p-12, .lse = 1e-4};
  result.status = [&]() -> Status {
    Expected<std::unique_ptr<cuda::DeviceArena>> arena = cuda::DeviceArena::create(device);
    if (!arena)
      return arena.status();
    Expected<DeviceOperands> onDevice = DeviceOperands::copy(**arena, prepared.operands);
    if (!onDevice)
      return onDevice.status();
    Expected<BatchShape> shape =
        BatchShape::of(prepared.operands.cuSeqlensQ, prepared.operands.kvLens);
    if (!shape)
      return shape.status();
    Status status =
        runOnce(**arena, device->api(), kernel, *shape, onDevice->operands, prepared.parameters);
    if (!status && status.code() != StatusCode::DataOutOfRange)
      return status;
    if (Status read = onDevice->read(**arena, prepared.operands); !read)
      return read;
    return status;
  }();
  prepared.widenOut();
}

RunResult runOnCuda(const std::shared_ptr<const cuda::Device> &device, const Kernel &kernel,
                    const Case &c, const Layout &layout) {
  PreparedRun prepared(kernel, c, layout);
  runOnCuda(device, kernel, prepared);
  return std::move(prepared.result);
}

std::string checkOnCuda(const std::shared_ptr<const cuda::Device> &device, const Case &c,
                        const Layout &layout) {
  ReferenceRun expected = runOnReferenceOfCuda(c);
  if (!expected.ok)
    return "the reference refuses: " + expected.message;
  Expected<Kernel> kernel = compileForCuda(c, layout);
  if (!kernel)
    return "does not compile: " + kernel.status().message();
  return compareRuns(c, expected.result, runOnCuda(device, *kernel, c, layout));
}

std::unique_ptr<Kernel> CudaTest::compile(const Case &c, const Layout &layout) {
  Expected<Kernel> kernel = compileForCuda(c, layout);
  EXPECT_TRUE(kernel) << kernel.status().message();
  return kernel ? std::make_unique<Kernel>(std::move(*kernel)) : nullptr;
}

bool sameResults(const RunResult &a, const RunResult &b) {
  return a.status.code() == b.status.code() && sameBits(a.out, b.out) && sameBits(a.lse, b.lse);
}

bool areRowsOf(const RunResult &part, const RunResult &whole, int64_t first) {
  int64_t row = whole.heads * whole.valueDim;
  llvm::ArrayRef<float> out = whole.out, lse = whole.lse, partLse = part.lse;
  if (!sameBits(part.out, out.slice(first * row, part.tokens * row)))
    return false;
  for (int64_t head = 0; head != whole.heads; ++head)
    if (!sameBits(partLse.slice(head * part.tokens, part.tokens),
                  lse.slice(head * whole.tokens + first, part.tokens)))
      return false;
  return true;
}

} // namespace skim::numerics
