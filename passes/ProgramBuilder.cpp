#include "passes/ProgramBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace arith = mlir::arith;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

namespace skim {
namespace {

/// An empty program at the end of the plan's module; returns its work item's block.
mlir::Block *createProgram(tile::PlanOp plan, Location loc, const ProgramBuilder::Shape &shape) {
  mlir::MLIRContext *context = plan.getContext();
  auto module = plan->getParentOfType<mlir::ModuleOp>();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto program = tile::ProgramOp::create(
      builder, loc, shape.name, plan.getProblem(),
      shape.schedule ? shape.schedule
                     : tile::ScheduleAttr::get(context, shape.tile.rows, shape.tile.keys),
      tile::ItemsAttr::get(context, shape.head, shape.axis));
  mlir::SymbolTable(module).insert(program);
  plan.addLaunch(loc, program.getSymName());
  builder.setInsertionPointToEnd(&program.getBody().emplaceBlock());
  auto forEach = tile::ForEachWorkItemOp::create(builder, loc);
  mlir::Block &body = forEach.getBody().emplaceBlock();
  body.addArgument(tile::ItemType::get(context), loc);
  return &body;
}

} // namespace

ProgramBuilder::DetachedRegion::DetachedRegion(llvm::ArrayRef<mlir::Type> types, Location loc)
    : block(&region.emplaceBlock()), builder(loc.getContext()) {
  builder.setInsertionPointToEnd(block);
  for (mlir::Type type : types)
    block->addArgument(type, loc);
}

ProgramBuilder::ProgramBuilder(ir::PatternOp pattern, tile::PlanOp plan, Location loc,
                               const Shape &shape)
    : plan(plan), loc(loc), itemBuilder(OpBuilder::atBlockEnd(createProgram(plan, loc, shape))),
      workItem(itemBuilder.getBlock()->getArgument(0)),
      emitter(pattern, plan, workItem, itemBuilder) {}

ProgramBuilder::Visible ProgramBuilder::materialize(const PatternFormula &formulas) {
  Visible visible;
  for (auto kind : {tile::UniformKind::Base, tile::UniformKind::KvLen})
    visible.symbols.push_back(tile::UniformOp::create(itemBuilder, loc, index(), kind, workItem));
  for (Value source : formulas.symbolSources())
    visible.symbols.push_back(emitter.uniform(source).value);
  for (const PatternLiteral &source : formulas.literals())
    visible.literals.push_back(literal(source));
  return visible;
}

Value ProgramBuilder::literal(const PatternLiteral &literal) {
  DetachedRegion detached({index(), index()}, loc);
  OpBuilder &body = detached.builder;
  Value query = detached.block->getArgument(0), key = detached.block->getArgument(1);
  auto equals = [&](int64_t label) -> Value {
    Scalar selector = emitter.uniform(literal.source);
    Value constant = arith::ConstantIndexOp::create(body, loc, label);
    Value equal =
        arith::CmpIOp::create(body, loc, arith::CmpIPredicate::eq, selector.value, constant);
    return selector.defined ? Value(arith::AndIOp::create(body, loc, equal, selector.defined))
                            : equal;
  };
  Value holds;
  switch (literal.kind) {
  case PatternLiteral::Kind::Set: {
    ScalarEmitter::Place place(body, query, key);
    holds = emitter.holds(literal.source, place);
    break;
  }
  case PatternLiteral::Kind::Equals:
    holds = equals(literal.label);
    break;
  case PatternLiteral::Kind::Unlisted: {
    // An undefined selector is unlisted too: exactly one case of a match holds.
    Value yes = arith::ConstantIntOp::create(body, loc, 1, 1);
    holds = yes;
    for (int64_t label : literal.labels)
      holds = arith::AndIOp::create(body, loc, holds,
                                    arith::XOrIOp::create(body, loc, equals(label), yes));
    break;
  }
  case PatternLiteral::Kind::Defined:
    holds = emitter.uniform(literal.source).defined;
    break;
  case PatternLiteral::Kind::Buffer: {
    ir::Axes axes = llvm::cast<ir::SetType>(literal.headsOf.getType()).getAxes();
    holds = tile::LoadCellOp::create(body, loc, body.getI1Type(), tile::Space::Buffer, literal.slot,
                                     headKind(axes.head), literal.queryCell, literal.keyCell,
                                     /*diagonal=*/false, query, key, workItem);
    break;
  }
  }
  tile::YieldOp::create(body, loc, holds);
  auto op = tile::LiteralOp::create(itemBuilder, loc, tile::LiteralType::get(body.getContext()),
                                    workItem, literal.queryCell, literal.keyCell);
  op.getBody().takeBody(detached.region);
  return op;
}

namespace {

/// Writes the nodes of a formula into one region, each once: formulas share parts.
class FormulaEmitter {
public:
  FormulaEmitter(const ProgramBuilder::Visible &visible, OpBuilder &builder, Location loc,
                 Value query, Value key)
      : visible(visible), builder(builder), loc(loc), query(query), key(key) {}

