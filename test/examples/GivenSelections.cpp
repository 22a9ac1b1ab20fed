// Patterns of positions, and of what the caller gives.
#include "test/examples/Restatements.h"

#include <cmath>

namespace skim::examples {

Relation causal(const Prompt &prompt) {
  return relationOf(prompt, [](int64_t, int64_t, int64_t, int64_t) { return Decision::Kept; });
}

/// StreamingLLM: the first tokens, and as many recent ones as the window holds, the query's own
/// included.
static bool isStreamed(int64_t q, int64_t k, int64_t sink, int64_t window) {
  return k < sink || k > q - window;
}

Relation streaming(const Prompt &prompt) {
  return relationOf(prompt, [&](int64_t, int64_t, int64_t q, int64_t k) {
    return sure(isStreamed(q, k, prompt.index("sink"), prompt.index("window")));
  });
}

// MInference: A-shape heads see the first blocks and the last `band` blocks up to their own.
Relation aShape(const Prompt &prompt) {
  int64_t block = prompt.index("block");
  return relationOf(prompt, [&](int64_t, int64_t, int64_t q, int64_t k) {
    int64_t blocksBack = q / block - k / block;
    return sure(k / block < prompt.index("first") || blocksBack <= prompt.index("band") - 1);
  });
}

// Longformer: a plain window near the query, one with gaps of stride - 1 tokens behind it.
Relation dilatedWindow(const Prompt &prompt) {
  Relation relation(prompt);
  for (int64_t head = 0; head < prompt.heads; ++head)
    for (int64_t row = 0; row < prompt.qLen; ++row) {
      int64_t q = prompt.position(row);
      for (int64_t back = 0; back < prompt.index("near") && back <= q; ++back)
        relation.at(head, row, q - back) = Decision::Kept;
      for (int64_t back = 0; back < prompt.index("reach") && back <= q;
           back += prompt.index("stride"))
        relation.at(head, row, q - back) = Decision::Kept;
    }
  return relation;
}

Relation slidingWindow(const Prompt &prompt) {
  return relationOf(prompt, [&](int64_t, int64_t, int64_t q, int64_t k) {
    return sure(k > q - prompt.index("window"));
  });
}

Relation shortDense(const Prompt &prompt) {
  if (prompt.kvLen <= prompt.index("limit"))
    return causal(prompt);
  return relationOf(prompt, [](int64_t, int64_t, int64_t q, int64_t k) {
    return sure(isStreamed(q, k, 64, 1024));
  });
}

// LServe: half of the heads stream with 128 sink tokens, the others are dense.
Relation lserve(const Prompt &prompt) {
  return relationOf(prompt, [&](int64_t head, int64_t, int64_t q, int64_t k) {
    return sure(prompt.inputs.at("kind").at(head) == 1 ||
                isStreamed(q, k, 128, prompt.index("window")));
  });
}

// Sequence packing: attention is block diagonal, one block a document.
Relation document(const Prompt &prompt) {
  return relationOf(prompt, [&](int64_t, int64_t row, int64_t, int64_t k) {
    return sure(k >= static_cast<int64_t>(prompt.inputs.at("start").at(row)));
  });
}

Relation blockMask(const Prompt &prompt) {
  int64_t first = floorDiv(prompt.position(0), 128);
  return relationOf(prompt, [&](int64_t head, int64_t, int64_t q, int64_t k) {
    return sure(prompt.input("layout", head, q / 128 - first, k / 128) != 0);
  });
}

Relation blockList(const Prompt &prompt) {
  int64_t first = floorDiv(prompt.position(0), 64);
  return relationOf(prompt, [&](int64_t head, int64_t, int64_t q, int64_t k) {
    bool listed = k > q - 64;
    for (int64_t i = 0; i < prompt.extents.at("blocks").at(2); ++i)
      listed |= k / 64 == static_cast<int64_t>(
                              prompt.input("blocks", prompt.kvHeadOf(head), q / 64 - first, i));
    return sure(listed);
  });
}

// SnapKV: for each KV head the chosen tokens, and the last ones.
Relation columns(const Prompt &prompt) {
  return relationOf(prompt, [&](int64_t head, int64_t, int64_t q, int64_t k) {
    return sure(prompt.input("chosen", prompt.kvHeadOf(head), k) != 0 ||
                k > q - prompt.index("window"));
  });
}

// Speculative Prefill: the share `ratio` of the prompt's tokens, those of the highest importance.
Relation tokenTopK(const Prompt &prompt) {
  int64_t count = static_cast<int64_t>(std::ceil(prompt.f32("ratio") * double(prompt.kvLen)));
  std::vector<std::vector<Decision>> chosen;
  for (int64_t kvHead = 0; kvHead < prompt.kvHeads; ++kvHead) {
    Scores scores(prompt.kvLen);
    for (int64_t key = 0; key < prompt.kvLen; ++key)
      scores[key] = Score{prompt.input("importance", kvHead, key), 0};
    chosen.push_back(largest(scores, count));
  }
  return relationOf(prompt, [&](int64_t head, int64_t, int64_t q, int64_t k) {
    return either(chosen[prompt.kvHeadOf(head)][k], sure(k > q - prompt.index("window")));
  });
}

} // namespace skim::examples
