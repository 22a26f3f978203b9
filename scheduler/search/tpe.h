#pragma once

#include <memory>

#include "scheduler/search/sampler.h"

namespace slipway::search {

/// Tree-structured Parzen estimator (Bergstra et al., 2011), multivariate: the best tenth of the
/// results (at most 25) and the others are each described by a mixture of kernels, one for each
/// result, over all parameters together; of `candidates` points drawn from the first mixture, the
/// one with the greatest ratio of both densities is next. Trials that were stopped or paused come
/// after the completed ones, those that went further first. NaN counts as worst. With
/// constant_liar, running trials count as bad results. The first startup_trials points are a
/// scrambled Sobol sequence.
std::unique_ptr<Sampler> tpe_sampler(const SamplerSpec& spec, const SamplerInputs& inputs);

}    // namespace slipway::search
