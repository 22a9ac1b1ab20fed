// Maps: what every expression of the language evaluates to. A map is read by
// rows: for one head and one query cell, one value for each cell of the key-like
// axis. Undefined cells are NaN (rule 3); a set is a map of truth values. Beside its values a
// map can tell how far those of a target may be off (rule 9).
#ifndef SKIM_REFERENCE_MAP_H
#define SKIM_REFERENCE_MAP_H

#include "reference/Request.h"

#include "llvm/ADT/ArrayRef.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace skim::reference {

enum class Element { Bool, Index, F32, Vec };

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// Rule 3: an undefined truth value is false.
inline bool isTrue(double value) { return value != 0 && !std::isnan(value); }

class Map;
using MapPtr = std::shared_ptr<const Map>;

class Map {
public:
  virtual ~Map() = default;

  /// The values at a head of this map's head axis and a cell of its query axis (0
  /// where an axis is absent): `cells() * dim` numbers. Valid until the next
  /// call for the same head.
  virtual llvm::ArrayRef<double> row(int64_t head, int64_t query) const = 0;

  /// How far a target's values may lie from those of `row`: 0 where they are the same bit for
  /// bit, infinity where nothing is known, not even whether the cell is defined. A truth value
  /// with infinity is open.
  virtual llvm::ArrayRef<double> errors(int64_t head, int64_t query) const;

  int64_t cells() const { return request.keyCells(axes); }

  const Request &request;
  Axes axes;
  Element element = Element::F32;
  int64_t dim = 1; ///< Components of a vector; 1 for scalars.
  /// Computed from Q, K or V: such numbers are f64. All other f32 numbers are
  /// rounded to f32 after each operation, so that every target agrees (rule 9).
  bool scored = false;
  /// Holds fp8 numbers, whose products are summed with fewer bits (rule 9).
  bool isFp8 = false;
  /// Made of `q`, `k` and index values alone: known at every granularity.
  bool positional = false;
  /// A number of the pattern's text, or made of such alone.
  bool constant = false;
  /// A value that a launch checks: a parameter, `layer` or the number of a head (rule 14).
  bool checkedAtLaunch = false;
  /// The parameter whose value this is; empty: none.
  std::string parameter = {};
  bool isNumber() const { return element == Element::Index || element == Element::F32; }
  int64_t depth = 1; ///< Of the expression, which bounds recursion.

protected:
  Map(const Request &request, Axes axes, Element element)
      : request(request), axes(axes), element(element) {}
  /// Notes that this map reads `operand`.
  void use(const Map &operand);

private:
  mutable std::vector<double> noErrors;
};

/// A map whose rows are computed when asked for; the last one of each head is kept.
class LazyMap : public Map {
public:
  llvm::ArrayRef<double> row(int64_t head, int64_t query) const final;
  llvm::ArrayRef<double> errors(int64_t head, int64_t query) const final;

protected:
  using Map::Map;
  /// Fills a row, which is undefined at first.
  virtual void compute(int64_t head, int64_t query, llvm::MutableArrayRef<double> out) const = 0;
  /// Fills the errors of a row, 0 at first. Asked of maps that depend on scores.
  virtual void computeErrors(int64_t, int64_t, llvm::MutableArrayRef<double>) const {}

private:
  struct CachedRow {
    std::optional<int64_t> query;
    std::vector<double> values;
  };
  mutable std::vector<CachedRow> rows, errorRows; ///< By head.
};

/// A map whose cells are all in memory, undefined at first.
class DenseMap : public Map {
public:
  DenseMap(const Request &request, Axes axes, Element element, int64_t dim = 1);

  /// Numbers that such a map would hold.
  static int64_t size(const Request &request, const Axes &axes, int64_t dim);
  static constexpr int64_t maxSize = int64_t(1) << 28;

  llvm::ArrayRef<double> row(int64_t head, int64_t query) const override;
  llvm::ArrayRef<double> errors(int64_t head, int64_t query) const override;
  llvm::MutableArrayRef<double> mutableRow(int64_t head, int64_t query);
  using Map::use;

  /// Where a row starts in the numbers of all rows.
  int64_t offset(int64_t head, int64_t query) const;
  llvm::MutableArrayRef<double> numbers() { return data; }
  /// The errors of `numbers`, all 0 at first.
  llvm::MutableArrayRef<double> numberErrors();

private:
  std::vector<double> data, errorData;
};

/// A value without position axes: one number, or one a head.
class UniformMap : public Map {
public:
  UniformMap(const Request &request, HeadAxis head, Element element, std::vector<double> values);
  llvm::ArrayRef<double> row(int64_t head, int64_t) const override {
    return llvm::ArrayRef<double>(values).slice(head, 1);
  }

private:
  std::vector<double> values;
};

/// Reads a map at the cells of finer axes, which must refine the map's own
/// (a missing axis holds everywhere). What lies outside the map is undefined, without error.
class Reader {
public:
  enum class What { Values, Errors };
  Reader(const Map &map, const Axes &axes, What what = What::Values)
      : map(map), axes(axes), what(what), same(map.axes == axes) {}

  /// Moves to a row of the finer axes.
  void moveTo(int64_t head, int64_t query);
  /// The values at key cell `key`: `dim` numbers; empty outside the map.
  llvm::ArrayRef<double> at(int64_t key) const;
  /// The scalar at key cell `key`.
  double scalar(int64_t key) const;
  /// All scalars of the row, which may be the map's own.
  llvm::ArrayRef<double> scalars();

private:
  int64_t sourceCell(int64_t key) const;

  const Map &map;
  Axes axes;
  What what;
  bool same;
  int64_t query = 0;
  llvm::ArrayRef<double> current;
  std::vector<double> expanded;
};

} // namespace skim::reference

#endif // SKIM_REFERENCE_MAP_H
