// The colours of all pictures.
#ifndef SKIM_TOOLS_SKIM_COLOUR_H
#define SKIM_TOOLS_SKIM_COLOUR_H

#include <cstdint>

namespace skim::tool {

struct Colour {
  uint8_t red, green, blue;
};

namespace palette {
inline constexpr Colour ink{31, 35, 40};
inline constexpr Colour faintInk{98, 106, 115};
inline constexpr Colour paper{255, 255, 255};

// Planes of kept pairs, and their legend.
inline constexpr Colour fullTile{43, 92, 158};
inline constexpr Colour partialTile{253, 226, 190};
inline constexpr Colour keptPair{224, 112, 10};
inline constexpr Colour skipped{236, 238, 241};
inline constexpr Colour future{255, 255, 255};
} // namespace palette

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_COLOUR_H
