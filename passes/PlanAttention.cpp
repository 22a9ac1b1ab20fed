#include "dialect/Tile/PackedHeads.h"
#include "passes/Panels.h"
#include "passes/Passes.h"
#include "passes/PatternSlice.h"
#include "passes/ProgramBuilder.h"
#include "passes/RestFormula.h"
#include "passes/Visits.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::OpBuilder;
using mlir::success;
using mlir::Value;

namespace skim {
#define GEN_PASS_DEF_PLANATTENTION
#include "passes/Passes.h.inc"

namespace {

class AttentionPlanner {
public:
  explicit AttentionPlanner(PlannedPattern planned)
      : pattern(planned.pattern), plan(planned.plan), schedule(planned.schedule),
        shape(planned.shape()), loc(keep().getLoc()), context(plan.getContext()),
        problem(plan.getProblem()),
        heads(planned.packsHeads ? tile::HeadKind::Kv : tile::HeadKind::Query),
        rows(shape.rows * tile::headsOfTile(problem, heads)),
        scores(tile::FragmentType::get(context, rows, shape.keys, f32())),
        stateType(tile::StateType::get(context, rows, problem.getValueDim())) {}

  LogicalResult run() {
    PatternFormula formulas(keep().getSet(), pattern.getNoncausal());
    mlir::FailureOr<VisitedSet> visited = visitSet(loc, formulas, keep().getSet(), shape);
    if (failed(visited))
      return failure();
    ProgramBuilder program(pattern, plan, loc,
                           {"attention", shape, heads, tile::ItemAxis::Queries, schedule});
    OpBuilder &builder = program.builder();
    raiseUnlistedLabels(program);
    PanelBuilder panels(pattern, plan, program.item(), shape.rows, builder, program.scalars());
    if (failed(panels.prepare(formulas)))
      return failure();
    ProgramBuilder::Visible visible = program.materialize(formulas);
    queries = tile::LoadQueriesOp::create(builder, loc, staged(rows, problem.getHeadDim()),
                                          program.item());
    Value state = tile::EmptyStateOp::create(builder, loc, stateType);
    state = visit(program, state, visible, visited->mask, visited->visits,
                  tile::SourceAttr::get(context, false, 0, 0, 1),
                  [this](auto &&...arguments) { return modifyLogits(arguments...); });
    if (auto rest = pattern.getClause<ir::RestMeanOp>())
      if (failed(visitRest(program, rest, state)))
        return failure();
    Value sink;
    if (auto clause = pattern.getClause<ir::SinkLogitOp>())
      sink =
          orMinusInfinity(builder, clause.getLoc(), program.scalars().uniform(clause.getValue()));
    tile::FinishOp::create(builder, loc, program.item(), state, sink);
    return program.scalars().status();
  }

private:
  using ModifyScores = llvm::function_ref<Value(ProgramBuilder &, OpBuilder &, Value scores,
                                                Value &ready, Value visit)>;

  ir::KeepOp keep() { return pattern.getClause<ir::KeepOp>(); }
  mlir::Type f32() { return mlir::Float32Type::get(context); }
  mlir::Type staged(int64_t rows, int64_t columns) {
    return tile::SharedType::get(context, rows, columns, f32(), 0, 1);
  }

  /// A `match` without default on a value that the device holds (rule 14).
  void raiseUnlistedLabels(ProgramBuilder &program) {
    OpBuilder &builder = program.builder();
    for (auto match : pattern.getBody().getOps<ir::MatchOp>()) {
      if (match.getOtherwise() || llvm::isa<mlir::BlockArgument>(match.getSelector()))
        continue;
      Scalar selector = program.scalars().uniform(match.getSelector());
      Value unlisted = arith::ConstantIntOp::create(builder, match.getLoc(), 1, 1);
      for (int64_t label : match.getLabels()) {
        Value constant = arith::ConstantIndexOp::create(builder, match.getLoc(), label);
        Value differs = arith::CmpIOp::create(builder, match.getLoc(), arith::CmpIPredicate::ne,
                                              selector.value, constant);
        unlisted = arith::AndIOp::create(builder, match.getLoc(), unlisted, differs);
      }
      tile::RaiseStatusOp::create(builder, match.getLoc(), tile::StatusBit::UnlistedLabel, unlisted,
                                  program.item());
    }
  }

