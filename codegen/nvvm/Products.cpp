// Products: wgmma instructions, and the waits that make their results readable.
#include "codegen/nvvm/Registers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace skim;
using namespace skim::nvvm;

namespace {

/// Offsets in descriptors count 16 bytes.
constexpr int64_t kUnit = 16;
/// Depth of one instruction, in 16-bit elements.
constexpr int64_t kDepth = 16;
/// A matrix in shared memory as wgmma names it: the address, how far the next group lies along
/// either axis, and the swizzle, which permutes eight rows of a panel together.
Value descriptor(Device &device, Value offset, int64_t leading, const Panels &panels) {
  // What the swizzles of 128 and 64 bytes are called.
  int64_t swizzle = panels.rowBytes == 128 ? 1 : 2;
  Value address = LLVM::PtrToIntOp::create(device, device.getI32Type(), device.shared(offset));
  Value low = arith::ExtUIOp::create(device, device.getI64Type(),
                                     device.shiftRight(device.bitAnd(address, 0x3FFFF), 4));
  int64_t high = (leading / kUnit) << 16 | (8 * panels.rowBytes / kUnit) << 32 | swizzle << 62;
  Value constant = arith::ConstantOp::create(device, device.getI64IntegerAttr(high));
  return arith::OrIOp::create(device, low, constant);
}

Value advance(Device &device, Value descriptor, int64_t bytes) {
  if (bytes == 0)
    return descriptor;
  Value step = arith::ConstantOp::create(device, device.getI64IntegerAttr(bytes / kUnit));
  return arith::AddIOp::create(device, descriptor, step);
}

/// Inline assembly whose first results stand in for `tied`, its first operands, where there are
/// any.
SmallVector<Value> assemble(Device &device, Twine text, size_t results, ValueRange tied,
                            ValueRange operands, StringRef operandConstraints) {
  std::string constraints;
  for (size_t i = 0; i < results; ++i)
    constraints += tied.empty() ? "=&f," : "=f,";
  for (size_t i = 0; i < tied.size(); ++i)
    constraints += std::to_string(i) + ",";
  constraints += operandConstraints;
  SmallVector<Value> all(tied);
  llvm::append_range(all, operands);
  Type type = LLVM::LLVMStructType::getLiteral(device.getContext(),
                                               SmallVector<Type>(results, device.getF32Type()));
  auto assembly = LLVM::InlineAsmOp::create(
      device, type, all, text.str(), constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(),
      ArrayAttr());
  return unpack(device, assembly.getRes());
}

std::string registerList(size_t first, size_t count) {
  std::string list = "{";
  for (size_t i = 0; i < count; ++i)
    list += (i ? ", $" : "$") + std::to_string(first + i);
  return list + "}";
}

/// One instruction: `accumulators += left * right`, or without accumulators `left * right`. `left`
/// is one descriptor, or four registers.
SmallVector<Value> multiplyAccumulate(Device &device, Type element, int64_t columns,
                                      ValueRange accumulators, ValueRange left, Value right,
                                      bool transposed) {
  auto count = static_cast<size_t>(columns / 2);
  size_t first = count + accumulators.size();
  bool fromRegisters = left.size() > 1;
  StringRef name = element.isBF16() ? "bf16" : "f16";
  std::string text = "{ .reg .pred p; setp.ne.b32 p, ";
  text += accumulators.empty() ? "0" : "1";
  text += ", 0; wgmma.mma_async.sync.aligned.m64n" + std::to_string(columns) + "k16.f32." +
          name.str() + "." + name.str() + " " + registerList(0, count) + ", ";
  text += fromRegisters ? registerList(first, left.size()) : "$" + std::to_string(first);
  text += ", $" + std::to_string(first + left.size()) + ", p, 1, 1, ";
  text += fromRegisters ? "" : "0, ";
  text += transposed ? "1; }" : "0; }";
  SmallVector<Value> operands(left);
  operands.push_back(right);
  return assemble(device, text, count, accumulators, operands,
                  fromRegisters ? "r,r,r,r,l,~{memory}" : "l,l,~{memory}");
}

struct LowerIssueDot : OpConversionPattern<tile::IssueDotOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(tile::IssueDotOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Device device = deviceAt(rewriter, op);
    tile::SharedType queries = op.getQueries().getType(), keys = op.getKeys().getType();
    // The warpgroup's rows of the tile.
    Value group =
        device.shiftRight(device.sub(device.getI32(frame(device, Frame::Warp)), device.i32(4)), 2);
    Panels panels(queries.getColumns());
    Value rows =
        device.add(adaptor.getQueries(), device.mul(group, device.i32(64 * panels.rowBytes)));
    Value left = descriptor(device, rows, kUnit, panels);
    Value right = descriptor(device, adaptor.getKeys(), kUnit, panels);
    NVVM::WgmmaFenceAlignedOp::create(device);
    SmallVector<Value> scores;
    for (int64_t column = 0; column < queries.getColumns(); column += kDepth) {
      int64_t within = column % panels.columns * 2;
      int64_t before = column / panels.columns * panels.rowBytes; // of each row
      scores = multiplyAccumulate(device, queries.getElement(), keys.getRows(), scores,
                                  advance(device, left, before * queries.getRows() + within),
                                  advance(device, right, before * keys.getRows() + within),
                                  /*transposed=*/false);
    }
    NVVM::WgmmaGroupSyncAlignedOp::create(device);
    // Nobody waits for the token: a 'hopper.wait' does.
    Value done = UnrealizedConversionCastOp::create(device, op.getToken().getType(), ValueRange())
                     .getResult(0);
    rewriter.replaceOp(op, {pack(device, scores), done});
    return success();
  }
};

