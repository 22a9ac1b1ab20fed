// From maps and sets of a pattern to scalar operations of a tile program.
#ifndef SKIM_PASSES_SCALAREMITTER_H
#define SKIM_PASSES_SCALAREMITTER_H

#include "dialect/Skim/SkimOps.h"
#include "dialect/Tile/TileOps.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <array>
#include <optional>

namespace skim {

/// What a map or a set is at one position: `value` counts only where `defined` holds. A null
/// `defined` stands for "always".
struct Scalar {
  mlir::Value value;
  mlir::Value defined;
};

/// Writes the scalar form of maps and sets into the body of one work item.
///
/// Numbers are f32, rounded after each operation; exp, log and tanh are those of f64, rounded
/// once, so that what depends on positions and inputs alone agrees everywhere (rule 9). What is one
/// value for a whole item is computed once, by `itemBuilder`, outside of every region:
/// so build a region before the operation that holds it.
class ScalarEmitter {
public:
  ScalarEmitter(ir::PatternOp pattern, tile::PlanOp plan, mlir::Value item,
                mlir::OpBuilder &itemBuilder)
      : pattern(pattern), plan(plan), item(item), itemBuilder(itemBuilder) {}

  /// The region that is written next, and its positions.
  struct Place {
    Place(mlir::OpBuilder builder, mlir::Value query, mlir::Value key)
        : builder(builder), query(query), key(key) {}

    mlir::OpBuilder builder;
    mlir::Value query, key; ///< Null outside of regions.
    /// The value of `skim.score`.
    mlir::Value score;
    /// Which element of vectors is asked for.
    mlir::Value element;
    /// Whether a cell of an input must be asked if some pair in it is visible (rule 2). It need not
    /// be where only visible pairs are looked at.
    bool checksExistence = false;
    /// exp, log and tanh of f32 for all maps: for logits, which no decision depends on. Maps that
    /// depend on operands have them always.
    bool fastMath = false;
    llvm::DenseMap<mlir::Value, Scalar> known;
  };

  /// Tells that `panel` holds the cells of `map`, for the rows of this item.
  void setPanel(mlir::Value map, mlir::Value panel) { panels[map] = panel; }
  mlir::Value getPanel(mlir::Value map) const { return panels.lookup(map); }
  /// Tells where the largest magnitude of each vector is that `cast` takes: a panel, or a map.
  void setMagnitudes(ir::CastOp cast, mlir::Value values) { magnitudes[cast] = values; }