  /// One walk over tiles of `source`; returns the state after it.
  Value visit(ProgramBuilder &program, Value state, const ProgramBuilder::Visible &visible,
              const Formula &mask, const TileVisits &visits, tile::SourceAttr source,
              ModifyScores modify) {
    mlir::Type token = tile::TokenType::get(context);
    ProgramBuilder::DetachedRegion body({tile::VisitType::get(context), stateType}, loc);
    OpBuilder &builder = body.builder;
    Value visit = body.block->getArgument(0), before = body.block->getArgument(1);
    auto keys = tile::IssueLoadOp::create(builder, loc, staged(shape.keys, problem.getHeadDim()),
                                          token, tile::Operand::Keys, visit);
    auto dot = tile::IssueDotOp::create(builder, loc, scores, token, queries, keys.getTile(),
                                        keys.getToken());
    Value ready = dot.getToken();
    Value current = modify(program, builder, dot.getScores(), ready, visit);

    ProgramBuilder::DetachedRegion where({program.index(), program.index()}, loc);
    Value holds = ProgramBuilder::emit(mask, visible, where.builder, loc,
                                       where.block->getArgument(0), where.block->getArgument(1));
    tile::YieldOp::create(where.builder, loc, holds);
    auto masked = tile::MaskOp::create(builder, loc, scores, current, tokens(ready), visit);
    masked.getBody().takeBody(where.region);

    auto softmax = tile::OnlineSoftmaxOp::create(builder, loc, scores, stateType, masked, before,
                                                 mlir::ValueRange());
    auto values = tile::IssueLoadOp::create(builder, loc, staged(shape.keys, problem.getValueDim()),
                                            token, tile::Operand::Values, visit);
    Value after =
        tile::AccumulateOp::create(builder, loc, stateType, softmax.getProbabilities(),
                                   values.getTile(), softmax.getResult(), values.getToken());
    tile::YieldOp::create(builder, loc, after);
    auto forEach = tile::ForEachVisitOp::create(program.builder(), loc, mlir::TypeRange(stateType),
                                                program.item(), visible.symbols, visible.literals,
                                                state, program.intervals(visits.touched),
                                                program.intervals(visits.hidden), source);
    forEach.getBody().takeBody(body.region);
    return forEach.getResult(0);
  }

  static mlir::ValueRange tokens(Value &ready) {
    return ready ? mlir::ValueRange(ready) : mlir::ValueRange();
  }

  /// A logit that is undefined or not a number weighs nothing.
  static Value orMinusInfinity(OpBuilder &builder, mlir::Location loc, const Scalar &logit) {
    Value counts =
        arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, logit.value, logit.value);
    if (logit.defined)
      counts = arith::AndIOp::create(builder, loc, counts, logit.defined);
    Value nothing = arith::ConstantOp::create(
        builder, loc,
        mlir::FloatAttr::get(builder.getF32Type(),
                             llvm::APFloat::getInf(llvm::APFloat::IEEEsingle(), true)));
    return arith::SelectOp::create(builder, loc, counts, logit.value, nothing);
  }

  /// The `logit` clause.
  Value modifyLogits(ProgramBuilder &program, OpBuilder &builder, Value current, Value &ready,
                     Value visit) {
    auto logit = pattern.getClause<ir::LogitOp>();
    if (!logit)
      return current;
    ProgramBuilder::DetachedRegion body({f32(), program.index(), program.index()}, logit.getLoc());
    ScalarEmitter::Place place(body.builder, body.block->getArgument(1),
                               body.block->getArgument(2));
    place.score = body.block->getArgument(0);
    place.fastMath = true;
    Scalar modified = program.scalars().emit(logit.getValue(), place);
    Value value = orMinusInfinity(place.builder, logit.getLoc(), modified);
    tile::YieldOp::create(place.builder, logit.getLoc(), value);
    return mapScores(builder, current, ready, visit, body);
  }

