// From the sets of a pattern to the formulas of the set algebra.
#ifndef SKIM_PASSES_PATTERNFORMULA_H
#define SKIM_PASSES_PATTERNFORMULA_H

#include "passes/algebra/Formula.h"
#include "passes/algebra/TileVisits.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace skim {

/// A predicate that is known only at run time, constant on cells of positions.
struct PatternLiteral {
  enum class Kind {
    Set,      ///< The pair is in `source`, a set.
    Equals,   ///< `source`, a uniform index, equals `label`.
    Unlisted, ///< `source`, a uniform index, is none of `labels`.
    Defined,  ///< `source`, a uniform index, is defined.
    Buffer,   ///< The byte of a workspace buffer of cells is not 0.
  };

  Kind kind = Kind::Set;
  mlir::Value source;
  int64_t label = 0;
  llvm::SmallVector<int64_t> labels;
  /// Buffer only: its slot, and the value whose type has its axis of heads.
  int64_t slot = 0;
  mlir::Value headsOf;
  /// Block sizes; 0 where the literal does not depend on that position.
  int64_t queryCell = 0;
  int64_t keyCell = 0;
};

/// Turns sets of one pattern into formulas. Symbols and literals are numbered alike in all formulas
/// that one object makes: symbol 0 is the position of the first row, symbol 1 the number of keys.
class PatternFormula {
public:
  static constexpr unsigned kBase = 0;
  static constexpr unsigned kKvLength = 1;

  /// Formulas of `root` and of what it is made of.
  PatternFormula(mlir::Value root, bool noncausal);

  /// The formula of a set that `root` reaches. Fails with a diagnostic on an operation that has no
  /// formula: lists, selections and covers of what is not affine must have become stored sets.
  mlir::FailureOr<Formula> convert(mlir::Value set);
  /// One literal for the whole set, asked for pair by pair.
  Formula literalFor(mlir::Value set);
  unsigned addLiteral(PatternLiteral literal);

  /// The set as far as causality admits it.
  Formula causal(const Formula &set) const;
  /// The pairs of the set that are attended: causality admits them, row and key exist.
  Formula visible(const Formula &set) const;

  bool isNoncausal() const { return noncausal; }
  FormulaSymbols symbols() const { return {unsigned(2 + sources.size()), kBase, kKvLength}; }
  /// The uniform index maps behind symbol 2 and up.
  llvm::ArrayRef<mlir::Value> symbolSources() const { return sources; }
  /// By their number.
  const std::vector<PatternLiteral> &literals() const { return literalList; }

  /// `expr >= 0` for every expression, over q, k and the symbols.
  Formula atLeastZero(llvm::ArrayRef<mlir::AffineExpr> exprs) const;
  mlir::AffineExpr query() const;
  mlir::AffineExpr key() const;
  mlir::AffineExpr symbol(unsigned number) const;

private:
  void collectSymbols(mlir::Value set, llvm::DenseMap<mlir::Value, bool> &seen);
  mlir::FailureOr<Formula> convertUncached(mlir::Value set);
  mlir::FailureOr<Formula> convertMatch(mlir::Operation *match);
  mlir::FailureOr<Formula> convertCover(mlir::Operation *cover);
  Formula convertAffineSet(mlir::Operation *set);
  mlir::AffineExpr symbolFor(mlir::Value map);

  mlir::MLIRContext *context;
  bool noncausal;
  llvm::SmallVector<mlir::Value> sources;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> symbolOf;
  llvm::DenseMap<mlir::Value, Formula> formulaOf;
  std::vector<PatternLiteral> literalList;
};

/// Whether the formula of `set` has no literals: it is solved at compile time.
bool isAffine(mlir::Value set);

} // namespace skim

#endif // SKIM_PASSES_PATTERNFORMULA_H
