#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/train/reporter.h"

namespace slipway {

/// How a run ended when nothing was thrown.
struct TrainOutcome {
    StopReason stopped = StopReason::none;    ///< none: it ran to its end
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    std::string stopped_early;    ///< why train.early_stopping ended it; empty: it did not
    std::optional<std::pair<std::string, double>> best;          ///< the best checkpoint's metric
    std::vector<std::pair<std::string, double>> final_values;    ///< the last evaluation
};

}    // namespace slipway
