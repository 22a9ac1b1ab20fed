#include "test/tile/ReductionCases.h"

namespace skim::test {

namespace {

// clang-format off
const ReductionCase kCases[] = {
    {.name = "copyOfPairs", .kind = "", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 1, .keyCell = 16, .a = 1, .b = 16},
    {.name = "copyOfBlocks", .kind = "", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 16, .keyCell = 32, .a = 16, .b = 32},
    {.name = "copyOfBlocksCausal", .kind = "", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 64, .keyCell = 32, .a = 64, .b = 32, .causal = true},
    {.name = "copyOfKeys", .kind = "", .itemHead = "kv", .itemAxis = "keys", .resultHead = "kv", .queryCell = 0, .keyCell = 16, .a = 0, .b = 16},
    {.name = "sumOverKeys", .kind = "sum", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 1, .keyCell = 0, .a = 1, .b = 1, .causal = true},
    {.name = "maxIntoKeyBlocks", .kind = "max", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 1, .keyCell = 32, .a = 1, .b = 1},
    {.name = "meanIntoQueryBlocks", .kind = "mean", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 32, .keyCell = 16, .a = 1, .b = 16, .causal = true},
    {.name = "sumIntoTallBlocks", .kind = "sum", .itemHead = "query", .itemAxis = "queries", .rows = 128, .resultHead = "query", .queryCell = 128, .keyCell = 32, .a = 1, .b = 32},
    {.name = "sumIntoLowBlocks", .kind = "sum", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 2, .keyCell = 32, .a = 1, .b = 32},
    {.name = "sumIntoBlocksOfBoth", .kind = "sum", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 64, .keyCell = 64, .a = 1, .b = 16, .causal = true},
    {.name = "minIntoBlocksOfBoth", .kind = "min", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 32, .keyCell = 64, .a = 1, .b = 1, .causal = true},
    {.name = "varOfBlocks", .kind = "var", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 64, .keyCell = 64, .a = 16, .b = 16},
    {.name = "varOverGroup", .kind = "var", .itemHead = "kv", .itemAxis = "queries", .resultHead = "kv", .queryCell = 1, .keyCell = 64, .a = 1, .b = 32, .causal = true, .joinHeads = true},
    {.name = "maxOverAllHeads", .kind = "max", .itemHead = "none", .itemAxis = "queries", .resultHead = "none", .queryCell = 32, .keyCell = 16, .a = 1, .b = 16, .joinHeads = true},
    {.name = "sumOverQueries", .kind = "sum", .itemHead = "query", .itemAxis = "none", .resultHead = "query", .queryCell = 0, .keyCell = 1, .a = 1, .b = 1, .causal = true, .rowTiles = 64},
    {.name = "sumOverLastQueries", .kind = "sum", .itemHead = "query", .itemAxis = "none", .resultHead = "query", .queryCell = 0, .keyCell = 16, .a = 1, .b = 16, .rowTiles = 32, .firstBack = 40},
    {.name = "meanOverGroupAndQueries", .kind = "mean", .itemHead = "kv", .itemAxis = "keys", .keys = 32, .resultHead = "kv", .queryCell = 0, .keyCell = 16, .a = 1, .b = 16, .causal = true, .joinHeads = true, .rowTiles = 64},
    {.name = "sumOverBlocksOfQueries", .kind = "sum", .itemHead = "kv", .itemAxis = "none", .resultHead = "kv", .queryCell = 0, .keyCell = 64, .a = 16, .b = 32, .joinHeads = true, .rowTiles = 32},
    {.name = "meanOfKeys", .kind = "mean", .itemHead = "kv", .itemAxis = "keys", .keys = 48, .resultHead = "kv", .queryCell = 0, .keyCell = 16, .a = 0, .b = 1},
    {.name = "maxOverAll", .kind = "max", .itemHead = "none", .itemAxis = "none", .resultHead = "none", .queryCell = 0, .keyCell = 0, .a = 1, .b = 1, .joinHeads = true, .rowTiles = 64},
    {.name = "sumOfDistances", .kind = "sum", .itemHead = "query", .itemAxis = "none", .resultHead = "query", .queryCell = 0, .keyCell = 1, .a = 1, .b = 1, .causal = true, .rowTiles = 64, .diagonal = true},
    {.name = "varOfDistancesBothWays", .kind = "var", .itemHead = "kv", .itemAxis = "none", .resultHead = "kv", .queryCell = 0, .keyCell = 1, .a = 1, .b = 1, .joinHeads = true, .rowTiles = 64, .diagonal = true, .noncausal = true},
    {.name = "maxOfDistancesByBlock", .kind = "max", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 32, .keyCell = 1, .a = 1, .b = 1, .causal = true, .diagonal = true},
    {.name = "sumOfDistancesByLowBlock", .kind = "sum", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 2, .keyCell = 1, .a = 1, .b = 1, .diagonal = true, .noncausal = true},
    {.name = "copyOfDistances", .kind = "", .itemHead = "kv", .itemAxis = "none", .resultHead = "kv", .queryCell = 0, .keyCell = 1, .a = 0, .b = 1, .diagonal = true, .distances = true},
    {.name = "sumOfDistancesOverHeads", .kind = "sum", .itemHead = "kv", .itemAxis = "none", .resultHead = "kv", .queryCell = 0, .keyCell = 1, .a = 0, .b = 1, .joinHeads = true, .diagonal = true, .noncausal = true, .distances = true},
    {.name = "meanOfVectors", .kind = "mean", .itemHead = "kv", .itemAxis = "keys", .keys = 64, .resultHead = "kv", .queryCell = 0, .keyCell = 32, .a = 0, .b = 1, .elements = 40},
    {.name = "maxOfVectorsOverHeads", .kind = "max", .itemHead = "kv", .itemAxis = "queries", .resultHead = "kv", .queryCell = 16, .keyCell = 0, .a = 1, .b = 0, .joinHeads = true, .elements = 7},
    {.name = "copyOfVectors", .kind = "", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 16, .keyCell = 32, .a = 16, .b = 32, .elements = 33},
    {.name = "sumOfWide", .kind = "sum", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 32, .keyCell = 16, .a = 1, .b = 16, .wide = true},
    {.name = "panelOfPairs", .kind = "", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 1, .keyCell = 16, .a = 1, .b = 16, .causal = true, .panel = true},
    {.name = "panelOfSums", .kind = "sum", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 1, .keyCell = 0, .a = 1, .b = 1, .causal = true, .panel = true},
    {.name = "panelOfMeansInBlocks", .kind = "mean", .itemHead = "query", .itemAxis = "queries", .rows = 48, .resultHead = "query", .queryCell = 16, .keyCell = 32, .a = 1, .b = 32, .panel = true},
    {.name = "panelOfLowBlocks", .kind = "max", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 4, .keyCell = 32, .a = 1, .b = 32, .panel = true},
    {.name = "panelOverGroup", .kind = "sum", .itemHead = "kv", .itemAxis = "queries", .rows = 128, .resultHead = "kv", .queryCell = 128, .keyCell = 32, .a = 1, .b = 32, .causal = true, .joinHeads = true, .panel = true},
    {.name = "panelOverGroupOfRows", .kind = "var", .itemHead = "kv", .itemAxis = "queries", .resultHead = "kv", .queryCell = 1, .keyCell = 32, .a = 1, .b = 16, .joinHeads = true, .panel = true},
    {.name = "panelOfWide", .kind = "", .itemHead = "query", .itemAxis = "queries", .resultHead = "query", .queryCell = 16, .keyCell = 0, .a = 16, .b = 0, .wide = true, .panel = true},
};
// clang-format on

} // namespace

std::vector<const ReductionCase *> reductionCases() {
  std::vector<const ReductionCase *> cases;
  for (const ReductionCase &c : kCases)
    cases.push_back(&c);
  return cases;
}

} // namespace skim::test
