#include "Problem.h"

#include "runtime/CheckedMath.h"
#include "test/runtime/Addressing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace skim::test {

Problem::Problem(const std::vector<Lengths> &lengths, Heads heads, unsigned seed) : heads(heads) {
  // Room past the ends: results that tests lay over these reach into no other array.
  for (std::vector<int32_t> *lengthArray : {&cuSeqlensQ, &kvLens, &cuSeqlensKv})
    lengthArray->reserve(10000);
  cuSeqlensQ.push_back(0);
  cuSeqlensKv.push_back(0);
  for (const Lengths &length : lengths) {
    cuSeqlensQ.push_back(static_cast<int32_t>(cuSeqlensQ.back() + length.query));
    kvLens.push_back(static_cast<int32_t>(length.kv));
    cuSeqlensKv.push_back(static_cast<int32_t>(cuSeqlensKv.back() + length.kv));
  }
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  const auto fill = [&](std::vector<float> &values, int64_t count) {
    values.resize(static_cast<size_t>(count));
    std::generate(values.begin(), values.end(), [&] { return normal(random); });
  };
  fill(q, tokens() * heads.query * heads.dim);
  fill(k, kvTokens() * heads.kv * heads.dim);
  fill(v, kvTokens() * heads.kv * heads.valueDim);
  out.assign(static_cast<size_t>(tokens() * heads.query * heads.valueDim), kNaN);
  lse.assign(static_cast<size_t>(tokens() * heads.query), kNaN);
}

Operands Problem::operands() {
  Operands operands;
  operands.q = TensorView::contiguous(q.data(), DType::F32, {tokens(), heads.query, heads.dim});
  operands.k = TensorView::contiguous(k.data(), DType::F32, {kvTokens(), heads.kv, heads.dim});
  operands.v = TensorView::contiguous(v.data(), DType::F32, {kvTokens(), heads.kv, heads.valueDim});
  operands.cuSeqlensQ = TensorView::contiguous(cuSeqlensQ.data(), DType::I32, {requests() + 1});
  operands.kvLens = TensorView::contiguous(kvLens.data(), DType::I32, {requests()});
  operands.cuSeqlensKv = TensorView::contiguous(cuSeqlensKv.data(), DType::I32, {requests() + 1});
  operands.out =
      TensorView::contiguous(out.data(), DType::F32, {tokens(), heads.query, heads.valueDim});
  operands.lse = TensorView::contiguous(lse.data(), DType::F32, {heads.query, tokens()});
  return operands;
}

BatchShape Problem::shape() const {
  BatchShape shape;
  shape.requests = requests();
  shape.totalQueryTokens = tokens();
  for (int64_t r = 0; r < requests(); ++r) {
    shape.maxQueryLength =
        std::max<int64_t>(shape.maxQueryLength, cuSeqlensQ[r + 1] - cuSeqlensQ[r]);
    shape.maxKvLength = std::max<int64_t>(shape.maxKvLength, kvLens[r]);
  }
  return shape;
}

Attention referenceAttention(const Problem &problem, const Relation &keep) {
  const Heads &heads = problem.heads;
  Attention result;
  result.out.assign(problem.out.size(), 0);
  result.lse.assign(problem.lse.size(), -kInfinity);
  for (int64_t r = 0; r < problem.requests(); ++r) {
    const int64_t queryLength = problem.cuSeqlensQ[r + 1] - problem.cuSeqlensQ[r];
    for (int64_t row = 0; row < queryLength; ++row)
      for (int64_t head = 0; head < heads.query; ++head) {
        const int64_t position = problem.kvLens[r] - queryLength + row;
        const int64_t token = problem.cuSeqlensQ[r] + row;
        const int64_t kvHead = head / (heads.query / heads.kv);
        double total = 0;
        std::vector<double> sum(static_cast<size_t>(heads.valueDim));
        for (int64_t key = 0; key <= position && key < problem.kvLens[r]; ++key) {
          if (keep && !keep(r, head, position, key))
            continue;
          const int64_t kvRow = (problem.cuSeqlensKv[r] + key) * heads.kv + kvHead;
          double score = 0;
          for (int64_t i = 0; i < heads.dim; ++i)
            score += static_cast<double>(problem.q[(token * heads.query + head) * heads.dim + i]) *
                     problem.k[kvRow * heads.dim + i];
          const double weight = std::exp(score / std::sqrt(static_cast<double>(heads.dim)));
          total += weight;
          for (int64_t i = 0; i < heads.valueDim; ++i)
            sum[i] += weight * problem.v[kvRow * heads.valueDim + i];
        }
        if (total == 0)
          continue;
        for (int64_t i = 0; i < heads.valueDim; ++i)
          result.out[(token * heads.query + head) * heads.valueDim + i] =
              static_cast<float>(sum[i] / total);
        result.lse[head * problem.tokens() + token] = static_cast<float>(std::log(total));
      }
  }
  return result;
}

