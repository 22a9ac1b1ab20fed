// The command line of `skim eval`, checked.
#ifndef SKIM_TOOLS_SKIM_EVAL_EVALOPTIONS_H
#define SKIM_TOOLS_SKIM_EVAL_EVALOPTIONS_H

#include "tools/skim/Options.h"
#include "tools/skim/eval/LayerAttention.h"

namespace skim::tool {

struct EvalOptions {
  std::string modelFolder;
  std::string textPath;
  int64_t context = 0;
  int64_t prompts = 0;
  int64_t pairs = 0;
  int64_t seed = 0;
  bool dense = true; ///< Run dense attention beside the patterns.
  AttentionSetup attention;

  /// What can be said without the model.
  static llvm::Expected<EvalOptions> read(const Options &options);

  /// Fails with WrongUsage on a context, a layer or a head that the model does not have.
  llvm::Error checkAgainst(const ModelShape &shape) const;
};

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_EVAL_EVALOPTIONS_H
