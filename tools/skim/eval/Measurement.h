// The measurement: which patterns with which parameters, over which prompts, and its results.
#ifndef SKIM_TOOLS_SKIM_EVAL_MEASUREMENT_H
#define SKIM_TOOLS_SKIM_EVAL_MEASUREMENT_H

#include "tools/skim/eval/LayerAttention.h"
#include "tools/skim/eval/Retrieval.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skim::tool {

/// One pattern with one set of parameters: a row of the table, a point of the picture.
struct Point {
  const PatternSource *source;
  std::map<std::string, ParameterSetting> settings;
  /// The value of the parameter that is swept; empty where none is.
  std::string swept = {};
};

struct PointResult {
  Score score;
  /// [layer][query head]
  std::vector<std::vector<HeadTotals>> heads;
  /// Not empty where the point did not run: why.
  std::string reason;
  std::string messages;     ///< The whole text of it, diagnostics included.
  bool needsInputs = false; ///< That is the reason.

  /// Over all layers and heads.
  HeadTotals total() const;
};

struct Measurement {
  std::vector<Prompt> prompts;
  /// Empty where dense attention was not asked for.
  std::optional<PointResult> dense;
  /// In the order of the points.
  std::vector<PointResult> points;
};

/// Runs the model over all prompts under `point`. What is wrong with the pattern becomes the
/// reason of the result. `progress` is called before each layer.
PointResult measure(const Point &point, const Model &model, const ModelShape &shape,
                    const AttentionSetup &setup, llvm::ArrayRef<Prompt> prompts,
                    llvm::function_ref<void(size_t prompt, int64_t layer)> progress);

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_EVAL_MEASUREMENT_H