  Value mapScores(OpBuilder &builder, Value current, Value &ready, Value visit,
                  ProgramBuilder::DetachedRegion &body) {
    auto map = tile::MapScoresOp::create(builder, loc, scores, current, tokens(ready), visit);
    map.getBody().takeBody(body.region);
    ready = {};
    return map;
  }

  /// The logarithm of the number of keys that a block mean stands for.
  Value addLogSize(ProgramBuilder &program, OpBuilder &builder, int64_t block, Value current,
                   Value &ready, Value visit) {
    Value kvLength = tile::UniformOp::create(program.builder(), loc, program.index(),
                                             tile::UniformKind::KvLen, program.item());
    ProgramBuilder::DetachedRegion body({f32(), program.index(), program.index()}, loc);
    OpBuilder &region = body.builder;
    Value size = arith::ConstantIndexOp::create(region, loc, block);
    Value first = arith::MulIOp::create(region, loc, body.block->getArgument(2), size);
    Value left = arith::SubIOp::create(region, loc, kvLength, first);
    Value count = arith::MinSIOp::create(region, loc, left, size);
    Value wide = arith::IndexCastOp::create(region, loc, region.getI64Type(), count);
    Value number = arith::SIToFPOp::create(region, loc, f32(), wide);
    Value weight = math::LogOp::create(region, loc, number);
    tile::YieldOp::create(
        region, loc, Value(arith::AddFOp::create(region, loc, body.block->getArgument(0), weight)));
    return mapScores(builder, current, ready, visit, body);
  }

  LogicalResult visitRest(ProgramBuilder &program, ir::RestMeanOp rest, Value &state) {
    auto slot = [&](llvm::StringRef name) {
      auto attribute = rest->getAttrOfType<mlir::IntegerAttr>(name);
      return attribute ? attribute.getInt() : -1;
    };
    if (slot(kPooledKeysAttr) < 0 || slot(kPooledValuesAttr) < 0)
      return rest.emitError("expected '") << kPooledKeysAttr << "' and '" << kPooledValuesAttr
                                          << "'; 'skim-plan-rest' sets them";
    PatternFormula formulas(keep().getSet(), pattern.getNoncausal());
    mlir::FailureOr<Formula> entries = restEntries(formulas, rest, keep().getSet());
    if (failed(entries))
      return failure();
    mlir::FailureOr<TileVisits> visits = restVisits(formulas, rest, *entries, shape);
    if (failed(visits))
      return failure();
    ProgramBuilder::Visible visible = program.materialize(formulas);
    auto source = tile::SourceAttr::get(context, true, slot(kPooledKeysAttr),
                                        slot(kPooledValuesAttr), rest.getKey());
    state = visit(
        program, state, visible, *entries, *visits, source,
        [&](ProgramBuilder &builder, OpBuilder &body, Value current, Value &ready, Value visit) {
          return addLogSize(builder, body, rest.getKey(), current, ready, visit);
        });
    return success();
  }

  ir::PatternOp pattern;
  tile::PlanOp plan;
  tile::ScheduleAttr schedule;
  TileShape shape;
  mlir::Location loc;
  mlir::MLIRContext *context;
  tile::ProblemAttr problem;
  tile::HeadKind heads; ///< of the work items
  int64_t rows;         ///< of a tile, of all heads that it holds
  mlir::Type scores, stateType;
  Value queries;
};

struct PlanAttentionPass : impl::PlanAttentionBase<PlanAttentionPass> {
  void runOnOperation() override {
    for (auto attend : llvm::make_early_inc_range(getOperation().getOps<ir::AttendOp>())) {
      mlir::FailureOr<PlannedPattern> planned = lookupPlanned(attend);
      if (failed(planned) || failed(AttentionPlanner(*planned).run()))
        return signalPassFailure();
      attend.erase();
      planned->pattern.erase();
    }
  }
};

} // namespace
} // namespace skim
