// What each example pattern keeps, restated from the paper that it cites in plain loops over plain
// numbers. Nothing of the product is used here.
#ifndef SKIM_TEST_EXAMPLES_RESTATEMENTS_H
#define SKIM_TEST_EXAMPLES_RESTATEMENTS_H

#include "test/examples/Decision.h"
#include "test/examples/Prompt.h"

namespace skim::examples {

// Positions, and what the caller gives.
Relation causal(const Prompt &prompt);
Relation streaming(const Prompt &prompt);
Relation aShape(const Prompt &prompt);
Relation dilatedWindow(const Prompt &prompt);
Relation slidingWindow(const Prompt &prompt);
Relation shortDense(const Prompt &prompt);
Relation lserve(const Prompt &prompt);
Relation document(const Prompt &prompt);
Relation blockMask(const Prompt &prompt);
Relation blockList(const Prompt &prompt);
Relation columns(const Prompt &prompt);
Relation tokenTopK(const Prompt &prompt);

// Scores of queries and keys.
Relation verticalSlash(const Prompt &prompt);
Relation flashPrefill(const Prompt &prompt);
Relation peak(const Prompt &prompt);
Relation xAttention(const Prompt &prompt);
Relation quest(const Prompt &prompt);
Relation seerAttention(const Prompt &prompt);
Relation moba(const Prompt &prompt);

} // namespace skim::examples

#endif // SKIM_TEST_EXAMPLES_RESTATEMENTS_H