void expectAttention(const Problem &problem, const Attention &expected) {
  ASSERT_EQ(problem.out.size(), expected.out.size());
  ASSERT_EQ(problem.lse.size(), expected.lse.size());
  for (size_t i = 0; i < expected.out.size(); ++i)
    ASSERT_NEAR(problem.out[i], expected.out[i], 1e-5) << "out[" << i << "]";
  for (size_t i = 0; i < expected.lse.size(); ++i) {
    if (std::isinf(expected.lse[i]))
      ASSERT_EQ(problem.lse[i], expected.lse[i]) << "lse[" << i << "]";
    else
      ASSERT_NEAR(problem.lse[i], expected.lse[i], 1e-5) << "lse[" << i << "]";
  }
}

WorkspaceMemory filledWorkspace(int64_t bytes) {
  WorkspaceMemory workspace(bytes);
  std::ranges::fill(workspace.span(), std::byte{0xcd});
  return workspace;
}

Signature signatureOf(const Heads &heads) {
  Signature signature;
  signature.queryHeads = heads.query;
  signature.kvHeads = heads.kv;
  signature.headDim = heads.dim;
  signature.valueDim = heads.valueDim;
  signature.writesKept = true;
  return signature;
}

LaunchPlan causalPlan(const Heads &heads) {
  LaunchPlan plan;
  plan.pattern = "causal";
  plan.signature = signatureOf(heads);
  plan.kernels = {{"attention", HeadAxis::QueryHead, ItemAxis::Queries, kRows}};
  return plan;
}

LaunchPlan listPlan(const Heads &heads) {
  LaunchPlan plan = causalPlan(heads);
  plan.pattern = "listed";
  plan.inputs = {{"blocks", InputElement::List, HeadAxis::None, kRows, kKeys},
                 {"blocks_counts", InputElement::ListCounts, HeadAxis::None, kRows, 0}};
  return plan;
}

