// Attention of every layer of the model under a pattern, some layers and heads left dense, and
// what the pattern kept.
#ifndef SKIM_TOOLS_SKIM_EVAL_LAYERATTENTION_H
#define SKIM_TOOLS_SKIM_EVAL_LAYERATTENTION_H

#include "tools/skim/Job.h"
#include "tools/skim/eval/ModelWeights.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace skim::tool {

/// Where and how attention runs, for every pattern of a measurement.
struct AttentionSetup {
  Device device = Device::Cpu;
  DType dtype = DType::BF16;
  int64_t threads = 0; ///< 0: one for each core.
  std::string inputsPath;
  std::set<int64_t> denseLayers;
  std::set<std::pair<int64_t, int64_t>> denseHeads; ///< (layer, query head)
  /// Rows of each prompt over which the kept mass is taken, 0: none. Of a pattern that changes
  /// scores all rows are.
  int64_t massRows = 0;
};

/// What one head of one layer kept, summed over prompts.
struct HeadTotals {
  int64_t keptPairs = 0;
  int64_t visiblePairs = 0;
  double mass = 0; ///< Of `massRows` rows the share of dense attention on kept keys.
  int64_t massRows = 0;

  double density() const { return visiblePairs == 0 ? 1 : double(keptPairs) / visiblePairs; }
  double keptMass() const { return massRows == 0 ? 1 : mass / double(massRows); }
  HeadTotals &operator+=(const HeadTotals &other);
};

/// The pattern needs inputs that the measurement was not given.
class InputsMissing : public llvm::ErrorInfo<InputsMissing> {
public:
  static char ID;

  explicit InputsMissing(std::string names) : names(std::move(names)) {}
  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string names;
};

/// A pattern with its parameters, ready to run in all variants over batches of one shape of heads.
class VariantRunner {
public:
  VariantRunner(const PatternSource &source,
                const std::map<std::string, ParameterSetting> &settings,
                const AttentionSetup &setup)
      : source(source), settings(settings), setup(setup) {}

  /// Compiles on first use. Fails where the run met a value out of range, too.
  llvm::Expected<Outcome> run(HostBatch &batch, int64_t layer, Variant variant);
  bool isSame(Variant variant, Variant base) const { return source.isSame(variant, base); }

private:
  llvm::Expected<const CpuKernel *> kernelOf(const Job &job, Variant variant);
  llvm::Error checkInputs(const CpuKernel &compiled, HostBatch &batch) const;

  const PatternSource &source;
  const std::map<std::string, ParameterSetting> &settings;
  const AttentionSetup &setup;
  std::map<Variant, CpuKernel> kernels;
};

class LayerAttention {
public:
  /// `source`, `settings` and `setup` must outlive this. Fails where the pattern is not causal:
  /// the model is.
  static llvm::Expected<std::unique_ptr<LayerAttention>>
  create(const PatternSource &source, const std::map<std::string, ParameterSetting> &settings,
         const AttentionSetup &setup, const ModelShape &shape);

  /// One layer over one prompt, as `Model::run` asks.
  llvm::Expected<std::vector<float>> attend(int64_t layer, const TensorView &q, const TensorView &k,
                                            const TensorView &v);

  /// [layer][query head], over all prompts so far.
  const std::vector<std::vector<HeadTotals>> &totals() const { return heads; }

private:
  LayerAttention(const PatternSource &source,
                 const std::map<std::string, ParameterSetting> &settings,
                 const AttentionSetup &setup, const ModelShape &shape,
                 std::unique_ptr<PatternSource> dense);

  llvm::Error addMass(HostBatch &batch, int64_t layer, const Outcome &asked);
  llvm::Error attendDenseHead(const HostBatch &batch, int64_t layer, int64_t head,
                              std::vector<float> &out);
  bool isDense(int64_t layer, int64_t head) const {
    return setup.denseLayers.count(layer) != 0 || setup.denseHeads.count({layer, head}) != 0;
  }

  const PatternSource &source;
  const AttentionSetup &setup;
  VariantRunner pattern;
  std::unique_ptr<PatternSource> denseSource;
  std::map<std::string, ParameterSetting> noSettings;
  VariantRunner denseLayer; ///< All heads.
  VariantRunner denseHead;  ///< One head.
  std::vector<std::vector<HeadTotals>> heads;
};

/// Dense causal attention as a pattern.
llvm::Expected<std::unique_ptr<PatternSource>> densePattern();

} // namespace skim::tool

#endif // SKIM_TOOLS_SKIM_EVAL_LAYERATTENTION_H
