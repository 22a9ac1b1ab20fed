#include "test/tile/AttentionBatch.h"

#include "llvm/ADT/APFloat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

using namespace skim::test;

static const llvm::fltSemantics &semantics(const std::string &type) {
  if (type == "bf16")
    return llvm::APFloat::BFloat();
  return type == "f16" ? llvm::APFloat::IEEEhalf() : llvm::APFloat::IEEEsingle();
}

uint32_t skim::test::encode(const std::string &type, float value) {
  llvm::APFloat number(value);
  bool losesInfo = false;
  number.convert(semantics(type), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint32_t>(number.bitcastToAPInt().getZExtValue());
}

float skim::test::decode(const std::string &type, uint32_t bits) {
  llvm::APFloat number(semantics(type),
                       llvm::APInt(static_cast<unsigned>(8 * bytesOf(type)), bits));
  bool losesInfo = false;
  number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToFloat();
}

int64_t skim::test::bytesOf(const std::string &type) { return type == "f32" ? 4 : 2; }

static void write(std::vector<std::byte> &memory, const std::string &type, int64_t element,
                  float value) {
  uint32_t bits = encode(type, value);
  int64_t bytes = bytesOf(type);
  std::memcpy(memory.data() + element * bytes, &bits, static_cast<size_t>(bytes));
}

static float read(const std::vector<std::byte> &memory, const std::string &type, int64_t element) {
  uint32_t bits = 0;
  int64_t bytes = bytesOf(type);
  std::memcpy(&bits, memory.data() + element * bytes, static_cast<size_t>(bytes));
  return decode(type, bits);
}

/// All bytes 0xff: NaN in every element type.
static std::vector<std::byte> poisoned(int64_t elements, const std::string &type) {
  return std::vector<std::byte>(static_cast<size_t>(elements * bytesOf(type)), std::byte{0xff});
}

AttentionBatch::AttentionBatch(const Shape &shape, unsigned seed)
    : shape_(shape), scale_(1 / std::sqrt(static_cast<double>(shape.headDim))) {
  cuSeqlensQ_ = {0};
  cuSeqlensKv_ = {0};
  for (auto [q, kv] : shape.requests) {
    cuSeqlensQ_.push_back(cuSeqlensQ_.back() + static_cast<int32_t>(q));
    cuSeqlensKv_.push_back(cuSeqlensKv_.back() + static_cast<int32_t>(kv));
    kvLens_.push_back(static_cast<int32_t>(kv));
    keptRowStride_ = std::max(keptRowStride_, kv);
  }
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  auto fill = [&](int64_t elements) {
    std::vector<float> values(static_cast<size_t>(elements));
    for (float &value : values)
      value = decode(shape.operand, encode(shape.operand, normal(generator)));
    return values;
  };
  q_ = fill(tokens() * shape.queryHeads * shape.headDim);
  k_ = fill(cuSeqlensKv_.back() * shape.kvHeads * shape.headDim);
  v_ = fill(cuSeqlensKv_.back() * shape.kvHeads * shape.valueDim);

  if (shape.pageSize > 0) {
    // Pages in shuffled order, a third of them owned by nobody.
    for (auto [q, kv] : shape.requests)
      blockTableStride_ = std::max(blockTableStride_, (kv + shape.pageSize - 1) / shape.pageSize);
    int64_t entries = blockTableStride_ * static_cast<int64_t>(shape.requests.size());
    pages_ = entries + entries / 2 + 1;
    std::vector<int32_t> order(static_cast<size_t>(pages_));
    for (size_t page = 0; page < order.size(); ++page)
      order[page] = static_cast<int32_t>(page);
    std::shuffle(order.begin(), order.end(), generator);
    blockTable_.assign(order.begin(), order.begin() + entries);
  }
  qMemory_ = poisoned(static_cast<int64_t>(q_.size()), shape.operand);
  for (size_t i = 0; i < q_.size(); ++i)
    write(qMemory_, shape.operand, static_cast<int64_t>(i), q_[i]);
  kMemory_ = layOutKeys(k_, shape.headDim);
  vMemory_ = layOutKeys(v_, shape.valueDim);
  outMemory_ = poisoned(tokens() * shape.queryHeads * shape.valueDim, shape.out);
  lse_.assign(static_cast<size_t>(tokens() * shape.queryHeads),
              std::numeric_limits<float>::quiet_NaN());
  kept_.assign(static_cast<size_t>(shape.queryHeads * tokens() * keptRowStride_), 0);
}

std::vector<std::byte> AttentionBatch::layOutKeys(const std::vector<float> &values, int64_t dim) {
  int64_t heads = shape_.kvHeads;
  if (shape_.pageSize == 0) {
    // Three unused elements behind each token.
    std::vector<std::byte> memory =
        poisoned((cuSeqlensKv_.back() + 1) * (heads * dim + 3), shape_.operand);
    for (int64_t token = 0; token < cuSeqlensKv_.back(); ++token)
      for (int64_t i = 0; i < heads * dim; ++i)
        write(memory, shape_.operand, token * (heads * dim + 3) + i,
              values[token * heads * dim + i]);
    return memory;
  }
  int64_t pageElements = shape_.pageSize * heads * dim;
  std::vector<std::byte> memory = poisoned(pages_ * pageElements, shape_.operand);
  for (size_t request = 0; request < shape_.requests.size(); ++request)
    for (int64_t token = 0; token < shape_.requests[request].kv; ++token)
      for (int64_t head = 0; head < heads; ++head)
        for (int64_t i = 0; i < dim; ++i) {
          int64_t page = blockTable_[request * blockTableStride_ + token / shape_.pageSize];
          int64_t slot = token % shape_.pageSize;
          int64_t inPage = shape_.headMajor ? (head * shape_.pageSize + slot) * dim
                                            : (slot * heads + head) * dim;
          write(memory, shape_.operand, page * pageElements + inPage + i,
                values[((cuSeqlensKv_[request] + token) * heads + head) * dim + i]);
        }
  return memory;
}

skim_kernel_args AttentionBatch::arguments() {
  int64_t kvHeads = shape_.kvHeads, page = shape_.pageSize;
  auto pages = [&](std::vector<std::byte> &memory, int64_t dim) -> skim_pages {
    if (page == 0)
      return {memory.data(), 0, kvHeads * dim + 3, dim};
    if (shape_.headMajor)
      return {memory.data(), page * kvHeads * dim, dim, page * dim};
    return {memory.data(), page * kvHeads * dim, kvHeads * dim, dim};
  };
  skim_kernel_args args = {};
  args.abi_version = SKIM_ABI_VERSION;
  args.requests = static_cast<int64_t>(shape_.requests.size());
  args.query_heads = shape_.queryHeads;
  args.kv_heads = kvHeads;
  args.cu_seqlens_q = cuSeqlensQ_.data();
  args.kv_lens = kvLens_.data();
  args.cu_seqlens_kv = page == 0 ? cuSeqlensKv_.data() : nullptr;
  args.block_table = page == 0 ? nullptr : blockTable_.data();
  args.block_table_stride = blockTableStride_;
  args.page_size = page;
  args.query = {qMemory_.data(), shape_.queryHeads * shape_.headDim, shape_.headDim};
  args.key = pages(kMemory_, shape_.headDim);
  args.value = pages(vMemory_, shape_.valueDim);
  args.out = {outMemory_.data(), shape_.queryHeads * shape_.valueDim, shape_.valueDim};
  args.lse = lse_.data();
  args.lse_token_stride = 1;
  args.lse_head_stride = tokens();
  args.softmax_scale = scale_;
  args.status = &status_;
  args.kept = kept_.data();
  args.kept_row_stride = keptRowStride_;
  args.kept_head_stride = keptRowStride_ * tokens();
  return args;
}

std::vector<skim_work_item> AttentionBatch::queryItems(int64_t rows) const {
  std::vector<skim_work_item> items;
  auto floorDiv = [](int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); };
  for (size_t request = 0; request < shape_.requests.size(); ++request) {
    auto [q, kv] = shape_.requests[request];
    for (int64_t head = 0; head < shape_.queryHeads && q > 0; ++head)
      for (int64_t tile = floorDiv(kv - q, rows); tile <= floorDiv(kv - 1, rows); ++tile)
        items.push_back({static_cast<int32_t>(request), static_cast<int32_t>(head),
                         static_cast<int32_t>(tile), 0});
  }
  return items;
}

