// Maps of vectors: `last`, casts, `linear`, and `dot`, which makes scores of them
// (rules 2 and 12).
#ifndef SKIM_REFERENCE_VECTORS_H
#define SKIM_REFERENCE_VECTORS_H

#include "reference/Map.h"

namespace skim::reference {

/// `last(x, n)`: the last n rows of the request; others are undefined.
class LastMap : public LazyMap {
public:
  LastMap(MapPtr operand, MapPtr count, Axes axes);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  MapPtr operand, count;
};

/// The product of two vectors times `scale`, where the cell exists (rule 2).
class DotMap : public LazyMap {
public:
  DotMap(MapPtr lhs, MapPtr rhs, MapPtr scale, bool visibleAny, Axes axes);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  MapPtr lhs, rhs, scale;
  bool visibleAny;
};

double dot(llvm::ArrayRef<double> x, llvm::ArrayRef<double> y);

/// `linear(x, W)`: W x, for a weight `[out, in]`, or one a head.
class LinearMap : public LazyMap {
public:
  LinearMap(MapPtr operand, HeadAxis weightHead, int64_t outputs, std::vector<double> weight);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  /// The rows of the matrix that a head of this map takes.
  llvm::ArrayRef<double> weightOf(int64_t head) const;
  MapPtr operand;
  HeadAxis weightHead;
  std::vector<double> weight;
};

enum class Format { Bf16, Fp8, Int8, Int4 };

/// The values that a format holds; with `scale` (may be null), of x / scale, times scale.
class CastMap : public LazyMap {
public:
  CastMap(Format format, MapPtr operand, MapPtr scale, Axes axes);

private:
  void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  void computeErrors(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const override;
  Format format;
  MapPtr operand, scale;
};

} // namespace skim::reference

#endif // SKIM_REFERENCE_VECTORS_H
