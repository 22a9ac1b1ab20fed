// Which kernel of a bundle to load.
#ifndef SKIM_LOADOPTIONS_H
#define SKIM_LOADOPTIONS_H

#include <skim/DType.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace skim {

/// What is left out is not asked for; when several kernels fit for the best target that this
/// machine runs, loading fails and lists them.
struct LoadOptions {
  /// Empty: the only pattern of the bundle.
  std::string pattern = {};
  /// A target as `skim compile --target` names it; empty: the best CPU target that this machine
  /// runs. Code for CUDA devices, which takes memory of the device, is loaded only where it is
  /// asked for, by `sm_90a`; it then runs on the calling thread's current context, else on device
  /// 0.
  std::string target = {};
  std::optional<int64_t> queryHeads = {};
  std::optional<int64_t> kvHeads = {};
  std::optional<int64_t> headDim = {};
  std::optional<int64_t> valueDim = {};
  std::optional<DType> dtype = {};    ///< of q, k and v
  std::optional<DType> outDtype = {}; ///< of the output
  /// Tokens of a page; 0: contiguous keys and values. A kernel that serves every layout fits too,
  /// and is taken where none was made for just this one.
  std::optional<int64_t> pageSize = {};
  /// Values of `constexpr` parameters; a bool as 0 or 1.
  std::map<std::string, double> constants = {};
};

} // namespace skim

#endif // SKIM_LOADOPTIONS_H