namespace {

struct Row {
  int64_t request;
  int64_t head;
  int64_t row;      ///< of the request
  int64_t position; ///< absolute
};

/// Attends from one row to the visible keys that `keep` takes.
template <typename Keep>
void attendRow(const skim_kernel_args &args, const Row &row, const Keep &keep,
               skim_statistics *statistics) {
  const int64_t kvHead = row.head / (args.query_heads / args.kv_heads);
  const int64_t token = args.cu_seqlens_q[row.request] + row.row;
  // The test's problems have as many value as key dimensions, which abi.h leaves to the code.
  constexpr int64_t kDim = 8;
  const auto *query = static_cast<const float *>(args.query.data) +
                      cpu::rowOffset(args, args.query, row.request, row.row, row.head);
  double total = 0;
  double sum[kDim] = {};
  for (int64_t key = 0; key <= row.position && key < args.kv_lens[row.request]; ++key) {
    if (!keep(key))
      continue;
    const auto *keys = static_cast<const float *>(args.key.data) +
                       cpu::keyOffset(args, args.key, row.request, key, kvHead);
    const auto *values = static_cast<const float *>(args.value.data) +
                         cpu::keyOffset(args, args.value, row.request, key, kvHead);
    double score = 0;
    for (int64_t i = 0; i < kDim; ++i)
      score += static_cast<double>(query[i]) * keys[i];
    const double weight = std::exp(score * args.softmax_scale);
    total += weight;
    for (int64_t i = 0; i < kDim; ++i)
      sum[i] += weight * values[i];
    if (statistics)
      ++statistics->pairs_kept;
    if (args.kept)
      args.kept[row.head * args.kept_head_stride + token * args.kept_row_stride + key] = 1;
  }
  auto *out = static_cast<float *>(args.out.data) +
              cpu::rowOffset(args, args.out, row.request, row.row, row.head);
  for (int64_t i = 0; i < kDim; ++i)
    out[i] = total == 0 ? 0.0f : static_cast<float>(sum[i] / total);
  if (args.lse)
    args.lse[cpu::lseOffset(args, row.request, row.row, row.head)] =
        total == 0 ? -kInfinity : static_cast<float>(std::log(total));
}

/// Calls `attend` for each existing row of each item.
template <typename Attend>
void forEachRow(const skim_kernel_args &args, const skim_work_item *items, int64_t first,
                int64_t count, const Attend &attend) {
  for (int64_t i = 0; i < count; ++i) {
    const skim_work_item &item = items[first + i];
    const int64_t queryLength =
        args.cu_seqlens_q[item.request + 1] - args.cu_seqlens_q[item.request];
    const int64_t kvLength = args.kv_lens[item.request];
    const int64_t base = kvLength - queryLength;
    const int64_t low = std::max(base, item.tile * kRows);
    const int64_t high = std::min(kvLength, (item.tile + 1) * kRows);
    for (int64_t position = low; position < high; ++position)
      attend(Row{item.request, item.head, position - base, position}, base,
             args.statistics ? &args.statistics[first + i] : nullptr);
  }
}

} // namespace

void causalAttention(const skim_kernel_args *args, const skim_work_item *items, int64_t first,
                     int64_t count, int64_t) {
  forEachRow(*args, items, first, count, [&](const Row &row, int64_t, skim_statistics *statistics) {
    attendRow(*args, row, [](int64_t) { return true; }, statistics);
  });
}

void listAttention(const skim_kernel_args *args, const skim_work_item *items, int64_t first,
                   int64_t count, int64_t) {
  forEachRow(
      *args, items, first, count, [&](const Row &row, int64_t base, skim_statistics *statistics) {
        const skim_buffer &list = args->inputs[0];
        const skim_buffer &counts = args->inputs[1];
        const int64_t cell = floorDiv(row.position, kRows) - floorDiv(base, kRows);
        const int32_t used = static_cast<const int32_t *>(
            counts.data)[cpu::cellOffset(counts, row.request, row.head, cell, 0)];
        const int64_t blocks = ceilDiv(args->kv_lens[row.request], kKeys);
        const auto entry = [&](int64_t i) {
          return static_cast<const int32_t *>(
              list.data)[cpu::cellOffset(list, row.request, row.head, cell, i)];
        };
        const auto listed = [&](int64_t key) {
          for (int64_t i = 0; i < used; ++i)
            if (entry(i) == key / kKeys)
              return true;
          return false;
        };
        for (int64_t i = 0; i < used; ++i)
          if (entry(i) < -1 || entry(i) >= blocks)
            __atomic_fetch_or(args->status, SKIM_STATUS_INDEX_OUT_OF_RANGE, __ATOMIC_RELAXED);
        attendRow(*args, row, listed, statistics);
      });
}

Status runOnce(const Kernel &kernel, const BatchShape &shape, const Operands &operands,
               const Parameters &parameters, const RunOptions &options) {
  const Expected<Plan> plan = kernel.plan(shape);
  if (!plan)
    return plan.status();
  const WorkspaceMemory workspace = filledWorkspace(plan->workspaceBytes());
  return kernel.run(*plan, operands, parameters, workspace.span(), options);
}

Kernel causalKernel(const Heads &heads) {
  return *Kernel::create(causalPlan(heads), {causalAttention});
}

} // namespace skim::test
