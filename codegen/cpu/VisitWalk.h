// The walk over the visited tiles of keys, stretch by stretch.
#ifndef SKIM_CODEGEN_CPU_VISITWALK_H
#define SKIM_CODEGEN_CPU_VISITWALK_H

#include "codegen/cpu/Code.h"

#include <memory>

namespace skim::cpu {

/// In which order stretches are walked.
enum class WalkOrder { Descending, Ascending };

/// Keeps the end points of intervals [lower, upper) of tiles, numbered from 0, while stretches are
/// walked. This one keeps them as values; a target that would have too many may do otherwise.
class EndPoints {
public:
  explicit EndPoints(Code &code) : code(code) {}
  EndPoints(const EndPoints &) = delete;
  EndPoints &operator=(const EndPoints &) = delete;
  virtual ~EndPoints() = default;

  virtual void append(mlir::Value lower, mlir::Value upper);
  /// Whether `from` is short of `end`, or of 0, in that order.
  virtual mlir::Value goesOn(mlir::Value from, mlir::Value end, WalkOrder order);
  /// The end point next to `from` in that order; where there is none, `end` or 0.
  virtual mlir::Value next(mlir::Value from, mlir::Value end, WalkOrder order);
  /// Which intervals hold all of [bottom, top), by number.
  virtual Code::Values active(mlir::Value bottom, mlir::Value top);
  /// The same once more where tiles of the stretch are tested, if it should not be kept until then.
  virtual std::optional<Code::Values> activeAgain() { return std::nullopt; }

protected:
  Code &code;

private:
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> ends;
};

/// Walks a `tile.for_each_visit`: the end points of all intervals are computed once, and the
/// stretches between them, in which the same intervals are active, are walked one by one.
class VisitWalk {
public:
  /// Literals are tested on `lanes` rows at a time.
  VisitWalk(Code &code, tile::ForEachVisitOp op, tile::ItemRecordOp item, unsigned lanes)
      : code(code), op(op), item(item), lanes(lanes), ends(std::make_unique<EndPoints>(code)) {}
  /// End points are kept by `ends`.
  VisitWalk(Code &code, tile::ForEachVisitOp op, tile::ItemRecordOp item, unsigned lanes,
            std::unique_ptr<EndPoints> ends)
      : code(code), op(op), item(item), lanes(lanes), ends(std::move(ends)) {}

  /// Calls `walkTiles` for the tiles [bottom, top) of a stretch that has an active touched
  /// interval.
  llvm::LogicalResult
  run(llvm::function_ref<llvm::LogicalResult(mlir::Value bottom, mlir::Value top)> walkTiles,
      WalkOrder order = WalkOrder::Descending);

  // Inside of `walkTiles`:
  /// Keys of the source.
  mlir::Value sourceLength() const { return length; }
  /// Tests the literals that some active interval needs on the tile, once each.
  llvm::LogicalResult testLiterals(mlir::Value firstKey, mlir::Value count);
  /// Whether the tile is visited, and whether its mask is applied; after `testLiterals`.
  mlir::Value isTouched(mlir::Value tile) { return holds(touched, touchedSettled, tile, 1); }
  mlir::Value isHidden(mlir::Value tile) { return holds(hidden, hiddenSettled, tile, 1); }
  /// Whether all tiles of the stretch are visited.
  mlir::Value isSettled() const { return touchedSettled; }

  /// {true somewhere, false somewhere} over the existing rows and `count` keys of a tile.
  llvm::FailureOr<Code::Values> testLiteral(tile::LiteralOp literal, mlir::Value firstKey,
                                            mlir::Value count);
  // The same for keys of one tile at once, a bit each of an integer of `bits` bits: `test` gives
  // the two answers of a literal as such integers.
  using LiteralTest = llvm::function_ref<llvm::FailureOr<Code::Values>(tile::LiteralOp)>;
  llvm::LogicalResult testLiteralsOfKeys(unsigned bits, LiteralTest test);
  mlir::Value touchedKeys(mlir::Value tile, unsigned bits) {
    return holds(touched, touchedSettled, tile, bits);
  }
  mlir::Value hiddenKeys(mlir::Value tile, unsigned bits) {
    return holds(hidden, hiddenSettled, tile, bits);
  }

private:
  struct Stretch {
    tile::IntervalAttr interval;
    mlir::Value active; ///< in the stretch that is being walked

    /// Whether it must be tested on each tile.
    bool conditional() const { return interval.getTileGuard() || !interval.getLiterals().empty(); }
  };

  /// Tiles [lower, upper) of each interval, both 0 when it is empty; the largest of these, and of
  /// `top`.
  mlir::Value evaluateEndPoints(mlir::ArrayAttr intervals, llvm::SmallVector<Stretch> &stretches,
                                mlir::Value top);
  /// Takes in which intervals are active, touched ones first; whether a touched one is.
  mlir::Value activate(mlir::ValueRange active);
  /// Whether an active interval without conditions settles the question.
  mlir::Value settled(llvm::ArrayRef<Stretch> stretches);
  /// Whether tile `tile` lies in an interval, given that no interval without conditions settles it.
  mlir::Value holds(llvm::ArrayRef<Stretch> stretches, mlir::Value settled, mlir::Value tile,
                    unsigned bits);

  Code &code;
  tile::ForEachVisitOp op;
  tile::ItemRecordOp item;
  unsigned lanes;
  std::unique_ptr<EndPoints> ends;

  mlir::Value length;
  llvm::SmallVector<Stretch> touched, hidden;
  mlir::Value touchedSettled, hiddenSettled;
  llvm::SmallVector<mlir::Value> literalNeeded;
  llvm::SmallVector<Code::Values> literalOnTile;
};

} // namespace skim::cpu

#endif // SKIM_CODEGEN_CPU_VISITWALK_H
