// Counts the allocations of a program. Its target links with the options of
// `skim_count_allocations` (CMakeLists.txt), which send malloc and its kin here; operator new is
// replaced.
#ifndef SKIM_TEST_RUNTIME_ALLOCATIONCOUNT_H
#define SKIM_TEST_RUNTIME_ALLOCATIONCOUNT_H

#include <cstdint>

namespace skim::test {

/// Since the start of the program, by all threads.
int64_t allocationCount();

} // namespace skim::test

#endif // SKIM_TEST_RUNTIME_ALLOCATIONCOUNT_H
