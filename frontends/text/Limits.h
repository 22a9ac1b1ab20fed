// What a pattern may ask for, where the checker and the reference must agree.
#ifndef SKIM_FRONTENDS_TEXT_LIMITS_H
#define SKIM_FRONTENDS_TEXT_LIMITS_H

namespace skim::text {

/// Levels of expressions and of calls of patterns, together: a bound on recursion.
inline constexpr unsigned maxNesting = 512;

} // namespace skim::text

#endif // SKIM_FRONTENDS_TEXT_LIMITS_H
