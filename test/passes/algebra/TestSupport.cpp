#include "test/passes/algebra/TestSupport.h"

#include "passes/algebra/Evaluate.h"

#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace skim::test {

Formula affine(mlir::MLIRContext &context, llvm::StringRef constraints) {
  std::string text = ("(q, k)[base, kv_len, a, b, c] : (" + constraints + ")").str();
  mlir::IntegerSet set = mlir::parseIntegerSet(text, &context);
  if (!set)
    llvm::report_fatal_error(llvm::Twine("the test's set does not parse: ") + text);
  return Formula::affine(set);
}

Formula causal(mlir::MLIRContext &context, const Formula &keep) {
  return Formula::conjunction({affine(context, "q - k >= 0"), noncausal(context, keep)});
}

Formula noncausal(mlir::MLIRContext &context, const Formula &keep) {
  return Formula::conjunction({keep, affine(context, "k >= 0, kv_len - k - 1 >= 0")});
}

namespace {

struct TileStatus {
  bool touched = false;
  bool hidden = false;
};

/// The tiles of a call and what brute force says of them.
class Tiling {
public:
  Tiling(TileShape shape, const Call &call) : shape(shape), call(call) {
    keyTiles = std::max<int64_t>(llvm::divideCeilSigned(call.kvLength, shape.keys), 0);
    firstTile = llvm::divideFloorSigned(std::min<int64_t>(call.base(), 0), shape.rows) - 1;
    lastTile = llvm::divideFloorSigned(std::max<int64_t>(call.kvLength, 0), shape.rows) + 1;
  }

  int64_t firstRow(int64_t tile) const { return std::max(tile * shape.rows, call.base()); }
  int64_t endRow(int64_t tile) const { return std::min((tile + 1) * shape.rows, call.kvLength); }

  std::vector<TileStatus> statusOf(int64_t queryTile, SeesPair sees) const {
    std::vector<TileStatus> status(keyTiles);
    for (int64_t query = firstRow(queryTile); query < endRow(queryTile); ++query) {
      for (int64_t key = 0; key < keyTiles * shape.keys; ++key) {
        bool seen = key < call.kvLength && sees(query, key);
        TileStatus &tile = status[key / shape.keys];
        (seen ? tile.touched : tile.hidden) = true;
      }
    }
    return status;
  }

  TileShape shape;
  const Call &call;
  int64_t keyTiles;
  int64_t firstTile;
  int64_t lastTile;
};

} // namespace

/// Key tiles of a list of intervals, by the evaluator; `outside` is set when one leaves the key
/// tiles.
static std::vector<bool> listTiles(llvm::ArrayRef<TileInterval> intervals, int64_t queryTile,
                                   llvm::ArrayRef<int64_t> symbols, int64_t keyTiles,
                                   LiteralOnTile literalOnTile, bool &outside) {
  TileVisits visits;
  visits.touched.assign(intervals.begin(), intervals.end());
  std::vector<bool> tiles(keyTiles, false);
  for (const Stretch &stretch : evaluateVisits(visits, queryTile, symbols, literalOnTile)) {
    outside |= stretch.begin < 0 || stretch.end > keyTiles;
    for (int64_t tile = std::max<int64_t>(stretch.begin, 0); tile < std::min(stretch.end, keyTiles);
         ++tile)
      tiles[tile] = true;
  }
  return tiles;
}

