#include "executor/train/early_stopping.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "api/base/error.h"

namespace slipway {

EarlyStopping judged(const EarlyStoppingSpec& rule, const EarlyStopping& before, double value,
                     std::int64_t step) {
    const double gain = value - before.best.value_or(0);
    const bool better =
        !before.best || (rule.mode == MetricMode::min ? -gain : gain) > rule.min_delta;
    if (better && std::isfinite(value))
        return {.best = value, .best_step = step, .without_better = 0};
    EarlyStopping after = before;
    ++after.without_better;
    return after;
}

bool ends_training(const EarlyStoppingSpec& rule, const EarlyStopping& state) {
    return state.without_better >= rule.patience;
}

std::string reason_of(const EarlyStoppingSpec& rule, const EarlyStopping& state) {
    if (!state.best)
        return fmt::format("train.early_stopping: {} was not a number in {} evaluations",
                           rule.metric, state.without_better);
    return fmt::format(
        "train.early_stopping: {} was best at step {} ({:.6g}); {} evaluations since "
        "were no better",
        rule.metric, state.best_step, *state.best, state.without_better);
}

nlohmann::json to_json(const EarlyStopping& state) {
    return {{"best", state.best ? nlohmann::json(*state.best) : nlohmann::json()},
            {"best_step", state.best_step},
            {"without_better", state.without_better}};
}

EarlyStopping early_stopping_from_json(const nlohmann::json& json) {
    try {
        EarlyStopping state{.best = {},
                            .best_step = json.at("best_step").get<std::int64_t>(),
                            .without_better = json.at("without_better").get<std::int64_t>()};
        if (!json.at("best").is_null()) state.best = json.at("best").get<double>();
        return state;
    } catch (const nlohmann::json::exception& problem) {
        throw Error(ErrorCode::data_loss,
                    std::string("the state of early stopping is damaged: ") + problem.what());
    }
}

}    // namespace slipway
