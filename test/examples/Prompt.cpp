#include "test/examples/Prompt.h"

#include <cmath>

namespace skim::examples {

static std::span<const double> vectorAt(const std::vector<double> &data, int64_t index,
                                        int64_t dim) {
  return std::span(data).subspan(index * dim, dim);
}

double Prompt::scale() const { return 1 / std::sqrt(static_cast<double>(dim)); }

std::span<const double> Prompt::query(int64_t row, int64_t head) const {
  return vectorAt(q, row * heads + head, dim);
}
std::span<const double> Prompt::key(int64_t key, int64_t kvHead) const {
  return vectorAt(k, key * kvHeads + kvHead, dim);
}
std::span<const double> Prompt::value(int64_t key, int64_t kvHead) const {
  return vectorAt(v, key * kvHeads + kvHead, valueDim);
}

double Prompt::input(const std::string &name, int64_t i, int64_t j, int64_t k) const {
  const std::vector<int64_t> &extent = extents.at(name);
  return inputs.at(name).at((i * extent.at(1) + j) * extent.at(2) + k);
}
double Prompt::input(const std::string &name, int64_t i, int64_t j) const {
  return inputs.at(name).at(i * extents.at(name).at(1) + j);
}

int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

} // namespace skim::examples