  /// A number or set without position axes.
  Scalar uniform(mlir::Value source);
  /// Any map or set at the place's positions.
  Scalar emit(mlir::Value source, Place &place);
  /// The largest magnitude of the vector that is cast: known ahead, or found here.
  Scalar emitMagnitude(ir::CastOp cast, Place &place);
  /// As `setPanel` and `setMagnitudes`, with a stack that has a panel for each head: what is joined
  /// over heads reads them.
  void setStack(mlir::Value map, mlir::Value stack) { stacks[map] = stack; }
  mlir::Value getStack(mlir::Value map) const { return stacks.lookup(map); }
  void setMagnitudeStack(ir::CastOp cast, mlir::Value stack) { magnitudeStacks[cast] = stack; }
  mlir::Value getMagnitudeStack(ir::CastOp cast) const { return magnitudeStacks.lookup(cast); }
  /// The panel of largest magnitudes of a cast; null where there is none.
  mlir::Value getMagnitudes(ir::CastOp cast) const { return magnitudes.lookup(cast); }
  /// What a dot multiplies its sum by.
  Scalar emitScale(ir::DotOp dot);
  /// The set as one truth value: false where undefined.
  mlir::Value holds(mlir::Value set, Place &place);
  /// Failure after an operation that has no scalar form, on which an error was emitted and for
  /// which zero stands in.
  mlir::LogicalResult status() const { return mlir::success(!failed); }

private:
  Scalar emitOperation(mlir::Operation *op, Place &place);
  Scalar emitParameter(mlir::BlockArgument parameter);
  Scalar emitInput(ir::InputOp input, Place &place);
  Scalar emitUniform(ir::UniformOp uniform);
  Scalar emitConstant(ir::ConstantOp constant, mlir::OpBuilder &builder);
  Scalar emitPosition(ir::PositionOp position, Place &place);
  Scalar emitAffineSet(ir::AffineSetOp set, Place &place);
  Scalar emitStoredSet(tile::StoredSetOp set, Place &place);
  Scalar emitCompare(ir::CompareOp compare, Place &place);
  Scalar emitMatch(ir::MatchOp match, Place &place);
  Scalar emitArithmetic(mlir::Operation *op, Place &place);
  /// The item where the panel is a stack, of which it names the head; null for other panels.
  mlir::Value headOfStack(mlir::Value panel) const;
  Scalar emitPanel(mlir::Value source, mlir::Value panel, Place &place);
  Scalar emitStoredMap(tile::StoredMapOp map, Place &place);
  Scalar emitOperand(ir::OperandOp operand, Place &place);
  Scalar emitLast(ir::LastOp last, Place &place);
  Scalar emitCast(ir::CastOp cast, Place &place);
  Scalar emitDot(ir::DotOp dot, Place &place);
  Scalar emitLinear(ir::LinearOp linear, Place &place);
  Scalar emitReduction(ir::ReduceOp reduce, Place &place);
  Scalar emitSmooth(ir::SmoothOp smooth, Place &place);
  /// A reduction of what `cell` gives for each of so many rows and keys, and of each head.
  using EmitCell = llvm::function_ref<Scalar(ScalarEmitter &emitter, Place &inner, mlir::Value row,
                                             mlir::Value key)>;
  /// `heads` are joined besides, where they are given.
  Scalar emitOverCells(mlir::Location loc, tile::Reduction kind,
                       std::optional<tile::HeadGroup> heads, mlir::Value rows, mlir::Value keys,
                       Place &place, EmitCell cell);
  /// The sum or maximum of `element` over the elements of `vectors`.
  Scalar emitOverElements(tile::Reduction kind, mlir::Value vectors, Place &place,
                          llvm::function_ref<Scalar(Place &)> element);
  /// Rule 2, for cells computed from operands: every existing row sees every existing key; with
  /// `any`, the last row sees the first key. Null for "always".
  mlir::Value operandCellExists(const ir::Axes &axes, bool any, mlir::Location loc, Place &place);
  mlir::Value emitUnsupported(mlir::Operation *op, mlir::OpBuilder &builder);
  mlir::Value existence(ir::Axes axes, mlir::Location loc, Place &place);

  ir::PatternOp pattern;
  tile::PlanOp plan;
  mlir::Value item;
  mlir::OpBuilder &itemBuilder;
  llvm::DenseMap<mlir::Value, Scalar> uniforms;
  llvm::DenseMap<mlir::Value, mlir::Value> panels;
  llvm::DenseMap<mlir::Operation *, mlir::Value> magnitudes;
  llvm::DenseMap<mlir::Value, mlir::Value> stacks;
  llvm::DenseMap<mlir::Operation *, mlir::Value> magnitudeStacks;
  bool failed = false;
};

/// A place's positions; what has no position axes is the same at (0, 0).
std::array<mlir::Value, 2> positionsOf(ScalarEmitter::Place &place, mlir::Location loc);

/// A number as f32, or f64 where `wide`: NaN where it is undefined.
mlir::Value undefinedAsNaN(mlir::OpBuilder &builder, mlir::Location loc, const Scalar &scalar,
                           bool wide = false);

/// What a cell of `map` is as a scalar: index, f32 or i1. A vector has no scalar form.
mlir::Type scalarTypeOf(ir::MapType map);

/// The kind of heads that `head` counts.
tile::HeadKind headKind(ir::HeadAxis head);

/// `a and b`; null stands for "always".
mlir::Value both(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);

/// The number of a constant index map.
std::optional<int64_t> constantIndexOf(mlir::Value map);

/// Whether the value may be undefined although all its inputs exist: it comes through `where` or a
/// division.
bool mayBeUndefined(mlir::Value map);

} // namespace skim

#endif // SKIM_PASSES_SCALAREMITTER_H
