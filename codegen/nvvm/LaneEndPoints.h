// End points of intervals, one interval a lane.
#ifndef SKIM_CODEGEN_NVVM_LANEENDPOINTS_H
#define SKIM_CODEGEN_NVVM_LANEENDPOINTS_H

#include "codegen/cpu/VisitWalk.h"
#include "codegen/nvvm/Device.h"

namespace skim::nvvm {

/// As values, the end points of many intervals would lack the scheduler its registers: each takes
/// four of them. Here each lane of the warp keeps one interval in 32, and all lanes must come by
/// together. Lane l keeps the intervals l, 32 + l, ...
class LaneEndPoints : public cpu::EndPoints {
public:
  explicit LaneEndPoints(Device &device) : EndPoints(device), device(device) {}

  void append(mlir::Value lower, mlir::Value upper) override;
  mlir::Value goesOn(mlir::Value from, mlir::Value end, cpu::WalkOrder order) override;
  mlir::Value next(mlir::Value from, mlir::Value end, cpu::WalkOrder order) override;
  cpu::Code::Values active(mlir::Value bottom, mlir::Value top) override;
  std::optional<cpu::Code::Values> activeAgain() override;

private:
  /// Of 32 intervals: the lane's end points, and a bit for each that is active.
  struct Word {
    mlir::Value lower, upper, active;
  };
  /// Whether each interval is active, of words as `read` gives them.
  cpu::Code::Values bits(llvm::function_ref<mlir::Value(mlir::Value)> read);

  Device &device;
  size_t intervals = 0;
  llvm::SmallVector<Word> words;
};

} // namespace skim::nvvm

#endif // SKIM_CODEGEN_NVVM_LANEENDPOINTS_H