  Value emit(const Formula &formula) {
    if (Value known = values.lookup(formula.getIdentity()))
      return known;
    Value value = create(formula);
    values[formula.getIdentity()] = value;
    return value;
  }

private:
  Value create(const Formula &formula);
  Value truth(bool value) { return arith::ConstantIntOp::create(builder, loc, value, 1); }

  const ProgramBuilder::Visible &visible;
  OpBuilder &builder;
  Location loc;
  Value query, key;
  llvm::DenseMap<const void *, Value> values;
};

} // namespace

Value FormulaEmitter::create(const Formula &formula) {
  switch (formula.getKind()) {
  case Formula::Kind::True:
    return truth(true);
  case Formula::Kind::False:
    return truth(false);
  case Formula::Kind::Affine:
    return tile::ContainsOp::create(builder, loc, formula.getSet(), mlir::ValueRange{query, key},
                                    visible.symbols);
  case Formula::Kind::Literal:
    return tile::LiteralValueOp::create(builder, loc, builder.getI1Type(),
                                        visible.literals[formula.getLiteral()], query, key);
  case Formula::Kind::Not:
    return arith::XOrIOp::create(builder, loc, emit(formula.getOperands().front()), truth(true));
  case Formula::Kind::And:
  case Formula::Kind::Or: {
    Value result = emit(formula.getOperands().front());
    for (const Formula &part : formula.getOperands().drop_front()) {
      if (formula.getKind() == Formula::Kind::And)
        result = arith::AndIOp::create(builder, loc, result, emit(part));
      else
        result = arith::OrIOp::create(builder, loc, result, emit(part));
    }
    return result;
  }
  case Formula::Kind::Choice: {
    Value result = truth(false);
    for (auto [id, part] : llvm::zip_equal(formula.getCaseLiterals(), formula.getOperands())) {
      Value holds = tile::LiteralValueOp::create(builder, loc, builder.getI1Type(),
                                                 visible.literals[id], query, key);
      result = arith::OrIOp::create(builder, loc, result,
                                    arith::AndIOp::create(builder, loc, holds, emit(part)));
    }
    return result;
  }
  }
  return {};
}

Value ProgramBuilder::emit(const Formula &formula, const Visible &visible, OpBuilder &builder,
                           Location loc, Value query, Value key) {
  return FormulaEmitter(visible, builder, loc, query, key).emit(formula);
}

mlir::ArrayAttr ProgramBuilder::intervals(llvm::ArrayRef<TileInterval> list) {
  SmallVector<mlir::Attribute> attributes;
  for (const TileInterval &interval : list) {
    SmallVector<tile::LiteralUse> literals;
    for (const LiteralRef &literal : interval.literals)
      literals.push_back({literal.id, literal.negated});
    attributes.push_back(tile::IntervalAttr::get(itemBuilder.getContext(), interval.lower,
                                                 interval.upper, interval.guard, interval.tileGuard,
                                                 literals));
  }
  return itemBuilder.getArrayAttr(attributes);
}

} // namespace skim
