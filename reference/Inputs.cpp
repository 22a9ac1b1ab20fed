#include "reference/Inputs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace skim::reference {

std::string layoutInput(const InputValue &value, const Axes &axes, const Request &request,
                        int64_t requests, int64_t trailing, bool isList, InputLayout &layout) {
  struct Axis {
    std::string name;
    int64_t extent;
    bool atLeast = true;
  };
  std::vector<Axis> wanted;
  if (axes.head != HeadAxis::None)
    wanted.push_back({describe(Axes{axes.head, 0, 0, false}), request.headCount(axes.head), false});
  if (axes.query)
    wanted.push_back(
        {describe(Axes{HeadAxis::None, axes.query, 0, false}), request.queryCells(axes.query)});
  if (axes.hasKeyLike())
    wanted.push_back(
        {isList ? "capacity" : describe(Axes{HeadAxis::None, 0, axes.key, axes.diagonal}),
         isList ? 0 : request.keyCells(axes)});
  size_t rank = wanted.size() + trailing;
  if (value.shape.size() == rank + 1)
    wanted.insert(wanted.begin(), {"request", requests, false});
  else if (value.shape.size() != rank || requests != 1)
    return "expected " + std::to_string(rank) + " axes" +
           (requests == 1 ? "" : " after a request axis") + " but got " +
           std::to_string(value.shape.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i].atLeast ? value.shape[i] < wanted[i].extent : value.shape[i] != wanted[i].extent)
      return (wanted[i].atLeast ? "expected at least " : "expected ") +
             std::to_string(wanted[i].extent) + " entries along '" + wanted[i].name + "' but got " +
             std::to_string(value.shape[i]);

  // From the last axis to the first.
  llvm::ArrayRef<int64_t> extents = value.shape;
  layout.trailing = extents.take_back(trailing).vec();
  extents = extents.drop_back(trailing);
  int64_t stride = 1;
  for (int64_t extent : layout.trailing)
    stride *= extent;
  auto take = [&] {
    int64_t own = stride;
    stride *= extents.back();
    extents = extents.drop_back();
    return own;
  };
  if (axes.hasKeyLike()) {
    layout.keyExtent = extents.back();
    take();
  }
  if (axes.query)
    layout.queryStride = take();
  if (axes.head != HeadAxis::None)
    layout.headStride = take();
  if (!extents.empty())
    layout.offset = request.index * take();
  return "";
}

InputMap::InputMap(const Request &request, Axes axes, Element element, const InputValue &value,
                   InputLayout place)
    : LazyMap(request, axes, element), value(value), layout(std::move(place)) {
  if (element == Element::Vec) {
    dim = layout.trailing.front();
    scored = true;
  }
}

void InputMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  int64_t start = layout.offset + head * layout.headStride +
                  (query - request.firstQueryCell(axes.query)) * layout.queryStride;
  for (int64_t cell = 0, end = cells(); cell < end; ++cell) {
    if (!request.inputCellExists(axes, query, cell))
      continue;
    for (int64_t i = 0; i < dim; ++i) {
      double x = value.data[start + cell * dim + i];
      out[cell * dim + i] = element == Element::F32 ? static_cast<float>(x) : x;
    }
  }
}

ListMap::ListMap(const Request &request, Axes axes, const InputValue &entries, InputLayout place,
                 const InputValue *counts, InputLayout countPlace)
    : LazyMap(request, axes, Element::Bool), entries(entries), layout(std::move(place)),
      counts(counts), countLayout(std::move(countPlace)) {}

double ListMap::countOf(int64_t head, int64_t query) const {
  if (!counts)
    return layout.keyExtent;
  return counts->data[countLayout.offset + head * countLayout.headStride +
                      (query - request.firstQueryCell(axes.query)) * countLayout.queryStride];
}

llvm::ArrayRef<double> ListMap::entriesOf(int64_t head, int64_t query) const {
  int64_t row = query - request.firstQueryCell(axes.query);
  int64_t start = layout.offset + head * layout.headStride + row * layout.queryStride;
  double count = countOf(head, query);
  if (!(count >= 0 && count <= layout.keyExtent))
    return {};
  return llvm::ArrayRef<double>(entries.data).slice(start, static_cast<int64_t>(count));
}

static bool isInside(double entry, int64_t first, int64_t cells) {
  return entry >= first && entry < first + cells && entry == std::floor(entry);
}

std::optional<ListMap::OutOfRange> ListMap::findOutOfRange() const {
  if (request.qLen == 0) // Nobody reads the lists of a request without rows.
    return std::nullopt;
  int64_t firstCell = axes.diagonal ? request.firstDiagonal() : 0;
  int64_t firstQuery = request.firstQueryCell(axes.query);
  for (int64_t head = 0; head < request.headCount(axes.head); ++head)
    for (int64_t q = firstQuery; q < firstQuery + request.queryCells(axes.query); ++q) {
      double count = countOf(head, q);
      if (!(count >= 0 && count <= layout.keyExtent))
        return OutOfRange{true, llvm::formatv("expected counts from 0 to {0} but got {1:F0} in "
                                              "request {2}",
                                              layout.keyExtent, count, request.index)};
      for (double entry : entriesOf(head, q))
        if (entry != -1 && !isInside(entry, firstCell, cells()))
          return OutOfRange{
              false, llvm::formatv("expected entries below {0} along '{1}', or -1 for none, but "
                                   "got {2:F0} in request {3}",
                                   firstCell + cells(),
                                   describe(Axes{HeadAxis::None, 0, axes.key, axes.diagonal}),
                                   entry, request.index)};
    }
  return std::nullopt;
}

void ListMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  std::fill(out.begin(), out.end(), 0);
  int64_t firstCell = axes.diagonal ? request.firstDiagonal() : 0;
  for (double entry : entriesOf(head, query))
    if (entry != -1 && isInside(entry, firstCell, cells()))
      out[static_cast<int64_t>(entry) - firstCell] = 1;
}

} // namespace skim::reference
