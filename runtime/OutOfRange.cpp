#include "runtime/OutOfRange.h"

#include "runtime/TensorCheck.h"

#include <utility>

namespace skim {

namespace {

int32_t entryAt(const skim_buffer &buffer, int64_t request, int64_t head, int64_t query,
                int64_t key) {
  const auto at = [&](int axis, int64_t index) {
    return buffer.strides[axis] * (buffer.extents[axis] > 1 ? index : 0);
  };
  return static_cast<const int32_t *>(
      buffer.data)[at(0, request) + at(1, head) + at(2, query) + at(3, key)];
}

std::string axisName(const InputDescription &list) {
  if (list.diagonal)
    return "q - k";
  return list.keyBlock == 1 ? "k" : "k / " + std::to_string(list.keyBlock);
}

std::string describe(const std::string &name, const std::string &expected, int64_t value,
                     int64_t request) {
  return expectedButGot({"input", name}, expected,
                        std::to_string(value) + " in request " + std::to_string(request))
      .message();
}

/// Of the list in slot i of one request.
std::string describeList(const LaunchPlan &plan, size_t i, const BatchLengths &lengths,
                         int64_t request, const skim_buffer *inputs) {
  const InputDescription &list = plan.inputs[i];
  const skim_buffer &entries = inputs[i];
  const int64_t capacity = entries.extents[3];
  const int64_t cells = keyBlocks(lengths, request, list.keyBlock).count;
  const int64_t rows =
      list.queryBlock > 0 ? queryBlocks(lengths, request, list.queryBlock).count : 1;
  for (int64_t head = 0; head < entries.extents[1]; ++head)
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t count = entryAt(inputs[i + 1], request, head, row, 0);
      if (count < 0 || count > capacity)
        return describe(plan.inputs[i + 1].name, "counts from 0 to " + std::to_string(capacity),
                        count, request);
      for (int64_t k = 0; k < count; ++k)
        if (const int64_t entry = entryAt(entries, request, head, row, k);
            entry < -1 || entry >= cells)
          return describe(list.name,
                          "entries below " + std::to_string(cells) + " along '" + axisName(list) +
                              "', or -1 for none,",
                          entry, request);
    }
  return "";
}

} // namespace

std::string describeOutOfRange(const LaunchPlan &plan, const BatchLengths &lengths,
                               const skim_buffer *inputs) {
  for (int64_t request = 0; request < lengths.requests; ++request) {
    if (lengths.queryLength(request) == 0)
      continue;
    for (size_t i = 0; i < plan.inputs.size(); ++i) {
      if (plan.inputs[i].element != InputElement::List)
        continue;
      std::string found = describeList(plan, i, lengths, request, inputs);
      if (!found.empty())
        return found;
    }
  }
  return "";
}

std::string describeStatusBits(int32_t bits, const std::string &index) {
  const std::pair<int32_t, const char *> texts[] = {
      {SKIM_STATUS_INDEX_OUT_OF_RANGE, "an index in an input lies outside its axis"},
      {SKIM_STATUS_UNLISTED_LABEL, "a value is not a label of the pattern's match"},
      {SKIM_STATUS_LENGTH_OUT_OF_RANGE, "the lengths of a request in cu_seqlens_q, kv_lens or "
                                        "cu_seqlens_kv contradict each other, the plan's shape or "
                                        "the extents of an operand or input"},
      {SKIM_STATUS_PAGE_OUT_OF_RANGE, "a page in block_table lies outside of the cache"}};
  std::string message;
  for (const auto &[bit, text] : texts)
    if (bits & bit)
      message += (message.empty() ? "" : "; ") +
                 (bit == SKIM_STATUS_INDEX_OUT_OF_RANGE && !index.empty() ? index : text);
  return message;
}

} // namespace skim
