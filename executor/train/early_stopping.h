#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include "api/spec/job_spec.h"

namespace slipway {

/// How evaluations have gone so far: part of every checkpoint.
struct EarlyStopping {
    std::optional<double> best;    ///< none before the first evaluation
    std::int64_t best_step = 0;
    std::int64_t without_better = 0;    ///< evaluations in a row
    bool operator==(const EarlyStopping&) const = default;
};

/// After an evaluation at `step`. Pure. Better is better by more than min_delta; what is no number
/// never is.
EarlyStopping judged(const EarlyStoppingSpec& rule, const EarlyStopping& before, double value,
                     std::int64_t step);

/// Whether the patience is used up.
bool ends_training(const EarlyStoppingSpec& rule, const EarlyStopping& state);

/// Why it ends, for people: the metric, its best value and where that was.
std::string reason_of(const EarlyStoppingSpec& rule, const EarlyStopping& state);

nlohmann::json to_json(const EarlyStopping& state);
/// errors  data_loss when the JSON has another form
EarlyStopping early_stopping_from_json(const nlohmann::json& json);

}    // namespace slipway
