// Selections of numbers with errors: each cell is in, out, or open (rules 8 and 9).
#include "reference/Errors.h"

#include "reference/Select.h"

#include <algorithm>
#include <utility>

namespace skim::reference {

namespace {

/// Of f64 sums on the two sides of a comparison.
constexpr double prefixRounding = 0x1p-44;

/// The order of the cells of a row: larger values first, equal ones by position.
struct Place {
  double value;
  int64_t position;
  bool operator<(const Place &other) const {
    return value != other.value ? value > other.value : position < other.position;
  }
};

/// A cell by the ends of its interval; the positive parts are what it adds to sums.
struct Ends {
  double low, high;

  explicit Ends(Estimate cell)
      : low(cell.isUnknown() ? -unknown : cell.low()),
        high(cell.isUnknown() ? unknown : cell.high()) {}
  double leastMass() const { return std::max(low, 0.0); }
  double mostMass() const { return std::max(high, 0.0); }
};

/// The cells of a row that may exist, in the order of one end of their intervals. Unknown cells lie
/// anywhere.
class Order {
public:
  Order(llvm::ArrayRef<Estimate> cells, bool byHighEnd) {
    std::vector<std::pair<Place, Ends>> sorted;
    for (int64_t i = 0, end = cells.size(); i < end; ++i)
      if (Ends ends(cells[i]); !cells[i].isUndefined())
        sorted.push_back({{byHighEnd ? ends.high : ends.low, i}, ends});
    std::sort(sorted.begin(), sorted.end(),
              [](const auto &a, const auto &b) { return a.first < b.first; });
    // The sum before a place is the largest there is of high ends, else the smallest; the sum
    // from it on is the other.
    sumsBefore.assign(sorted.size() + 1, 0);
    sumsFrom.assign(sorted.size() + 1, 0);
    auto mass = [](const Ends &ends, bool most) {
      return most ? ends.mostMass() : ends.leastMass();
    };
    for (size_t i = 0; i < sorted.size(); ++i) {
      places.push_back(sorted[i].first);
      sumsBefore[i + 1] = sumsBefore[i] + mass(sorted[i].second, byHighEnd);
    }
    for (size_t i = sorted.size(); i-- > 0;)
      sumsFrom[i] = sumsFrom[i + 1] + mass(sorted[i].second, !byHighEnd);
  }

  int64_t before(Place place) const {
    return std::lower_bound(places.begin(), places.end(), place) - places.begin();
  }
  double sumBefore(Place place) const { return sumsBefore[before(place)]; }
  double sumFrom(Place place) const { return sumsFrom[before(place)]; }

private:
  std::vector<Place> places;
  std::vector<double> sumsBefore, sumsFrom;
};

enum class Decision { In, Out, Open };

class Decider {
public:
  explicit Decider(llvm::ArrayRef<Estimate> cells)
      : cells(cells), lows(cells, false), highs(cells, true) {}

  /// `least` and `most` cells are taken.
  Decision topK(int64_t i, int64_t least, int64_t most) const {
    if (mayPrecede(i) < least)
      return Decision::In;
    return precede(i) >= most ? Decision::Out : Decision::Open;
  }

  /// A cell is in when the sum S before it lies under the share m of the total, which is
  /// S (1 - m) < m R with the sum R from it on; and when nothing precedes it.
  Decision topP(int64_t i, Estimate mass) const {
    Ends ends(cells[i]);
    double least = std::clamp(mass.low(), 0.0, 1.0), most = std::clamp(mass.high(), 0.0, 1.0);
    double before = highs.sumBefore({ends.low, i}), from = highs.sumFrom({ends.low, i});
    if (ends.high > ends.low) { // Its own high end stands before its low end.
      before -= ends.mostMass();
      from += ends.leastMass();
    }
    double slack = prefixRounding * (before + from);
    if (mayPrecede(i) == 0 || before * (1 - least) + slack < least * from)
      return Decision::In;
    before = lows.sumBefore({ends.high, i});
    from = lows.sumFrom({ends.high, i});
    slack = prefixRounding * (before + from);
    bool isBeyond = from == 0 || before * (1 - most) >= most * from + slack;
    return precede(i) > 0 && isBeyond ? Decision::Out : Decision::Open;
  }

private:
  int64_t mayPrecede(int64_t i) const {
    Ends ends(cells[i]);
    return highs.before({ends.low, i}) - (ends.high > ends.low);
  }
  int64_t precede(int64_t i) const { return lows.before({Ends(cells[i]).high, i}); }

  llvm::ArrayRef<Estimate> cells;
  Order lows, highs;
};

} // namespace

void SelectMap::computeErrors(int64_t head, int64_t query,
                              llvm::MutableArrayRef<double> out) const {
  EstimateReader reader(*scores, axes), size(*amount, axes);
  reader.moveTo(head, query);
  size.moveTo(head, query);
  std::vector<Estimate> cells;
  for (int64_t i = 0, end = out.size(); i < end; ++i)
    cells.push_back(reader.at(i));
  Decider decider(cells);
  Estimate by = size.at(0);
  for (int64_t i = 0, end = out.size(); i < end; ++i) {
    if (cells[i].isUndefined() || by.isUndefined())
      continue; // Surely out.
    Decision decision = Decision::Open;
    if (!cells[i].isUnknown() && !by.isUnknown())
      decision = kind == Kind::TopK ? decider.topK(i, selectionCount(by.low(), end),
                                                   selectionCount(by.high(), end))
                                    : decider.topP(i, by);
    out[i] = decision == Decision::Open ? unknown : 0;
  }
}

/// A block is open when no pair of it is surely in the set and some pair may be.
static void joinPair(double value, double error, double &blockValue, double &blockError) {
  bool surelyIn = blockError == 0 && isTrue(blockValue);
  if (error == 0 && isTrue(value)) {
    blockValue = 1;
    blockError = 0;
  } else if (error != 0 && !surelyIn) {
    blockError = unknown;
  }
}

void addCoverErrors(const Map &set, DenseMap &cover) {
  const Request &request = set.request;
  EstimateReader reader(set, Axes{set.axes.head, 1, 1, false});
  llvm::MutableArrayRef<double> errors = cover.numberErrors();
  std::vector<double> sure(errors.size(), 0);
  for (int64_t head = 0; head < request.headCount(set.axes.head); ++head) {
    for (int64_t q = request.base(); q < request.kvLen; ++q) {
      reader.moveTo(head, q);
      int64_t row = cover.offset(head, floorDiv(q, cover.axes.query));
      for (int64_t k = 0; k < request.kvLen && request.sees(q, k); ++k) {
        int64_t block = row + k / cover.axes.key;
        Estimate pair = reader.at(k);
        joinPair(pair.value, pair.error, sure[block], errors[block]);
      }
    }
  }
}

void CoverKeysMap::computeErrors(int64_t head, int64_t query,
                                 llvm::MutableArrayRef<double> out) const {
  EstimateReader reader(*set, Axes{axes.head, 1, 1, false});
  reader.moveTo(head, query);
  std::vector<double> sure(out.size(), 0);
  for (int64_t k = 0; k < request.kvLen && request.sees(query, k); ++k) {
    Estimate pair = reader.at(k);
    joinPair(pair.value, pair.error, sure[k / axes.key], out[k / axes.key]);
  }
}

} // namespace skim::reference
