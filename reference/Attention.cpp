#include "reference/Attention.h"

#include "reference/Casts.h"
#include "reference/Errors.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace skim::reference {

namespace {

/// One entry of a row's softmax: a kept key, or the mean of a block.
struct Entry {
  double logit;
  llvm::ArrayRef<double> value;
};

class RequestAttention {
public:
  RequestAttention(const Request &request, const Problem &problem, const Clauses &clauses,
                   Evaluator &evaluator, MeanType type, Result &result)
      : request(request), problem(problem), clauses(clauses), result(result),
        query(evaluator.query()), keys(evaluator.keys()), values(evaluator.values()),
        logits(clauses.logit ? clauses.logit : evaluator.scores()) {
    if (clauses.restKeys) {
      keyMeans = meansOf(*keys, type);
      valueMeans = meansOf(*values, type);
    }
  }

  /// Rule 17, for one head.
  Estimate denseCondition(int64_t head) const {
    return clauses.denseWhen ? perHead(*clauses.denseWhen, head) : Estimate{0, 0};
  }
  bool isDense(int64_t head) const { return isTrue(denseCondition(head).value); }

  void keep() {
    Reader kept(*clauses.keep, pairs);
    forEachRow([&](int64_t head, int64_t q) {
      kept.moveTo(head, q);
      bool dense = isDense(head);
      llvm::MutableArrayRef<uint8_t> row = rowOf(result.kept, head, q);
      for (int64_t k = 0; k < request.kvLen && request.sees(q, k); ++k)
        row[k] = dense || isTrue(kept.scalar(k));
    });
  }

  /// The same from the pairs that a target kept.
  void keep(llvm::ArrayRef<uint8_t> given) {
    forEachRow([&](int64_t head, int64_t q) {
      llvm::MutableArrayRef<uint8_t> row = rowOf(result.kept, head, q);
      llvm::copy(given.slice(row.data() - result.kept.data(), row.size()), row.begin());
    });
  }

  /// Pairs whose membership the scores of a target decide (rule 9).
  void open() {
    EstimateReader kept(*clauses.keep, pairs);
    forEachRow([&](int64_t head, int64_t q) {
      kept.moveTo(head, q);
      Estimate dense = denseCondition(head);
      llvm::MutableArrayRef<uint8_t> row = rowOf(result.open, head, q);
      for (int64_t k = 0; k < request.kvLen && request.sees(q, k); ++k)
        row[k] = errorOf(Binary::Or, dense, kept.at(k), 0) != 0;
    });
  }

  void count(PairCounts &counts) {
    forEachRow([&](int64_t head, int64_t q) {
      llvm::MutableArrayRef<uint8_t> row = rowOf(result.kept, head, q);
      for (int64_t k = 0; k < request.kvLen && request.sees(q, k); ++k) {
        counts.kept[head] += row[k];
        counts.visible[head] += 1;
      }
    });
  }

  void compact(bool withOpen) {
    // A request without rows takes no part in the call.
    if (!clauses.compact || request.qLen == 0)
      return;
    EstimateReader set(*clauses.compact, Axes{HeadAxis::Head, 0, 1, false});
    for (int64_t head = 0; head < request.queryHeads; ++head) {
      set.moveTo(head, 0);
      Estimate dense = denseCondition(head);
      for (int64_t k = 0; k < request.kvLen; ++k) {
        if (isTrue(dense.value) || isTrue(set.at(k).value))
          result.compacted[request.index][head].push_back(k);
        if (withOpen && errorOf(Binary::Or, dense, set.at(k), 0) != 0)
          result.openCompacted[request.index][head].push_back(k);
      }
    }
  }

  void run() {
    int64_t tile = clauses.restKeys ? clauses.restQueries : 1;
    int64_t first = request.firstQueryCell(tile);
    for (int64_t head = 0; head < request.queryHeads; ++head) {
      for (int64_t t = first; t < first + request.queryCells(tile); ++t) {
        Span rows = request.rows(tile, t);
        std::vector<int64_t> rest = restBlocks(head, rows);
        result.restEntries[head] += rest.size() * (rows.end - rows.begin);
        for (int64_t q = rows.begin; q < rows.end; ++q)
          attendRow(head, q, rest);
      }
    }
  }

private:
  static constexpr Axes pairs{HeadAxis::Head, 1, 1, false};

  static Estimate perHead(const Map &map, int64_t head) {
    EstimateReader reader(map, Axes{HeadAxis::Head, 0, 0, false});
    reader.moveTo(head, 0);
    return reader.at(0);
  }

  template <typename Visit> void forEachRow(Visit visit) const {
    for (int64_t q = request.base(); q < request.kvLen; ++q)
      for (int64_t head = 0; head < request.queryHeads; ++head)
        visit(head, q);
  }

  int64_t rowOf(int64_t q) const { return request.firstRow + q - request.base(); }

  llvm::MutableArrayRef<uint8_t> rowOf(std::vector<uint8_t> &pairs, int64_t head, int64_t q) {
    return llvm::MutableArrayRef<uint8_t>(pairs).slice(
        (head * result.tokens + rowOf(q)) * result.maxKvLen, result.maxKvLen);
  }

