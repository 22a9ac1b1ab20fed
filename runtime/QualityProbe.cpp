#include <skim/QualityProbe.h>

#include "runtime/BoundRun.h"
#include "runtime/CheckedMath.h"
#include "runtime/LaunchPlan.h"
#include "runtime/TensorCheck.h"

#include <skim/WorkspaceMemory.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>

namespace skim {

namespace {

/// A number that looks random in all of its bits (the finaliser of splitmix64).
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Uniform in [0, 1), from what an item is and not from where it stands in the batch.
double lotOf(uint64_t seed, int64_t layer, const skim_work_item &item) {
  uint64_t x = mix(seed + 0x9e3779b97f4a7c15u);
  x = mix(x ^ static_cast<uint64_t>(layer));
  x = mix(x ^ (static_cast<uint64_t>(static_cast<uint32_t>(item.head)) << 32 |
               static_cast<uint32_t>(item.tile)));
  return std::ldexp(static_cast<double>(x >> 11), -53);
}

double elementAt(const std::byte *row, DType dtype, int64_t i) {
  switch (dtype) {
  case DType::F16:
    return f16ToF32(reinterpret_cast<const uint16_t *>(row)[i]);
  case DType::BF16:
    return bf16ToF32(reinterpret_cast<const uint16_t *>(row)[i]);
  default:
    return reinterpret_cast<const float *>(row)[i];
  }
}

/// Positions of the rows of an item, and the token of the batch that the first one is.
struct ItemRows {
  int64_t token;
  int64_t count;
};

ItemRows rowsOf(const BatchLengths &lengths, const skim_work_item &item, int64_t tileSize) {
  const int64_t base = lengths.kvLength(item.request) - lengths.queryLength(item.request);
  const int64_t low = std::max(base, item.tile * tileSize);
  const int64_t high = std::min(lengths.kvLength(item.request), (item.tile + 1) * tileSize);
  return {lengths.cuSeqlensQ[item.request] + low - base, std::max<int64_t>(high - low, 0)};
}

/// The chosen items at work, as the threads of the pool see them. Each item writes its rows to
/// scratch and then to its part of `rows`.
struct Probe {
  skim_cpu_kernel function;
  const BoundRun &bound;
  const Operands &operands;
  int64_t tileSize;
  int64_t valueDim;
  std::span<const int64_t> firstRows; ///< of each item
  std::vector<std::byte> scratch;     ///< of each worker: out [tileSize, valueDim], lse [tileSize]
  int64_t scratchBytes = 0;
  std::vector<ProbedRow> rows;
  std::vector<uint8_t> sees; ///< whether the row sees a key

  int64_t outBytes() const { return tileSize * valueDim * dtypeSize(operands.out.dtype); }
};

ProbedRow compareRow(const Probe &probe, const std::byte *dense, double denseLse, int64_t token,
                     int64_t head) {
  const TensorView &out = probe.operands.out;
  const TensorView &lse = probe.operands.lse;
  const auto *row = static_cast<const std::byte *>(out.data) +
                    (token * out.strides[0] + head * out.strides[1]) * dtypeSize(out.dtype);
  const double asked =
      static_cast<const float *>(lse.data)[head * lse.strides[0] + token * lse.strides[1]];
  double difference = 0;
  double largest = 0;
  for (int64_t i = 0; i < probe.valueDim; ++i) {
    const double a = elementAt(row, out.dtype, i);
    const double b = elementAt(dense, out.dtype, i);
    if (!std::isfinite(a) || !std::isfinite(b))
      return {std::nan(""), std::nan("")};
    difference = std::max(difference, std::abs(a - b));
    largest = std::max(largest, std::abs(b));
  }
  // Rounding of the two sums may pass 1 in the last place; NaN passes the comparison.
  const double mass = std::exp(asked - denseLse);
  return {mass > 1 ? 1 : mass, difference == 0 ? 0 : difference / largest};
}

void probeChunk(void *context, int64_t worker, int64_t first, int64_t count) {
  auto &probe = *static_cast<Probe *>(context);
  std::byte *out = probe.scratch.data() + worker * probe.scratchBytes;
  auto *lse = reinterpret_cast<float *>(out + ceilDiv(probe.outBytes(), 16) * 16);
  for (int64_t i = first; i < first + count; ++i) {
    const skim_work_item &item = probe.bound.items[i];
    const ItemRows rows = rowsOf(probe.bound.lengths, item, probe.tileSize);
    // The kernel addresses rows by token and head; shifted by those of the item, they lie in the
    // scratch. Integers, as the shifted pointers may lie before all memory.
    skim_kernel_args args = probe.bound.args;
    const int64_t rowBytes = probe.valueDim * dtypeSize(probe.operands.out.dtype);
    // NOLINTBEGIN(performance-no-int-to-ptr)
    args.out = {reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(out) -
                                         static_cast<uintptr_t>(rows.token * rowBytes)),
                probe.valueDim, 0};
    args.lse = reinterpret_cast<float *>(reinterpret_cast<uintptr_t>(lse) -
                                         static_cast<uintptr_t>(rows.token) * sizeof(float));
    // NOLINTEND(performance-no-int-to-ptr)
    args.lse_token_stride = 1;
    args.lse_head_stride = 0;
    probe.function(&args, probe.bound.items, i, 1, worker);
    for (int64_t row = 0; row < rows.count; ++row) {
      const int64_t at = probe.firstRows[i] + row;
      probe.sees[at] = !(std::isinf(lse[row]) && lse[row] < 0);
      probe.rows[at] =
          compareRow(probe, out + row * rowBytes, lse[row], rows.token + row, item.head);
    }
  }
}

template <typename Named, typename Descriptions>
std::vector<Named> knownOnes(const std::vector<Named> &given, const Descriptions &known) {
  std::vector<Named> result;
  for (const Named &one : given)
    if (std::ranges::any_of(known, [&](const auto &other) { return other.name == one.name; }))
      result.push_back(one);
  return result;
}

} // namespace

