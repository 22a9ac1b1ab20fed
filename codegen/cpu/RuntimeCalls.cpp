#include "codegen/cpu/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace skim;
using namespace skim::cpu;

static func::FuncOp declareRuntime(Operation *user, StringRef name, FunctionType type) {
  auto module = user->getParentOfType<ModuleOp>();
  if (auto declared = module.lookupSymbol<func::FuncOp>(name))
    return declared;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(builder, user->getLoc(), name, type);
  function.setPrivate();
  return function;
}

void skim::cpu::callSelection(Code &code, Operation *user, tile::Selection kind,
                              const SelectionRow &row) {
  Type pointer = code.pointerType(), i64 = code.getI64Type(), f64 = code.getF64Type();
  Value cells = arith::IndexCastOp::create(code, i64, row.count);
  SmallVector<Value> arguments = {row.scores, cells, row.amount, row.selected};
  SmallVector<Type> types = {pointer, i64, f64, pointer};
  StringRef name = "skim_select_top_k";
  if (kind == tile::Selection::TopP) {
    name = "skim_select_top_p";
    arguments.push_back(row.order);
    types.push_back(pointer);
  }
  func::FuncOp callee = declareRuntime(user, name, code.getFunctionType(types, i64));
  func::CallOp::create(code, callee, arguments);
}
