#include "reference/Vectors.h"

#include "reference/Casts.h"

#include <algorithm>

namespace skim::reference {

LastMap::LastMap(MapPtr source, MapPtr size, Axes axes)
    : LazyMap(source->request, axes, source->element), operand(std::move(source)),
      count(std::move(size)) {
  use(*operand);
  use(*count);
  dim = operand->dim;
  isFp8 = operand->isFp8;
}

void LastMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  Reader values(*operand, axes), size(*count, axes);
  size.moveTo(head, query);
  if (!(query >= request.kvLen - size.scalar(0)))
    return;
  values.moveTo(head, query);
  for (int64_t cell = 0, end = cells(); cell < end; ++cell)
    std::copy_n(values.at(cell).begin(), dim, out.begin() + cell * dim);
}

double dot(llvm::ArrayRef<double> x, llvm::ArrayRef<double> y) {
  // Four sums, so that the compiler may keep them in vector registers.
  double sums[4] = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= x.size(); i += 4)
    for (size_t j = 0; j < 4; ++j)
      sums[j] += x[i + j] * y[i + j];
  for (; i < x.size(); ++i)
    sums[0] += x[i] * y[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

DotMap::DotMap(MapPtr left, MapPtr right, MapPtr factor, bool visibleAny, Axes axes)
    : LazyMap(left->request, axes, Element::F32), lhs(std::move(left)), rhs(std::move(right)),
      scale(std::move(factor)), visibleAny(visibleAny) {
  use(*lhs);
  use(*rhs);
  use(*scale);
  scored = true;
}

void DotMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  Reader left(*lhs, axes), right(*rhs, axes), factor(*scale, axes);
  left.moveTo(head, query);
  right.moveTo(head, query);
  factor.moveTo(head, query);
  for (int64_t cell = 0, end = cells(); cell < end; ++cell) {
    if (request.operandCellExists(axes, query, cell, visibleAny))
      out[cell] = dot(left.at(cell), right.at(cell)) * factor.scalar(cell);
  }
}

LinearMap::LinearMap(MapPtr source, HeadAxis weightHead, int64_t outputs,
                     std::vector<double> matrix)
    : LazyMap(source->request, source->axes, Element::Vec), operand(std::move(source)),
      weightHead(weightHead), weight(std::move(matrix)) {
  use(*operand);
  axes.head = std::max(axes.head, weightHead);
  dim = outputs;
  scored = true;
}

llvm::ArrayRef<double> LinearMap::weightOf(int64_t head) const {
  int64_t size = dim * operand->dim, matrix = 0;
  if (weightHead != HeadAxis::None)
    matrix = weightHead == axes.head ? head : request.kvHeadOf(head);
  return llvm::ArrayRef<double>(weight).slice(matrix * size, size);
}

void LinearMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  Reader values(*operand, axes);
  values.moveTo(head, query);
  int64_t inputs = operand->dim;
  llvm::ArrayRef<double> rows = weightOf(head);
  for (int64_t cell = 0, end = cells(); cell < end; ++cell)
    for (int64_t i = 0; i < dim; ++i)
      out[cell * dim + i] = dot(values.at(cell), rows.slice(i * inputs, inputs));
}

CastMap::CastMap(Format format, MapPtr source, MapPtr factor, Axes axes)
    : LazyMap(source->request, axes, source->element), format(format), operand(std::move(source)),
      scale(std::move(factor)) {
  use(*operand);
  if (scale)
    use(*scale);
  dim = operand->dim;
  isFp8 = format == Format::Fp8;
}

void CastMap::compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const {
  Reader values(*operand, axes);
  values.moveTo(head, query);
  for (int64_t cell = 0, end = cells(); cell < end; ++cell) {
    llvm::MutableArrayRef<double> vector = out.slice(cell * dim, dim);
    std::copy_n(values.at(cell).begin(), dim, vector.begin());
    if (format == Format::Int8 || format == Format::Int4) {
      quantise(vector, format == Format::Int8 ? 127 : 7);
      continue;
    }
    double factor = 1;
    if (scale) {
      Reader factors(*scale, axes);
      factors.moveTo(head, query);
      factor = factors.scalar(cell);
    }
    auto number = [&](double x) { return scored ? x : static_cast<float>(x); };
    for (double &x : vector) {
      double quotient = number(x / factor);
      x = number((format == Format::Bf16 ? toBf16(quotient) : toFp8(quotient)) * factor);
    }
  }
}

} // namespace skim::reference
