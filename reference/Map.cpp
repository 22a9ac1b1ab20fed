#include "reference/Map.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace skim::reference {

void Map::use(const Map &operand) {
  scored |= operand.scored;
  depth = std::max(depth, operand.depth + 1);
}

llvm::ArrayRef<double> Map::errors(int64_t, int64_t) const {
  noErrors.resize(cells() * dim, 0);
  return noErrors;
}

llvm::ArrayRef<double> LazyMap::row(int64_t head, int64_t query) const {
  if (rows.empty())
    rows.resize(request.headCount(axes.head));
  CachedRow &cached = rows[head];
  if (cached.query != query) {
    cached.values.assign(cells() * dim, undefined);
    compute(head, query, cached.values);
    cached.query = query;
  }
  return cached.values;
}

llvm::ArrayRef<double> LazyMap::errors(int64_t head, int64_t query) const {
  if (!scored)
    return Map::errors(head, query);
  if (errorRows.empty())
    errorRows.resize(request.headCount(axes.head));
  CachedRow &cached = errorRows[head];
  if (cached.query != query) {
    cached.values.assign(cells() * dim, 0);
    computeErrors(head, query, cached.values);
    cached.query = query;
  }
  return cached.values;
}

DenseMap::DenseMap(const Request &request, Axes axes, Element element, int64_t dim)
    : Map(request, axes, element), data(size(request, axes, dim), undefined) {
  this->dim = dim;
}

int64_t DenseMap::size(const Request &request, const Axes &axes, int64_t dim) {
  uint64_t cells = llvm::SaturatingMultiply<uint64_t>(
      request.headCount(axes.head) * request.queryCells(axes.query), request.keyCells(axes));
  return std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(cells, dim), INT64_MAX);
}

int64_t DenseMap::offset(int64_t head, int64_t query) const {
  return (head * request.queryCells(axes.query) + query - request.firstQueryCell(axes.query)) *
         cells() * dim;
}

llvm::ArrayRef<double> DenseMap::row(int64_t head, int64_t query) const {
  return llvm::ArrayRef<double>(data).slice(offset(head, query), cells() * dim);
}

llvm::MutableArrayRef<double> DenseMap::mutableRow(int64_t head, int64_t query) {
  return llvm::MutableArrayRef<double>(data).slice(offset(head, query), cells() * dim);
}

llvm::ArrayRef<double> DenseMap::errors(int64_t head, int64_t query) const {
  if (errorData.empty())
    return Map::errors(head, query);
  return llvm::ArrayRef<double>(errorData).slice(offset(head, query), cells() * dim);
}

llvm::MutableArrayRef<double> DenseMap::numberErrors() {
  errorData.resize(data.size(), 0);
  return errorData;
}

UniformMap::UniformMap(const Request &request, HeadAxis head, Element element,
                       std::vector<double> values)
    : Map(request, Axes{head, 0, 0, false}, element), values(std::move(values)) {
  positional = element == Element::Index;
}

void Reader::moveTo(int64_t head, int64_t toQuery) {
  query = toQuery;
  if (map.axes.head == HeadAxis::None)
    head = 0;
  else if (map.axes.head == HeadAxis::KvHead && axes.head == HeadAxis::Head)
    head = map.request.kvHeadOf(head);
  int64_t cell = 0;
  if (map.axes.query == axes.query)
    cell = query;
  else if (map.axes.query)
    cell = floorDiv(query * axes.query, map.axes.query);
  current = what == What::Values ? map.row(head, cell) : map.errors(head, cell);
}

int64_t Reader::sourceCell(int64_t key) const {
  if (map.axes.diagonal == axes.diagonal && map.axes.key == axes.key)
    return key;
  if (map.axes.diagonal) {
    int64_t cell = query - key - map.request.firstDiagonal();
    return cell >= 0 && cell < map.cells() ? cell : -1;
  }
  return map.axes.key ? floorDiv(key * axes.key, map.axes.key) : 0;
}

llvm::ArrayRef<double> Reader::at(int64_t key) const {
  int64_t cell = sourceCell(key);
  return cell < 0 ? llvm::ArrayRef<double>() : current.slice(cell * map.dim, map.dim);
}

double Reader::scalar(int64_t key) const {
  int64_t cell = sourceCell(key);
  if (cell < 0)
    return what == What::Values ? undefined : 0;
  return current[cell];
}

llvm::ArrayRef<double> Reader::scalars() {
  if (same)
    return current;
  expanded.resize(map.request.keyCells(axes));
  for (int64_t key = 0, end = expanded.size(); key < end; ++key)
    expanded[key] = scalar(key);
  return expanded;
}

} // namespace skim::reference
