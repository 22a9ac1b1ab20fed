// Running values of a reduction: sums in f64, or an extreme.
#ifndef SKIM_CODEGEN_CPU_ACCUMULATOR_H
#define SKIM_CODEGEN_CPU_ACCUMULATOR_H

#include "codegen/cpu/Code.h"

namespace skim::cpu {

/// Undefined values (NaN) contribute nothing.
class Accumulator {
public:
  /// Reduces values of type `element`, f32 or f64.
  Accumulator(Code &code, tile::Reduction kind, mlir::Type element)
      : code(code), kind(kind), element(element) {}

  /// f64 values that are carried for each cell: at most three.
  unsigned planes() const;
  /// Whether the order of values plays no part.
  bool orderFree() const { return kind == tile::Reduction::Max || kind == tile::Reduction::Min; }

  /// What a cell starts with: scalars for one lane, vectors for more.
  Code::Values identity(unsigned lanes);
  /// Takes in one value a lane, or a scalar into scalars.
  Code::Values combine(mlir::ValueRange carried, mlir::Value value);
  /// Takes all lanes of a vector into scalars, the first lane first.
  Code::Values combineLanes(mlir::ValueRange carried, mlir::Value values);
  /// The result: NaN where nothing was taken in.
  mlir::Value finish(mlir::ValueRange carried);

private:
  mlir::Type wide(mlir::Value like);
  /// `value` as f64, 0 where undefined; and 1 or 0 where it counts.
  std::pair<mlir::Value, mlir::Value> summand(mlir::Value value);
  mlir::Value constant(double value, mlir::Type type);

  Code &code;
  tile::Reduction kind;
  mlir::Type element;
};

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_ACCUMULATOR_H