void AttentionBatch::run(skim_cpu_kernel kernel, int64_t rows, skim_kernel_args args) {
  std::vector<skim_work_item> items = queryItems(rows);
  std::vector<skim_statistics> statistics(items.size());
  args.statistics = statistics.data();
  // Two calls, so that the first item is not always number 0.
  int64_t count = static_cast<int64_t>(items.size()), half = count / 2;
  kernel(&args, items.data(), 0, half, /*worker=*/0);
  kernel(&args, items.data(), half, count - half, /*worker=*/0);
  statistics_ = {};
  for (const skim_statistics &item : statistics) {
    statistics_.tiles_visited += item.tiles_visited;
    statistics_.tiles_masked += item.tiles_masked;
    statistics_.pairs_kept += item.pairs_kept;
    statistics_.rest_entries += item.rest_entries;
  }
}

float AttentionBatch::query(int64_t request, int64_t row, int64_t head, int64_t i) const {
  return q_[((cuSeqlensQ_[request] + row) * shape_.queryHeads + head) * shape_.headDim + i];
}
float AttentionBatch::key(int64_t request, int64_t token, int64_t head, int64_t i) const {
  return k_[((cuSeqlensKv_[request] + token) * shape_.kvHeads + head) * shape_.headDim + i];
}
float AttentionBatch::value(int64_t request, int64_t token, int64_t head, int64_t i) const {
  return v_[((cuSeqlensKv_[request] + token) * shape_.kvHeads + head) * shape_.valueDim + i];
}
float AttentionBatch::output(int64_t request, int64_t row, int64_t head, int64_t i) const {
  int64_t token = cuSeqlensQ_[request] + row;
  return read(outMemory_, shape_.out, (token * shape_.queryHeads + head) * shape_.valueDim + i);
}
float AttentionBatch::logSumExp(int64_t request, int64_t row, int64_t head) const {
  return lse_[head * tokens() + cuSeqlensQ_[request] + row];
}

