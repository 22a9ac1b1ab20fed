#include "test/gpu/DeviceProblem.h"

#include "runtime/CheckedMath.h"

#include <algorithm>

namespace skim::test {

LaunchPlan attentionPlan(const Heads &heads) {
  LaunchPlan plan = causalPlan(heads);
  plan.signature.writesKept = false;
  plan.kernels[0].cuda = CudaLaunch{.threads = 32, .blocksPerMultiprocessor = 2};
  return plan;
}

DeviceProblem::DeviceProblem(const Problem &problem)
    : views(const_cast<Problem &>(problem).operands()), cuSeqlensQ(problem.cuSeqlensQ),
      kvLens(problem.kvLens), cuSeqlensKv(problem.cuSeqlensKv), q(problem.q), k(problem.k),
      v(problem.v), out(problem.out.size() * sizeof(float)),
      lse(problem.lse.size() * sizeof(float)) {}

Operands DeviceProblem::operands() const {
  Operands operands = views;
  operands.q = onDevice(views.q, q.data());
  operands.k = onDevice(views.k, k.data());
  operands.v = onDevice(views.v, v.data());
  operands.cuSeqlensQ = onDevice(views.cuSeqlensQ, cuSeqlensQ.data());
  operands.kvLens = onDevice(views.kvLens, kvLens.data());
  if (views.kvLayout == KvLayout::Contiguous)
    operands.cuSeqlensKv = onDevice(views.cuSeqlensKv, cuSeqlensKv.data());
  else
    operands.blockTable = onDevice(views.blockTable, blockTable.data());
  operands.out = onDevice(views.out, out.data());
  operands.lse = onDevice(views.lse, lse.data());
  return operands;
}

void DeviceProblem::page(const Problem &problem, int64_t pageSize, KvLayout layout) {
  const Heads &heads = problem.heads;
  int64_t columns = 1;
  int64_t used = 0;
  for (const int32_t keys : problem.kvLens) {
    columns = std::max(columns, ceilDiv(keys, pageSize));
    used += ceilDiv(keys, pageSize);
  }
  const int64_t pages = 2 * used + 1;
  std::vector<int32_t> table(static_cast<size_t>(problem.requests() * columns), -1);
  const int64_t elements = pages * pageSize * heads.kv * heads.dim;
  std::vector<float> keys(static_cast<size_t>(elements), kNaN);
  std::vector<float> values = keys;
  int64_t next = pages;
  for (int64_t request = 0; request < problem.requests(); ++request)
    for (int64_t token = 0; token < problem.kvLens[request]; ++token) {
      if (token % pageSize == 0)
        table[request * columns + token / pageSize] = static_cast<int32_t>(next -= 2);
      for (int64_t head = 0; head < heads.kv; ++head) {
        const int64_t from = ((problem.cuSeqlensKv[request] + token) * heads.kv + head) * heads.dim;
        const int64_t slot = token % pageSize;
        const int64_t to = layout == KvLayout::PagedNhd
                               ? (next * pageSize + slot) * heads.kv + head
                               : (next * heads.kv + head) * pageSize + slot;
        std::copy_n(&problem.k[from], heads.dim, &keys[to * heads.dim]);
        std::copy_n(&problem.v[from], heads.dim, &values[to * heads.dim]);
      }
    }
  k = DeviceArray(keys);
  v = DeviceArray(values);
  blockTable = DeviceArray(table);
  views.kvLayout = layout;
  views.cuSeqlensKv = {};
  views.blockTable =
      TensorView::contiguous(table.data(), DType::I32, {problem.requests(), columns});
  views.k =
      layout == KvLayout::PagedNhd
          ? TensorView::contiguous(nullptr, DType::F32, {pages, pageSize, heads.kv, heads.dim})
          : TensorView::contiguous(nullptr, DType::F32, {pages, heads.kv, pageSize, heads.dim});
  views.v = views.k;
}

void DeviceProblem::read(Problem &problem) const {
  out.read(std::as_writable_bytes(std::span(problem.out)));
  lse.read(std::as_writable_bytes(std::span(problem.lse)));
}

} // namespace skim::test
