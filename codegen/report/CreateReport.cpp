#include "codegen/report/CreateReport.h"

#include "codegen/report/KernelCost.h"
#include "runtime/WorkspaceLayout.h"

#include <skim/ThreadPool.h>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace skim::report {
namespace {

Status invalid(std::string message) { return {StatusCode::InvalidArgument, std::move(message)}; }

Status checkCall(const LaunchPlan &plan, const ReportOptions &call) {
  if (call.context < 1 || call.context > ReportOptions::kLargestContext)
    return invalid(llvm::formatv("expected a context of 1 to {0} keys but got {1}",
                                 ReportOptions::kLargestContext, call.context));
  if (call.tokens < 1 || call.tokens > call.context)
    return invalid(llvm::formatv("expected 1 to {0} tokens, as many as the context, but got {1}",
                                 call.context, call.tokens));
  if (call.workers < 1 || call.workers > ThreadPool::kMaxThreads)
    return invalid(llvm::formatv("expected 1 to {0} workers but got {1}", ThreadPool::kMaxThreads,
                                 call.workers));
  for (const auto &[name, values] : call.parameters) {
    auto parameter = llvm::find_if(
        plan.parameters, [&](const ParameterDescription &each) { return each.name == name; });
    if (parameter == plan.parameters.end())
      return invalid("pattern '" + plan.pattern + "' has no launch parameter '" + name + "'");
    int64_t heads = parameter->perHead ? plan.signature.queryHeads : 1;
    auto count = static_cast<int64_t>(values.size());
    if (count != 1 && count != heads)
      return invalid(llvm::formatv("parameter '{0}': expected {1} but got {2} values", name,
                                   heads == 1 ? std::string("1 value")
                                              : llvm::formatv("1 or {0} values", heads).str(),
                                   count));
  }
  return Status::ok();
}

Expected<KernelReport> reportKernel(tile::PlanOp plan, tile::ProgramOp program,
                                    const ReportOptions &call, SourcePlace source) {
  KernelReport report;
  report.name = program.getSymName().str();
  report.source = std::move(source);
  KernelCount most = countKernel(plan, program, call, Bound::Most);
  if (!most.uncounted.empty())
    return Status(StatusCode::Unsupported,
                  "kernel '" + report.name + "': the report cannot count '" + most.uncounted + "'");
  KernelCount least = countKernel(plan, program, call, Bound::Least);
  report.workItems = most.workItems;
  report.most = most.cost;
  report.least = least.cost;
  report.mostTiles = most.tilesVisited;
  report.leastTiles = least.tilesVisited;
  return report;
}

} // namespace

Expected<Report> createReport(mlir::ModuleOp module, const LaunchPlan &launchPlan,
                              const ChunkInvariance &invariance, const ReportOptions &call,
                              llvm::function_ref<SourcePlace(mlir::Location)> placeOf) {
  if (Status status = checkCall(launchPlan, call); !status)
    return status;
  Report report;
  report.pattern = launchPlan.pattern;
  report.call = call;

  tile::PlanOp plan = *module.getOps<tile::PlanOp>().begin();
  tile::ProgramOp last;
  for (auto launch : plan.getBody().getOps<tile::LaunchOp>()) {
    auto program = mlir::SymbolTable::lookupNearestSymbolFrom<tile::ProgramOp>(
        launch, launch.getProgramAttr());
    SourcePlace source = placeOf(program.getLoc());
    Expected<KernelReport> kernel = reportKernel(plan, program, call, source);
    if (!kernel)
      return kernel.status();
    report.kernels.push_back(*std::move(kernel));
    if (double bytes = tokenPanelBytes(plan, program, call); bytes > 0)
      report.warnings.push_back(
          {source,
           llvm::formatv("kernel '{0}' holds a column for each token: {1} bytes of scratch a "
                         "worker at {2} keys, more with a longer context",
                         program.getSymName(), static_cast<int64_t>(bytes), call.context),
           {}});
    last = program;
  }
  report.denseFlops = denseFlops(plan, last, call);

  BatchShape shape{1, call.tokens, call.tokens, call.context};
  Expected<WorkspaceLayout> layout = layOutWorkspace(launchPlan, shape, call.workers);
  if (!layout)
    return layout.status();
  report.workspaceBytes = layout->bytes;
  for (auto [buffer, placement] : llvm::zip_equal(launchPlan.buffers, layout->placements))
    report.buffers.push_back({buffer.name, placement.bytes, buffer.perWorker, buffer.zeroed});

  report.chunkMultiple = invariance.multiple;
  for (const InvarianceBreaker &breaker : invariance.breakers)
    report.chunkBreakers.push_back({placeOf(breaker.loc), breaker.reason, {}});
  return report;
}

} // namespace skim::report