namespace {

/// One row of attention in f64.
struct ReferenceRow {
  std::vector<double> out;
  double lse = -std::numeric_limits<double>::infinity();
};

} // namespace

static ReferenceRow attend(const AttentionBatch &batch, int64_t request, int64_t row, int64_t head,
                           const AttentionBatch::Keeps &keeps, const AttentionBatch::Score &score,
                           double sink) {
  const Shape &shape = batch.shape();
  int64_t q = batch.base(request) + row, kvHead = head / (shape.queryHeads / shape.kvHeads);
  std::vector<std::pair<int64_t, double>> scores;
  double greatest = sink;
  for (int64_t k = 0; k < shape.requests[request].kv; ++k) {
    if (!keeps(request, head, q, k))
      continue;
    double s = 0;
    for (int64_t i = 0; i < shape.headDim; ++i)
      s += static_cast<double>(batch.query(request, row, head, i)) *
           batch.key(request, k, kvHead, i);
    s *= batch.scale();
    scores.emplace_back(k, score ? score(s, head, q, k) : s);
    greatest = std::max(greatest, scores.back().second);
  }
  ReferenceRow result;
  result.out.assign(static_cast<size_t>(shape.valueDim), 0);
  if (scores.empty())
    return result;
  double sum = std::exp(sink - greatest);
  for (auto [k, s] : scores)
    sum += std::exp(s - greatest);
  for (auto [k, s] : scores)
    for (int64_t i = 0; i < shape.valueDim; ++i)
      result.out[i] += std::exp(s - greatest) / sum * batch.value(request, k, kvHead, i);
  result.lse = greatest + std::log(sum);
  return result;
}

void AttentionBatch::expectAttention(const Keeps &keeps, double tolerance, const Score &score,
                                     double sink) const {
  int64_t pairs = 0, wrongPairs = 0;
  for (int64_t head = 0; head < shape_.queryHeads; ++head) {
    double worst = 0, greatest = 0, worstLse = 0;
    for (size_t request = 0; request < shape_.requests.size(); ++request)
      for (int64_t row = 0; row < shape_.requests[request].q; ++row) {
        auto r = static_cast<int64_t>(request);
        ReferenceRow expected = attend(*this, r, row, head, keeps, score, sink);
        float lse = logSumExp(r, row, head);
        bool empty = std::isinf(expected.lse);
        ASSERT_EQ(empty, std::isinf(lse) && lse < 0)
            << "request " << r << " head " << head << " row " << row << " lse " << lse;
        if (!empty) {
          ASSERT_FALSE(std::isnan(lse)) << "request " << r << " head " << head << " row " << row;
          worstLse = std::max(worstLse, std::abs(lse - expected.lse));
        }
        for (int64_t i = 0; i < shape_.valueDim; ++i) {
          float out = output(r, row, head, i);
          ASSERT_FALSE(std::isnan(out)) << "request " << r << " head " << head << " row " << row;
          if (empty) {
            ASSERT_EQ(out, 0.0F) << "request " << r << " head " << head << " row " << row;
          }
          worst = std::max(worst, std::abs(out - expected.out[i]));
          greatest = std::max(greatest, std::abs(expected.out[i]));
        }
        int64_t q = base(r) + row;
        for (int64_t k = 0; k < keptRowStride_; ++k) {
          bool expectedPair = k < shape_.requests[request].kv && keeps(r, head, q, k);
          int64_t token = cuSeqlensQ_[request] + row;
          pairs += expectedPair;
          wrongPairs +=
              expectedPair != (kept_[(head * tokens() + token) * keptRowStride_ + k] != 0);
        }
      }
    EXPECT_LE(worst, tolerance * greatest) << "head " << head;
    EXPECT_LE(worstLse, tolerance * 10) << "head " << head;
  }
  EXPECT_EQ(wrongPairs, 0);
  EXPECT_EQ(statistics_.pairs_kept, pairs);
}
