// Patterns that score queries and keys.
#include "test/examples/Restatements.h"

#include <algorithm>
#include <cmath>

namespace skim::examples {
namespace {

/// Blocks of `size` positions that hold one of [begin, end).
struct Blocks {
  Blocks(int64_t size, int64_t begin, int64_t end)
      : size(size), first(floorDiv(begin, size)),
        count(begin < end ? floorDiv(end - 1, size) - first + 1 : 0) {}

  /// Positions of block `i`, counted from the first, cut to [begin, end).
  int64_t begin(int64_t i, int64_t least) const { return std::max(least, (first + i) * size); }
  int64_t end(int64_t i, int64_t most) const { return std::min(most, (first + i + 1) * size); }

  int64_t size, first, count;
};

Blocks keyBlocks(const Prompt &prompt, int64_t size) { return {size, 0, prompt.kvLen}; }
Blocks rowBlocks(const Prompt &prompt, int64_t size) {
  return {size, prompt.position(0), prompt.kvLen};
}

Vector query(const Prompt &prompt, int64_t q, int64_t head) {
  return Vector(prompt.query(q - prompt.position(0), head));
}

/// decide(head, block of rows, block of keys) for each pair; `blocks` are square.
template <typename Decide> void forEachRowBlock(const Prompt &prompt, int64_t size, Decide decide) {
  Blocks rows = rowBlocks(prompt, size);
  for (int64_t head = 0; head < prompt.heads; ++head)
    for (int64_t i = 0; i < rows.count; ++i)
      decide(head, rows.first + i, rows.begin(i, prompt.position(0)), rows.end(i, prompt.kvLen));
}

/// Decisions of [head][block of rows][block of keys].
class BlockDecisions {
public:
  BlockDecisions(const Prompt &prompt, int64_t size)
      : rows(rowBlocks(prompt, size)), keys(keyBlocks(prompt, size).count),
        decisions(prompt.heads * rows.count * keys, Decision::Dropped) {}

