// Builder of loops, scalars and vectors: the vocabulary in which the lowerings are written.
#ifndef SKIM_CODEGEN_CPU_CODE_H
#define SKIM_CODEGEN_CPU_CODE_H

#include "dialect/Tile/TileOps.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace skim::cpu {

class Code : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;
  /// Writes in front of `op`.
  static Code before(mlir::Operation *op);
  /// Writes behind `op`.
  static Code after(mlir::Operation *op);

  using Values = llvm::SmallVector<mlir::Value>;

  mlir::Type pointerType();

  mlir::Value index(int64_t value);
  mlir::Value f32(double value);
  mlir::Value i1(bool value);
  mlir::Value negativeInfinity();

  // Index arithmetic; constants fold.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  /// The remainder's sign does not matter: exact floor for negative values too.
  mlir::Value floorDiv(mlir::Value a, int64_t divisor);
  mlir::Value floorDiv(mlir::Value a, mlir::Value positiveDivisor);
  mlir::Value ceilDiv(mlir::Value a, int64_t divisor);
  mlir::Value roundDown(mlir::Value a, int64_t multiple);
  mlir::Value roundUp(mlir::Value a, int64_t multiple);
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value lessOrEqual(mlir::Value a, mlir::Value b);
  mlir::Value equal(mlir::Value a, mlir::Value b);
  mlir::Value logicalAnd(mlir::Value a, mlir::Value b);
  mlir::Value logicalOr(mlir::Value a, mlir::Value b);
  mlir::Value logicalNot(mlir::Value a);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  // Raw memory. Offsets are bytes.
  mlir::Value offset(mlir::Value pointer, int64_t bytes);
  mlir::Value offset(mlir::Value pointer, mlir::Value bytes);
  mlir::Value load(mlir::Type type, mlir::Value address);
  void store(mlir::Value value, mlir::Value address);
  /// Loads a signed integer of `bits` bits.
  mlir::Value loadIndex(unsigned bits, mlir::Value address);
  mlir::Value isNull(mlir::Value pointer);
  mlir::Value notNull(mlir::Value pointer) { return logicalNot(isNull(pointer)); }

  // Structured control flow.
  using LoopBody = llvm::function_ref<void(mlir::Value iv)>;
  using CarryingBody = llvm::function_ref<Values(mlir::Value iv, mlir::ValueRange carried)>;
  void loop(mlir::Value lower, mlir::Value upper, int64_t step, LoopBody body);
  Values loop(mlir::Value lower, mlir::Value upper, int64_t step, mlir::ValueRange initial,
              CarryingBody body);
  void ifThen(mlir::Value condition, llvm::function_ref<void()> body);
  void ifElse(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);
  /// The values of the branch that is taken.
  Values choose(mlir::Value condition, llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);

  // Vectors and tiles in memory.
  mlir::VectorType vectorType(unsigned lanes, mlir::Type element);
  mlir::Value splat(mlir::Value scalar, unsigned lanes);
  /// 0, 1, 2, ... as a vector of index.
  mlir::Value laneNumbers(unsigned lanes);
  mlir::Value loadVector(unsigned lanes, mlir::Value tile, mlir::ValueRange indices);
  void storeVector(mlir::Value vector, mlir::Value tile, mlir::ValueRange indices);
  mlir::Value loadScalar(mlir::Value tile, mlir::ValueRange indices);
  void storeScalar(mlir::Value scalar, mlir::Value tile, mlir::ValueRange indices);
  /// a * b + c, fused where the target can.
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value c);
  /// The greater one; `b` where `a` is NaN.
  mlir::Value maximum(mlir::Value a, mlir::Value b);
};

/// What the function made from a program was compiled for.
struct KernelInfo {
  tile::ProblemAttr problem;
  tile::ScheduleAttr schedule;
  tile::ItemsAttr items;
};
KernelInfo kernelInfo(mlir::Operation *op);
/// Hands the program's attributes to the function.
void setKernelInfo(mlir::Operation *function, const KernelInfo &info);

/// A buffer of the function's frame, 64-byte aligned, made once at its start.
mlir::Value allocateInFrame(mlir::Operation *user, mlir::MemRefType type);

/// The record of an item or visit. Fails with an error on the user when it is not known.
llvm::FailureOr<tile::ItemRecordOp> itemRecord(mlir::Operation *user, mlir::Value item);
llvm::FailureOr<tile::VisitRecordOp> visitRecord(mlir::Operation *user, mlir::Value visit);

/// A value of the `tile` dialect as the buffer that stands for it, and the other way around.
mlir::Value asBuffer(Code &code, mlir::Value value, mlir::MemRefType type);
mlir::Value asTile(Code &code, mlir::Value buffer, mlir::Type type);

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_CODE_H