  /// Rule 11: blocks that all rows of the tile see whole and none keeps a key of.
  std::vector<int64_t> restBlocks(int64_t head, Span rows) {
    std::vector<int64_t> blocks;
    if (!clauses.restKeys)
      return blocks;
    int64_t count = request.keyCells(Axes{HeadAxis::None, 0, clauses.restKeys, false});
    for (int64_t block = 0; block < count; ++block) {
      Span keysOf = request.keys(clauses.restKeys, block);
      bool enters = true;
      for (int64_t q = rows.begin; q < rows.end && enters; ++q) {
        auto kept = rowOf(result.kept, head, q).slice(keysOf.begin, keysOf.end - keysOf.begin);
        enters =
            request.sees(q, keysOf.end - 1) && llvm::none_of(kept, [](uint8_t x) { return x; });
      }
      if (enters)
        blocks.push_back(block);
    }
    return blocks;
  }

  /// For each KV head the means of its blocks, one after the other.
  std::vector<std::vector<double>> meansOf(const Map &vectors, MeanType type) const {
    MapPtr exact =
        reduce(Reduction::Mean, vectors, Axes{HeadAxis::KvHead, 0, clauses.restKeys, false});
    std::vector<std::vector<double>> means;
    for (int64_t kvHead = 0; kvHead < request.kvHeads; ++kvHead) {
      std::vector<double> &row = means.emplace_back(exact->row(kvHead, 0).vec());
      if (type != MeanType::F64)
        llvm::transform(row, row.begin(), type == MeanType::Bf16 ? toBf16 : toF16);
    }
    return means;
  }

  std::vector<Entry> entriesOf(int64_t head, int64_t q, llvm::ArrayRef<int64_t> rest) {
    std::vector<Entry> entries;
    int64_t kvHead = request.kvHeadOf(head), dim = values->dim;
    Reader logit(*logits, pairs);
    logit.moveTo(head, q);
    llvm::ArrayRef<double> vectors = values->row(kvHead, 0);
    llvm::ArrayRef<uint8_t> kept = rowOf(result.kept, head, q);
    for (int64_t k = 0; k < request.kvLen; ++k)
      if (kept[k])
        entries.push_back({logit.scalar(k), vectors.slice(k * dim, dim)});
    for (int64_t block : rest) {
      Span keysOf = request.keys(clauses.restKeys, block);
      llvm::ArrayRef<double> mean =
          llvm::ArrayRef(keyMeans[kvHead]).slice(block * keys->dim, keys->dim);
      double score = *problem.softmaxScale * dot(query->row(head, q), mean);
      entries.push_back({score + std::log(static_cast<double>(keysOf.end - keysOf.begin)),
                         llvm::ArrayRef(valueMeans[kvHead]).slice(block * dim, dim)});
    }
    // A logit that is not a number weighs nothing.
    llvm::erase_if(entries, [](const Entry &entry) { return std::isnan(entry.logit); });
    return entries;
  }

  /// Rule 10.
  void attendRow(int64_t head, int64_t q, llvm::ArrayRef<int64_t> rest) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    int64_t row = rowOf(q);
    double &lse = result.lse[head * result.tokens + row];
    llvm::MutableArrayRef<double> out =
        llvm::MutableArrayRef<double>(result.out)
            .slice((row * result.heads + head) * result.valueDim, result.valueDim);
    lse = -infinity;
    llvm::fill(out, 0);

    std::vector<Entry> entries = entriesOf(head, q, rest);
    double sink = clauses.sinkLogit ? perHead(*clauses.sinkLogit, head).value : -infinity;
    if (std::isnan(sink))
      sink = -infinity;
    double largest = -infinity;
    for (const Entry &entry : entries)
      largest = std::max(largest, entry.logit);
    if (largest == -infinity) // Nothing is kept, or nothing of what is has weight.
      return;
    largest = std::max(largest, sink);
    double total = std::exp(sink - largest);
    for (const Entry &entry : entries) {
      double weight = std::exp(entry.logit - largest);
      total += weight;
      for (size_t i = 0; i < out.size(); ++i)
        out[i] += weight * entry.value[i];
    }
    for (double &x : out)
      x /= total;
    lse = largest + std::log(total);
  }

  const Request &request;
  const Problem &problem;
  const Clauses &clauses;
  Result &result;
  MapPtr query, keys, values, logits;
  std::vector<std::vector<double>> keyMeans, valueMeans;
};

} // namespace

void attend(const Request &request, const Problem &problem, const Clauses &clauses,
            Evaluator &evaluator, const Options &options, Result &result, PairCounts &counts) {
  RequestAttention attention(request, problem, clauses, evaluator, options.means, result);
  if (options.kept.empty())
    attention.keep();
  else
    attention.keep(options.kept);
  if (options.open)
    attention.open();
  attention.count(counts);
  attention.compact(options.open);
  attention.run();
}

} // namespace skim::reference