  /// By absolute numbers of blocks.
  Decision &at(int64_t head, int64_t rowBlock, int64_t keyBlock) {
    return decisions[(head * rows.count + rowBlock - rows.first) * keys + keyBlock];
  }
  Decision of(int64_t head, int64_t q, int64_t k) { return at(head, q / rows.size, k / rows.size); }

private:
  Blocks rows;
  int64_t keys;
  std::vector<Decision> decisions;
};

} // namespace

// MInference: softmax of the last `probe` queries; the columns and the diagonals of the largest
// sums. Diagonals are taken in whole blocks of 64, and so is the kernel's diagonal.
Relation verticalSlash(const Prompt &prompt) {
  std::vector<std::vector<Decision>> columns, diagonals;
  for (int64_t head = 0; head < prompt.heads; ++head) {
    Scores columnSums(prompt.kvLen), diagonalSums(prompt.kvLen);
    for (int64_t row = std::max<int64_t>(0, prompt.qLen - prompt.index("probe")); row < prompt.qLen;
         ++row) {
      int64_t q = prompt.position(row);
      Scores scores(std::max<int64_t>(q + 1, 0));
      for (int64_t k = 0; k <= q; ++k)
        scores[k] = dot(Vector(prompt.query(row, head)),
                        Vector(prompt.key(k, prompt.kvHeadOf(head))), prompt.precision.product) *
                    prompt.scale();
      Scores p = softmax(scores);
      for (int64_t k = 0; k <= q; ++k) {
        columnSums[k] = columnSums[k].value_or(Score()) + *p[k];
        diagonalSums[q - k] = diagonalSums[q - k].value_or(Score()) + *p[k];
      }
    }
    columns.push_back(largest(columnSums, prompt.index("vertical")));
    diagonals.push_back(largest(diagonalSums, prompt.index("slash")));
  }
  BlockDecisions crossed(prompt, 64);
  for (int64_t head = 0; head < prompt.heads; ++head)
    for (int64_t row = 0; row < prompt.qLen; ++row)
      for (int64_t q = prompt.position(row), k = 0; k <= q; ++k) {
        Decision &block = crossed.at(head, q / 64, k / 64);
        block = either(block, diagonals[head][q - k]);
      }
  return relationOf(prompt, [&](int64_t head, int64_t, int64_t q, int64_t k) {
    return either(either(columns[head][k], crossed.of(head, q, k)), sure(k > q - 64));
  });
}

// FlashPrefill V2: the energy of a block is the sum of exp(q . mean key) over the rows of the tile
// and the query heads of the KV head, the mean stored in bf16. Kept is what comes to alpha of the
// largest. Its second version lets a row count for a block once it sees the first key; here, as in
// its first version, once it sees the last. Sink and window are counted in tokens.
Relation flashPrefill(const Prompt &prompt) {
  Blocks keys = keyBlocks(prompt, 128);
  int64_t group = prompt.heads / prompt.kvHeads;
  BlockDecisions kept(prompt, 128);
  forEachRowBlock(prompt, 128, [&](int64_t head, int64_t tile, int64_t begin, int64_t end) {
    int64_t kvHead = prompt.kvHeadOf(head);
    Scores energies(keys.count);
    Score most;
    for (int64_t block = 0; block < keys.count; ++block) {
      int64_t lastKey = keys.end(block, prompt.kvLen) - 1;
      Vector mean =
          bf16(meanKey(prompt, kvHead, keys.begin(block, 0), lastKey + 1), prompt.precision.pool);
      for (int64_t q = std::max(begin, lastKey); q < end; ++q)
        for (int64_t other = kvHead * group; other < (kvHead + 1) * group; ++other) {
          Score score = dot(query(prompt, q, other), mean, prompt.precision.product);
          energies[block] = energies[block].value_or(Score()) + exponential(score * prompt.scale());
        }
      if (energies[block])
        most = larger(most, *energies[block]);
    }
    for (int64_t block = 0; block < keys.count; ++block)
      kept.at(head, tile, block) = atLeast(energies[block], most * prompt.f32("alpha"));
  });
  return relationOf(prompt, [&](int64_t head, int64_t, int64_t q, int64_t k) {
    return either(kept.of(head, q, k),
                  sure(k < prompt.index("sink") || k > q - prompt.index("window")));
  });
}

// A block of 64 x 64 is kept where some row of it gives some mean of 16 keys the share `mass` of
// its softmax over all means that it sees whole, queries and means in e4m3. SALE judges blocks so,
// by each key in 4 bits.
Relation peak(const Prompt &prompt) {
  Blocks pools = keyBlocks(prompt, 16);
  BlockDecisions kept(prompt, 64);
  forEachRowBlock(prompt, 64, [&](int64_t head, int64_t tile, int64_t begin, int64_t end) {
    for (int64_t q = std::max<int64_t>(begin, 0); q < end; ++q) {
      Vector row = fp8(query(prompt, q, head), 0);
      Scores scores(pools.count);
      for (int64_t i = 0; i < pools.count && pools.end(i, prompt.kvLen) <= q + 1; ++i) {
        Vector mean =
            meanKey(prompt, prompt.kvHeadOf(head), pools.begin(i, 0), pools.end(i, prompt.kvLen));
        scores[i] = dot(row, fp8(mean, prompt.precision.pool), prompt.precision.productOfFp8) *
                    prompt.scale();
      }
      Scores p = softmax(scores);
      for (int64_t i = 0; i < pools.count; ++i) {
        Decision &block = kept.at(head, tile, i / 4);
        block = either(block, atLeast(p[i], {prompt.f32("mass"), 0}));
      }
    }
  });
  return relationOf(prompt, [&](int64_t head, int64_t, int64_t q, int64_t k) {
    return either(kept.of(head, q, k), sure(k < 64 || k > q - prompt.index("window")));
  });
}

// XAttention: each square of stride x stride pairs is scored by its antidiagonal, softmax runs over
// the squares of a row, blocks sum their squares, and the fewest blocks that carry `mass` are kept,
// with the first block and the own.
Relation xAttention(const Prompt &prompt) {
  int64_t stride = prompt.index("stride"), inBlock = 128 / stride;
  Blocks squares = keyBlocks(prompt, stride), blocks = keyBlocks(prompt, 128);
  BlockDecisions kept(prompt, 128);
  forEachRowBlock(prompt, 128, [&](int64_t head, int64_t tile, int64_t begin, int64_t end) {
    Scores sums(blocks.count);
    Blocks rows(stride, begin, end);
    for (int64_t i = 0; i < rows.count; ++i) {
      Scores scores(squares.count);
      for (int64_t j = 0; j < squares.count; ++j) {
        Score sum;
        int64_t samples = 0;
        for (int64_t q = rows.begin(i, begin); q < rows.end(i, end); ++q) {
          int64_t k = j * stride + stride - 1 - (q - (rows.first + i) * stride);
          if (k > q || k >= prompt.kvLen)
            continue;
          sum = sum + dot(query(prompt, q, head), Vector(prompt.key(k, prompt.kvHeadOf(head))),
                          prompt.precision.product);
          ++samples;
        }
        if (samples > 0)
          scores[j] = sum * (prompt.scale() / double(samples));
      }
      Scores p = softmax(scores);
      for (int64_t j = 0; j < squares.count; ++j)
        if (p[j])
          sums[j / inBlock] = sums[j / inBlock].value_or(Score()) + *p[j];
    }
    std::vector<Decision> chosen = carryingShare(sums, prompt.f32("mass"));
    for (int64_t block = 0; block < blocks.count; ++block)
      kept.at(head, tile, block) = chosen[block];
  });
  return relationOf(prompt, [&](int64_t head, int64_t, int64_t q, int64_t k) {
    return either(kept.of(head, q, k), sure(k < prompt.index("sink") || k / 128 == q / 128));
  });
}

// Quest: a page is bounded by the sum over channels of the larger of q * min and q * max; the query
// reads the pages of the highest bounds among those that are full of its past, and the page that it
// is in.
Relation quest(const Prompt &prompt) {
  Blocks pages = keyBlocks(prompt, 16);
  Relation relation(prompt);
  for (int64_t head = 0; head < prompt.heads; ++head)
    for (int64_t row = 0; row < prompt.qLen; ++row) {
      int64_t q = prompt.position(row), kvHead = prompt.kvHeadOf(head);
      Scores bounds(pages.count);
      for (int64_t page = 0; page < pages.count; ++page) {
        int64_t begin = pages.begin(page, 0), end = pages.end(page, prompt.kvLen);
        if (end > q + 1)
          continue;
        Vector least = leastKey(prompt, kvHead, begin, end);
        Vector most = largestKey(prompt, kvHead, begin, end);
        Vector element = Vector(prompt.query(row, head));
        for (int64_t i = 0; i < prompt.dim; ++i)
          if (element.values[i] * least.values[i] > element.values[i] * most.values[i])
            most.values[i] = least.values[i];
        bounds[page] = dot(element, most, prompt.precision.product);
      }
      std::vector<Decision> chosen = largest(bounds, prompt.index("pages"));
      for (int64_t k = 0; k <= q; ++k)
        relation.at(head, row, k) = either(chosen[k / 16], sure(k / 16 == q / 16));
    }
  return relation;
}

// SeerAttention: queries pooled by their mean, keys by mean, largest and least side by side; a
// linear layer for each, a softmax over the blocks, and a threshold. The weight of the keys is
// given in three parts. Own blocks always.
Relation seerAttention(const Prompt &prompt) {
  int64_t inner = prompt.extents.at("gate_query").at(1);
  auto project = [&](const std::string &weight, int64_t head, const Vector &vector, Vector sum) {
    for (int64_t out = 0; out < inner; ++out)
      for (int64_t in = 0; in < prompt.dim; ++in) {
        double product = prompt.input(weight, head, out, in) * vector.values[in];
        sum.values[out] += product;
        sum.errors[out] += prompt.precision.product * std::abs(product);
      }
    return sum;
  };
  const Vector zero(std::vector<double>(inner, 0.0));
  Blocks keys = keyBlocks(prompt, 64);
  BlockDecisions kept(prompt, 64);
  forEachRowBlock(prompt, 64, [&](int64_t head, int64_t tile, int64_t begin, int64_t end) {
    Vector mean(std::vector<double>(prompt.dim, 0.0));
    for (int64_t q = begin; q < end; ++q)
      for (int64_t i = 0; i < prompt.dim; ++i)
        mean.values[i] += prompt.query(q - prompt.position(0), head)[i] / double(end - begin);
    Vector gate = project("gate_query", head, mean, zero);
    int64_t kvHead = prompt.kvHeadOf(head);
    Scores scores(keys.count);
    for (int64_t block = 0; block < keys.count; ++block) {
      int64_t first = keys.begin(block, 0), last = keys.end(block, prompt.kvLen);
      if (last - 1 > begin)
        continue; // Some row does not see the block whole.
      Vector pooled = project("gate_mean", kvHead, meanKey(prompt, kvHead, first, last), zero);
      pooled = project("gate_max", kvHead, largestKey(prompt, kvHead, first, last), pooled);
      pooled = project("gate_min", kvHead, leastKey(prompt, kvHead, first, last), pooled);
      scores[block] = dot(gate, pooled, prompt.precision.product) * prompt.scale();
    }
    Scores p = softmax(scores);
    for (int64_t block = 0; block < keys.count; ++block)
      kept.at(head, tile, block) = atLeast(p[block], {prompt.f32("threshold"), 0});
  });
  return relationOf(prompt, [&](int64_t head, int64_t, int64_t q, int64_t k) {
    return either(kept.of(head, q, k), sure(q / 64 == k / 64));
  });
}

// MoBA: of the blocks before its own, each query takes those whose mean key it scores highest; with
// its own they are `blocks` blocks.
Relation moba(const Prompt &prompt) {
  int64_t size = prompt.index("block");
  Blocks blocks = keyBlocks(prompt, size);
  Relation relation(prompt);
  for (int64_t head = 0; head < prompt.heads; ++head)
    for (int64_t row = 0; row < prompt.qLen; ++row) {
      int64_t q = prompt.position(row), own = floorDiv(q, size);
      Scores scores(blocks.count);
      for (int64_t block = 0; block < std::min(own, blocks.count); ++block)
        scores[block] = dot(Vector(prompt.query(row, head)),
                            meanKey(prompt, prompt.kvHeadOf(head), blocks.begin(block, 0),
                                    blocks.end(block, prompt.kvLen)),
                            prompt.precision.product);
      std::vector<Decision> chosen = largest(scores, prompt.index("blocks") - 1);
      for (int64_t k = 0; k <= q; ++k)
        relation.at(head, row, k) = either(chosen[k / size], sure(k / size == own));
    }
  return relation;
}

} // namespace skim::examples
