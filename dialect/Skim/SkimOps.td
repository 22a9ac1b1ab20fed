// All operations of the dialect, in the order of the generated reference.
#ifndef SKIM_DIALECT_SKIM_SKIMOPS_TD
#define SKIM_DIALECT_SKIM_SKIMOPS_TD

include "dialect/Skim/SkimPatternOps.td"
include "dialect/Skim/SkimValueOps.td"
include "dialect/Skim/SkimMapOps.td"
include "dialect/Skim/SkimSetOps.td"

#endif // SKIM_DIALECT_SKIM_SKIMOPS_TD
