// Products, masks and the softmax to registers.
#include "codegen/nvvm/Passes.h"
#include "codegen/nvvm/Registers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"

namespace skim::nvvm {
#define GEN_PASS_DEF_LOWERFRAGMENTS
#include "codegen/nvvm/Passes.h.inc"
} // namespace skim::nvvm

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

namespace {

struct LowerFragmentsPass : skim::nvvm::impl::LowerFragmentsBase<LowerFragmentsPass> {
  void runOnOperation() override {
    MasksAhead ahead;
    if (failed(evaluateMasksAhead(getOperation(), ahead)))
      return signalPassFailure();
    RegisterTypes types;
    RewritePatternSet patterns(&getContext());
    ConversionTarget target(getContext());
    target.addLegalDialect<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect,
                           NVVM::NVVMDialect, tile::TileDialect>();
    target.addLegalOp<UnrealizedConversionCastOp>();
    target.addIllegalOp<tile::IssueDotOp, tile::MaskOp, tile::MapScoresOp, tile::EmptyStateOp,
                        tile::FinishOp>();
    target.addIllegalDialect<hopper::HopperDialect>();
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns, target);
    addProductPatterns(types, patterns);
    addSoftmaxPatterns(types, patterns);
    addMaskPatterns(types, patterns, ahead);
    addFinishPatterns(types, patterns);
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    eraseRecords();
  }

private:
  /// Records, tokens and literals have done their part.
  void eraseRecords() {
    SmallVector<Operation *> dead;
    getOperation().walk([&](Operation *op) {
      if (isa<tile::VisitRecordOp, tile::ItemRecordOp, tile::LiteralOp>(op) ||
          (isa<UnrealizedConversionCastOp>(op) && op->use_empty()))
        dead.push_back(op);
    });
    for (Operation *op : llvm::reverse(dead))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace
