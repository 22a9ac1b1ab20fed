// The C interface to the quality probe.
#include "runtime/c/Arguments.h"
#include "runtime/c/Handles.h"

#include <skim/QualityProbe.h>
#include <skim/skim_serving.h>

using namespace skim;
using namespace skim::c;

struct skim_quality_probe {
  QualityProbe probe;
};

struct skim_quality_sample {
  std::vector<skim_probed_row> rows;
  double seconds;
};

skim_status_code skim_quality_probe_create(const skim_kernel *dense, const double *rate,
                                           skim_quality_probe **probe) {
  if (!dense || !probe)
    return refuse("expected a dense kernel and where to write the probe but got null");
  QualityProbeOptions options;
  if (rate)
    options.rate = *rate;
  Expected<QualityProbe> created = QualityProbe::create(dense->kernel, options);
  if (!created)
    return answer(created.status());
  *probe = new skim_quality_probe{*std::move(created)};
  return answer(Status::ok());
}

void skim_quality_probe_free(skim_quality_probe *probe) { delete probe; }

skim_status_code skim_quality_probe_measure(const skim_quality_probe *probe,
                                            const skim_operands *given,
                                            const skim_value *parameters, size_t parameter_count,
                                            const skim_probe_options *givenOptions,
                                            skim_quality_sample **sample) {
  const Versioned<skim_probe_options> options(givenOptions);
  if (!probe)
    return refuse("probe: expected a probe but got null");
  if (!options.isValid())
    return options.refusal("options");
  const Expected<Operands> operands = operandsOf(given);
  if (!operands)
    return answer(operands.status());
  const Expected<Parameters> values = parametersOf(parameters, parameter_count);
  if (!values)
    return answer(values.status());
  const Expected<QualitySample> measured =
      probe->probe.measure(*operands, *values,
                           {.seed = options->seed,
                            .threads = options->threads,
                            .pool = options->pool ? &options->pool->pool : nullptr,
                            .metrics = metricsOf(options->metrics)});
  if (!measured)
    return answer(measured.status());
  if (sample) {
    *sample = new skim_quality_sample{{}, measured->seconds};
    for (const ProbedRow &row : measured->rows)
      (*sample)->rows.push_back({row.keptMass, row.outputError});
  }
  return answer(Status::ok());
}

void skim_quality_sample_free(skim_quality_sample *sample) { delete sample; }

const skim_probed_row *skim_quality_sample_rows(const skim_quality_sample *sample, size_t *count) {
  if (count)
    *count = sample->rows.size();
  return sample->rows.data();
}

double skim_quality_sample_seconds(const skim_quality_sample *sample) { return sample->seconds; }
