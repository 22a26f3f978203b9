#pragma once

#include <string>

#include "executor/measure/metrics.h"

namespace slipway {

/// "04m22s555ms668.071us": parts from the largest that is not 0 on, as PyTorch/XLA writes them.
std::string format_parts(double seconds);

/// All metrics that have samples, then all counters that are not 0, in the text form that users of
/// PyTorch/XLA's metrics report know:
///   Metric: CompileTime
///     TotalSamples: 5
///     Accumulator: 28s920ms153.731us
///     ValueRate: 092ms152.037us / second
///     Rate: 0.0165028 / second
///     Percentiles: 1%=428ms053.505us; …
///   Counter: CachedCompile
///     Value: 1215
std::string metrics_text(const Metrics& metrics);

}    // namespace slipway
