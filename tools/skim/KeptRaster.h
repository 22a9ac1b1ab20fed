// The kept relation of one head as an image: what each spot of the plane looks like.
#ifndef SKIM_TOOLS_SKIM_KEPTRASTER_H
#define SKIM_TOOLS_SKIM_KEPTRASTER_H

#include "tools/skim/Colour.h"
#include "tools/skim/Picture.h"

#include <cstdint>
#include <vector>

namespace skim::tool {

struct KeptRaster {
  /// Tokens along the side of a spot, a power of two.
  int64_t tokens = 1;
  int64_t width = 0;
  int64_t height = 0;
  std::vector<Colour> spots; ///< Row-major.
};

/// A raster of at most about `side` spots a side.
KeptRaster rasterise(const Picture &picture, const Panel &panel, int64_t side);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_KEPTRASTER_H