std::string findDifference(const TileVisits &visits, TileShape shape, const Call &call,
                           SeesPair sees, LiteralOnTiles literalOnTiles) {
  Tiling tiling(shape, call);
  std::vector<int64_t> symbols = call.symbols();
  for (int64_t queryTile = tiling.firstTile; queryTile <= tiling.lastTile; ++queryTile) {
    auto literalOnTile = [&](const LiteralRef &literal, int64_t keyTile) {
      return literalOnTiles(literal, queryTile, keyTile);
    };
    std::vector<TileStatus> expected = tiling.statusOf(queryTile, sees);
    bool outside = false;
    std::vector<bool> touched =
        listTiles(visits.touched, queryTile, symbols, tiling.keyTiles, literalOnTile, outside);
    std::vector<bool> hidden =
        listTiles(visits.hidden, queryTile, symbols, tiling.keyTiles, literalOnTile, outside);
    if (outside)
      return llvm::formatv("query tile {0}: an interval leaves the key tiles [0, {1})", queryTile,
                           tiling.keyTiles);
    for (int64_t keyTile = 0; keyTile < tiling.keyTiles; ++keyTile) {
      const TileStatus &status = expected[keyTile];
      if (touched[keyTile] != status.touched || hidden[keyTile] != status.hidden)
        return llvm::formatv("tile ({0}, {1}): expected touched {2} hidden {3} but got {4} {5}",
                             queryTile, keyTile, status.touched, status.hidden,
                             bool(touched[keyTile]), bool(hidden[keyTile]));
    }
    // The visits themselves: descending, disjoint, touched tiles only, masked where hidden.
    int64_t previous = tiling.keyTiles;
    int64_t visited = 0;
    for (const Stretch &stretch : evaluateVisits(visits, queryTile, symbols, literalOnTile)) {
      if (stretch.end > previous || stretch.begin >= stretch.end)
        return llvm::formatv("query tile {0}: stretches are out of order", queryTile);
      previous = stretch.begin;
      visited += stretch.end - stretch.begin;
      for (int64_t keyTile = stretch.begin; keyTile < stretch.end; ++keyTile)
        if (!expected[keyTile].touched || expected[keyTile].hidden != stretch.masked)
          return llvm::formatv("tile ({0}, {1}): visited wrongly, masked {2}", queryTile, keyTile,
                               stretch.masked);
    }
    if (visited != llvm::count_if(expected, [](const TileStatus &tile) { return tile.touched; }))
      return llvm::formatv("query tile {0}: {1} key tiles visited", queryTile, visited);
  }
  return "";
}

std::string findDifference(const TileVisits &visits, TileShape shape, const Call &call,
                           SeesPair sees) {
  return findDifference(visits, shape, call, sees,
                        [](const LiteralRef &, int64_t, int64_t) { return false; });
}

std::string findLoss(const TileVisits &visits, TileShape shape, const Call &call, SeesPair sees,
                     LiteralOnPair literalOnPair) {
  Tiling tiling(shape, call);
  std::vector<int64_t> symbols = call.symbols();
  for (int64_t queryTile = tiling.firstTile; queryTile <= tiling.lastTile; ++queryTile) {
    auto literalOnTile = [&](const LiteralRef &literal, int64_t keyTile) {
      for (int64_t query = tiling.firstRow(queryTile); query < tiling.endRow(queryTile); ++query)
        for (int64_t key = keyTile * shape.keys; key < (keyTile + 1) * shape.keys; ++key)
          if (literalOnPair(literal, query, key))
            return true;
      return false;
    };
    std::vector<TileStatus> expected = tiling.statusOf(queryTile, sees);
    std::vector<bool> visited(tiling.keyTiles, false);
    for (const Stretch &stretch : evaluateVisits(visits, queryTile, symbols, literalOnTile)) {
      for (int64_t keyTile = stretch.begin; keyTile < stretch.end; ++keyTile) {
        visited[keyTile] = true;
        if (expected[keyTile].hidden && !stretch.masked)
          return llvm::formatv("tile ({0}, {1}) is not masked", queryTile, keyTile);
      }
    }
    for (int64_t keyTile = 0; keyTile < tiling.keyTiles; ++keyTile)
      if (expected[keyTile].touched && !visited[keyTile])
        return llvm::formatv("tile ({0}, {1}) is not visited", queryTile, keyTile);
  }
  return "";
}

} // namespace skim::test
