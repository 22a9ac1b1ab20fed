// Settings of tests that draw random programs: how many, and from which seed on.
#ifndef SKIM_TEST_NUMERICS_FROMENVIRONMENT_H
#define SKIM_TEST_NUMERICS_FROMENVIRONMENT_H

#include <cstdint>
#include <cstdlib>

namespace skim::numerics {

inline uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

} // namespace skim::numerics

#endif // SKIM_TEST_NUMERICS_FROMENVIRONMENT_H
