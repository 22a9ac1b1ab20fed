#include <skim/Report.h>

namespace skim {

Cost &Cost::operator+=(const Cost &other) {
  flops += other.flops;
  exponentials += other.exponentials;
  bytesRead += other.bytesRead;
  bytesWritten += other.bytesWritten;
  scratchBytes += other.scratchBytes;
  return *this;
}

Cost Cost::operator*(double times) const {
  return {flops * times, exponentials * times, bytesRead * times, bytesWritten * times,
          scratchBytes * times};
}

Cost Report::least() const {
  Cost sum;
  for (const KernelReport &kernel : kernels)
    sum += kernel.least;
  return sum;
}

Cost Report::most() const {
  Cost sum;
  for (const KernelReport &kernel : kernels)
    sum += kernel.most;
  return sum;
}

} // namespace skim