struct LowerIssueAccumulate : OpConversionPattern<hopper::IssueAccumulateOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(hopper::IssueAccumulateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Device device = deviceAt(rewriter, op);
    tile::SharedType values = op.getValues().getType();
    State state = State::unpack(device, adaptor.getState());
    SmallVector<Value> weights = unpack(device, adaptor.getProbabilities());
    Panels panels(values.getColumns());
    Value right =
        descriptor(device, adaptor.getValues(), values.getRows() * panels.rowBytes, panels);
    NVVM::WgmmaFenceAlignedOp::create(device);
    for (int64_t row = 0; row < values.getRows(); row += kDepth)
      state.output = multiplyAccumulate(device, values.getElement(), values.getColumns(),
                                        state.output, ValueRange(weights).slice(row / 4, 4),
                                        advance(device, right, row * panels.rowBytes),
                                        /*transposed=*/true);
    NVVM::WgmmaGroupSyncAlignedOp::create(device);
    rewriter.replaceOp(op, state.pack(device));
    return success();
  }
};

/// The wait hands through all registers that the products write, so that nothing reads them
/// earlier, and reads those that products may still need, so that nothing is written over them.
struct LowerWait : OpConversionPattern<hopper::WaitOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(hopper::WaitOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Device device = deviceAt(rewriter, op);
    SmallVector<Value> kept;
    if (adaptor.getKeep())
      kept = unpack(device, adaptor.getKeep());
    std::string text = "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";";
    std::string constraints;
    for (size_t i = 0; i < kept.size(); ++i)
      constraints += "r,";
    constraints += "~{memory}";
    auto arrive = [&](ValueRange written) {
      return assemble(device, text, written.size(), written, kept, constraints);
    };
    if (isa<tile::FragmentType>(op.getValue().getType())) {
      rewriter.replaceOp(op, pack(device, arrive(unpack(device, adaptor.getValue()))));
      return success();
    }
    State state = State::unpack(device, adaptor.getValue());
    state.output = arrive(state.output);
    rewriter.replaceOp(op, state.pack(device));
    return success();
  }
};

struct LowerPack : OpConversionPattern<hopper::PackOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(hopper::PackOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Device device = deviceAt(rewriter, op);
    SmallVector<Value> wide = unpack(device, adaptor.getWide()), packed;
    for (size_t i = 0; i < wide.size(); i += 2)
      packed.push_back(
          packPair(device, wide[i], wide[i + 1], op.getPacked().getType().getElement()));
    rewriter.replaceOp(op, pack(device, packed));
    return success();
  }
};

} // namespace

Value skim::nvvm::packPair(Device &device, Value low, Value high, Type element) {
  Type wide = VectorType::get({2}, device.getF32Type());
  Value pair = LLVM::PoisonOp::create(device, wide);
  pair = LLVM::InsertElementOp::create(device, pair, low, device.i32(0));
  pair = LLVM::InsertElementOp::create(device, pair, high, device.i32(1));
  Value narrow = LLVM::FPTruncOp::create(device, VectorType::get({2}, element), pair);
  return LLVM::BitcastOp::create(device, device.getI32Type(), narrow);
}

void skim::nvvm::addProductPatterns(const RegisterTypes &types, RewritePatternSet &patterns) {
  patterns.add<LowerIssueDot, LowerIssueAccumulate, LowerWait, LowerPack>(types,
                                                                          patterns.getContext());
}
