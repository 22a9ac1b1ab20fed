// A compiled pattern: plan once for a shape of batch, run many times.
//
//   auto plan = kernel.plan(*BatchShape::of(cuSeqlensQ, kvLens));
//   WorkspaceMemory workspace(plan->workspaceBytes());
//   Status status = kernel.run(*plan, {.q = q, .k = k, ...}, {{"window", 512}}, workspace.span());
#ifndef SKIM_KERNEL_H
#define SKIM_KERNEL_H

#include <skim/Batch.h>
#include <skim/LoadOptions.h>
#include <skim/Operands.h>
#include <skim/Parameters.h>
#include <skim/Status.h>
#include <skim/ThreadPool.h>
#include <skim/abi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skim {

struct LaunchPlan;
class QualityProbe;
class RunMetrics;
struct WorkspaceLayout;
namespace cuda {
class Program;
}

/// What a kernel needs for batches of one shape. It depends on the shape and the number of workers,
/// never on lengths, parameters or contents. Cheap to copy; keeps what it refers to alive.
class Plan {
public:
  /// The workspace must start at a multiple of this many bytes.
  static constexpr int64_t kWorkspaceAlignment = 64;

  const BatchShape &shape() const { return shape_; }
  /// Bytes of workspace that every run with this plan needs: with one less, `run` refuses.
  int64_t workspaceBytes() const;

private:
  friend class Kernel;
  friend class QualityProbe;
  Plan() = default;

  BatchShape shape_;
  std::shared_ptr<const LaunchPlan> launchPlan_;
  std::shared_ptr<const WorkspaceLayout> layout_;
};

/// On a CUDA device a run knows no threads and returns before its kernels end: only `stream` and
/// `kept` are for it, the other options must be left out.
struct RunOptions {
  /// On a CUDA device: the stream (a CUstream or cudaStream_t) that the run is enqueued on; null is
  /// the legacy default stream. Not looked at on the CPU.
  void *stream = nullptr;
  /// At most this many threads, the caller included; 0 takes all of the pool.
  int64_t threads = 0;
  /// Where to run; null takes the process's shared pool.
  const ThreadPool *pool = nullptr;
  /// Where not null, receives the sums over all work items.
  skim_statistics *statistics = nullptr;
  /// Where not empty, one entry a query head: receives the sums over the work items of that head.
  /// Kernels whose items are not of one query head (selections) add to none.
  std::span<skim_statistics> headStatistics = {};
  /// Where not empty, one entry a kernel of the launch plan: receives its wall time in seconds.
  std::span<double> kernelSeconds = {};
  /// Where not null, counts the run (`Metrics.h`).
  RunMetrics *metrics = nullptr;
  /// Result, optional, for debugging: u8[query_heads, tokens, keys] with keys at least the largest
  /// kv_len and stride 1. Receives 1 for each kept (query, key) pair and 0 elsewhere.
  /// Refused by kernels compiled without it.
  TensorView kept = {};
};

/// Immutable and safe to share between threads: concurrent runs need only distinct
/// workspaces and results.
class Kernel {
public:
  /// `functions` holds the entry point of each kernel of the plan in its order; `keepAlive`
  /// owns their code. Fails when the plan is inconsistent.
  static Expected<Kernel> create(LaunchPlan plan, std::vector<skim_cpu_kernel> functions,
                                 std::shared_ptr<void> keepAlive = nullptr);

  /// A kernel on a CUDA device: `image` is PTX text, a cubin or a fat binary with the plan's
  /// kernels by their symbols. `device` counts from 0; -1 takes the calling thread's current
  /// context and, where there is none, device 0. The driver is loaded here, no Toolkit is needed.
  /// Fails with `Environment` where there is no driver or device, or it refuses the code.
  ///
  /// `plan` is the same. `run` takes device memory everywhere, the workspace, lengths and page
  /// table too, and enqueues on `RunOptions::stream`: it waits for nothing, allocates no memory of
  /// the device, and may be captured in a graph, which can be replayed with other lengths, pages
  /// and contents in the same memory. The host checks what it holds (shapes, types, strides,
  /// parameters); lengths and pages are checked by the device: a request whose lengths or pages are
  /// out of range has no result written and is reported by `status`.
  static Expected<Kernel> createCuda(LaunchPlan plan, std::string_view image, int device = -1);

  /// Whether the kernel runs on a CUDA device.
  bool isOnCuda() const { return cuda_ != nullptr; }

  /// Waits for the work on `stream` and returns what the runs of this kernel on the device have met
  /// out of range since the last call, `DataOutOfRange` with a message. The device's record is
  /// sticky: a run whose host has seen it returns it too, having enqueued its work. Ok on the CPU,
  /// where `run` itself reports.
  Status status(void *stream) const;

  /// A kernel of a bundle (`skim compile --emit bundle`): the one that `options` ask for, for the
  /// best target that this machine runs. `Environment` where the file cannot be read, `Corrupt`
  /// where it is damaged, foreign or of another format, `Unsupported` where it has no code for this
  /// machine or was made for another ABI version, `InvalidArgument` where `options`
  /// fit no kernel or several.
  static Expected<Kernel> load(const std::string &path, const LoadOptions &options = {});
  /// The same from memory, which may go afterwards.
  static Expected<Kernel> load(std::span<const std::byte> bundle, const LoadOptions &options = {});

  const LaunchPlan &launchPlan() const { return *plan_; }

  /// Sizes the workspace for batches within `shape` and runs on up to `workers` threads (0: as
  /// many as the process's shared pool has, at most 4096). A kernel that needs scratch for each
  /// thread runs on no more. Fails when a size overflows.
  Expected<Plan> plan(const BatchShape &shape, int64_t workers = 0) const;

  /// Checks all arguments, then computes `out` and the other results that are given. Nothing is
  /// written when an argument is refused. Allocates nothing on success (on the CPU).
  /// `DataOutOfRange` comes after a finished run, with all results written. A row without any kept
  /// key gives output 0 and log-sum-exp -inf. `workspace` needs no initial contents and keeps none.
  Status run(const Plan &plan, const Operands &operands, const Parameters &parameters,
             std::span<std::byte> workspace, const RunOptions &options = {}) const;

private:
  friend class QualityProbe;
  Kernel() = default;

  Expected<Plan> planOnCuda(const BatchShape &shape) const;
  Status runOnCuda(const Plan &plan, const Operands &operands, const Parameters &parameters,
                   std::span<std::byte> workspace, const RunOptions &options) const;

  std::shared_ptr<const LaunchPlan> plan_;
  std::vector<skim_cpu_kernel> functions_;
  std::shared_ptr<void> keepAlive_;
  std::shared_ptr<const cuda::Program> cuda_; ///< null on the CPU
};

} // namespace skim

#endif // SKIM_KERNEL_H