Expected<QualityProbe> QualityProbe::create(Kernel dense, const QualityProbeOptions &options) {
  if (!(options.rate >= 0 && options.rate <= 1))
    return expectedButGot({"", "rate"}, "0 to 1", std::to_string(options.rate));
  if (dense.isOnCuda())
    return Status(StatusCode::Unsupported, "dense: the probe runs on the CPU alone");
  const std::vector<KernelDescription> &kernels = dense.launchPlan().kernels;
  if (kernels.size() != 1 || kernels[0].axis != ItemAxis::Queries ||
      kernels[0].head != HeadAxis::QueryHead)
    return expectedButGot({"", "dense"}, "a kernel of attention alone",
                          "'" + dense.launchPlan().pattern + "' with " +
                              std::to_string(kernels.size()) + " kernels");
  return QualityProbe(std::move(dense), options);
}

Expected<QualitySample> QualityProbe::measure(const Operands &given, const Parameters &parameters,
                                              const ProbeRunOptions &options) const {
  const auto start = std::chrono::steady_clock::now();
  const LaunchPlan &launchPlan = dense_.launchPlan();
  Operands operands = given;
  operands.inputs = knownOnes(given.inputs, launchPlan.inputs);
  operands.compactPositions = {};
  operands.compactCounts = {};
  const Expected<BatchShape> shape = BatchShape::of(operands.cuSeqlensQ, operands.kvLens);
  if (!shape)
    return shape.status();
  const Expected<Plan> plan = dense_.plan(*shape);
  if (!plan)
    return plan.status();
  const WorkspaceMemory workspace(plan->workspaceBytes());
  RunOptions runOptions;
  runOptions.threads = options.threads;
  runOptions.pool = options.pool;
  BoundRun bound;
  if (Status status = bindRun(launchPlan, *shape, *plan->layout_, operands,
                              knownOnes(parameters, launchPlan.parameters), workspace.span(),
                              runOptions, bound);
      !status)
    return status;
  if (!operands.lse.isPresent())
    return expectedButGot({"", "lse"}, "the log-sum-exp of a run", "nothing");

  const KernelDescription &kernel = launchPlan.kernels[0];
  const int64_t all =
      enumerateWorkItems(kernel, launchPlan.signature, bound.lengths, bound.order, bound.items);
  const auto *const end = std::remove_if(bound.items, bound.items + all, [&](const auto &item) {
    return lotOf(options.seed, operands.layer, item) >= options_.rate;
  });
  std::vector<int64_t> firstRows = {0};
  for (const skim_work_item *item = bound.items; item != end; ++item)
    firstRows.push_back(firstRows.back() + rowsOf(bound.lengths, *item, kernel.tileSize).count);

  Probe probe{.function = dense_.functions_[0],
              .bound = bound,
              .operands = operands,
              .tileSize = kernel.tileSize,
              .valueDim = launchPlan.signature.valueDim,
              .firstRows = firstRows,
              .scratch = {},
              .rows = std::vector<ProbedRow>(static_cast<size_t>(firstRows.back())),
              .sees = std::vector<uint8_t>(static_cast<size_t>(firstRows.back()))};
  const int64_t workers = bound.pool ? bound.pool->threads() : 1;
  probe.scratchBytes = ceilDiv(probe.outBytes() + probe.tileSize * 4 + 16, 64) * 64;
  probe.scratch.resize(static_cast<size_t>(workers * probe.scratchBytes));
  const int64_t chosen = end - bound.items;
  if (bound.pool)
    bound.pool->forEachChunk(chosen, bound.threads, probeChunk, &probe);
  else
    probeChunk(&probe, /*worker=*/0, 0, chosen);

  QualitySample sample;
  for (size_t i = 0; i < probe.rows.size(); ++i)
    if (probe.sees[i])
      sample.rows.push_back(probe.rows[i]);
  sample.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.metrics)
    options.metrics->record(sample.rows, sample.seconds);
  return sample;
}

} // namespace skim
