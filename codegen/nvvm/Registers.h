// What one consumer thread holds of fragments and states.
//
// A warpgroup computes 64 rows. Thread t of its 128 holds rows r0 = 16 (t / 32) + (t % 32) / 4 and
// r0 + 8; of each eight columns, the two from 2 (t % 4) on. So register 4 j + 2 i + c of a fragment
// is row r0 + 8 i, column 8 j + 2 (t % 4) + c: the layout of an accumulator of wgmma, and, packed
// in pairs, of its left operand.
#ifndef SKIM_CODEGEN_NVVM_REGISTERS_H
#define SKIM_CODEGEN_NVVM_REGISTERS_H

#include "codegen/nvvm/Device.h"

#include "mlir/Transforms/DialectConversion.h"
#include "llvm/ADT/DenseMap.h"

namespace skim::nvvm {

/// Fragments of f32 become structs of f32, of 16-bit elements structs of i32, states structs in the
/// order of `State`, tiles in shared memory their offset.
class RegisterTypes : public mlir::TypeConverter {
public:
  RegisterTypes();
};

/// The fields of a struct.
llvm::SmallVector<mlir::Value> unpack(Device &device, mlir::Value packed);
mlir::Value pack(Device &device, mlir::ValueRange fields);

/// A state in registers; [2] are the thread's rows.
struct State {
  mlir::Value maximum[2]; ///< the reference that weights are relative to, in units of the scores
  mlir::Value sum[2];     ///< of this thread's columns
  mlir::Value due[2];     ///< factor that the accumulator is due
  mlir::Value isDue;      ///< whether some factor of the warp is not 1
  /// Whether no score of the warp's rows can make their references be raised again.
  mlir::Value isBounded;
  llvm::SmallVector<mlir::Value> output;

  static State unpack(Device &device, mlir::Value packed);
  mlir::Value pack(Device &device) const;
};

/// The first row of this thread within the tile, as i32.
mlir::Value firstRowOfThread(Device &device);
/// A row of the tile by its position from the tile's first one, and by its head from the tile's
/// first one, both i32.
struct TileRow {
  mlir::Value position, head;
};
/// Row `row` (0 or 1) of this thread.
TileRow rowOfThread(Device &device, size_t row);
/// The first column of this thread within eight, as i32.
mlir::Value firstColumnOfThread(Device &device);
/// Combines a value with those of the four threads that hold the same rows.
mlir::Value acrossColumns(Device &device, mlir::Value value,
                          llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);

// Float arithmetic, where the compiler may use single instructions.
mlir::Value maximum(Device &device, mlir::Value a, mlir::Value b);
mlir::Value multiply(Device &device, mlir::Value a, mlir::Value b);
mlir::Value sum(Device &device, mlir::Value a, mlir::Value b);
mlir::Value fusedMultiplyAdd(Device &device, mlir::Value a, mlir::Value b, mlir::Value c);
mlir::Value negate(Device &device, mlir::Value a);
mlir::Value exp2(Device &device, mlir::Value a);
mlir::Value log2(Device &device, mlir::Value a);
mlir::Value reciprocal(Device &device, mlir::Value a);
mlir::Value greater(Device &device, mlir::Value a, mlir::Value b);
mlir::Value isMinusInfinity(Device &device, mlir::Value a);

/// Two f32 rounded to 16-bit elements, in one register.
mlir::Value packPair(Device &device, mlir::Value low, mlir::Value high, mlir::Type element);

/// A builder that writes where `rewriter` stands.
Device deviceAt(mlir::OpBuilder &rewriter, mlir::Operation *op);

/// By mask, its bits, which were evaluated ahead of the product of its scores.
using MasksAhead = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>>;
/// Evaluates the masks that need many registers, before anything is lowered.
llvm::LogicalResult evaluateMasksAhead(mlir::Operation *root, MasksAhead &ahead);

/// The patterns of LowerFragments, by subject.
void addProductPatterns(const RegisterTypes &types, mlir::RewritePatternSet &patterns);
void addSoftmaxPatterns(const RegisterTypes &types, mlir::RewritePatternSet &patterns);
void addMaskPatterns(const RegisterTypes &types, mlir::RewritePatternSet &patterns,
                     const MasksAhead &ahead);
void addFinishPatterns(const RegisterTypes &types, mlir::RewritePatternSet &patterns);

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_REGISTERS_H
