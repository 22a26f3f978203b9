#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec/spelling.h"

namespace slipway {

// The part `train` of a job spec, as job_spec.h the whole.

enum class OptimizerName { sgd, adam, adamw, lamb };
enum class LrScaling { none, linear, sqrt };
enum class ScheduleName { constant, step, cosine, linear, one_cycle };
/// bf16: products of bf16 values; weights, the optimizer's state and all sums are f32. bf16_true:
/// everything but metrics and sums over the cores is bf16, the update of the weights too.
enum class Precision { f32, bf16, bf16_true };
enum class MetricMode { min, max };

/// One of `train.optimizer.groups`.
struct ParameterGroupSpec {
    std::string match;    ///< a pattern of names: * stands for any text
    double lr_scale = 1;
    bool operator==(const ParameterGroupSpec&) const = default;
};

/// The word of `train.optimizer.decay_exempt` for biases and for scales of norms.
inline constexpr std::string_view one_dimensional_word = "one_dimensional";

/// `train.optimizer`. `momentum` and `nesterov` belong to sgd, `betas` and `eps` to the others.
struct OptimizerSpec {
    OptimizerName name = OptimizerName::sgd;
    double lr = 0;    ///< required, > 0
    LrScaling lr_scaling = LrScaling::none;
    double weight_decay = 0;
    double momentum = 0;
    bool nesterov = false;
    std::array<double, 2> betas{0.9, 0.999};
    double eps = 1e-8;
    std::optional<double> clip_norm = {};    ///< absent: gradients are not clipped
    /// Patterns of names, or one_dimensional_word.
    std::vector<std::string> decay_exempt = {};
    std::vector<ParameterGroupSpec> groups = {};
    bool operator==(const OptimizerSpec&) const = default;
};

/// `train.schedule`. `step_epochs` and `gamma` belong to step, `warmup_steps` to cosine and linear,
/// `min_lr` to cosine, the last three to one_cycle.
struct ScheduleSpec {
    ScheduleName name = ScheduleName::constant;
    std::int64_t step_epochs = 1;
    double gamma = 0.1;
    std::int64_t warmup_steps = 0;
    double min_lr = 0;
    double warmup_fraction = 0.3;
    double div_factor = 25;
    double final_div_factor = 1e4;
    std::optional<std::int64_t> length{};    ///< in epochs, or steps as the job's; none: the job's
    bool operator==(const ScheduleSpec&) const = default;
};

/// `train.ema`: a moving average of the weights.
struct EmaSpec {
    double decay = 0;    ///< required, in (0, 1)
    bool operator==(const EmaSpec&) const = default;
};

/// `train.early_stopping`. Metrics are those of the validation part.
struct EarlyStoppingSpec {
    std::string metric = "val_loss";
    MetricMode mode = MetricMode::min;    ///< default: max for val_accuracy, else min
    std::int64_t patience = 0;            ///< required, >= 1: evaluations without a better value
    double min_delta = 0;                 ///< what a better value is better by, at least
    bool operator==(const EarlyStoppingSpec&) const = default;
};

/// `train`. Exactly one of `epochs` and `steps` is set.
struct TrainSpec {
    std::optional<std::int64_t> epochs;
    std::optional<std::int64_t> steps;
    std::int64_t batch_size_per_core = 32;
    std::int64_t grad_accumulation = 1;    ///< batches of each core whose gradients a step adds up
    std::optional<std::int64_t> batches_per_epoch;    ///< absent: the whole training part
    bool drop_last = true;                            ///< always true with batch norm
    bool shuffle = true;
    std::int64_t seed = 0;
    bool deterministic = true;
    Precision precision = Precision::f32;
    OptimizerSpec optimizer;
    ScheduleSpec schedule;
    std::optional<EmaSpec> ema;                         ///< absent: none is kept
    std::optional<EarlyStoppingSpec> early_stopping;    ///< absent: it trains to its end
    bool operator==(const TrainSpec&) const = default;
};

template <>
struct Spelling<OptimizerName> {
    static constexpr std::array<std::string_view, 4> words{"sgd", "adam", "adamw", "lamb"};
};
template <>
struct Spelling<LrScaling> {
    static constexpr std::array<std::string_view, 3> words{"none", "linear", "sqrt"};
};
template <>
struct Spelling<ScheduleName> {
    static constexpr std::array<std::string_view, 5> words{"constant", "step", "cosine", "linear",
                                                           "one_cycle"};
};
template <>
struct Spelling<Precision> {
    static constexpr std::array<std::string_view, 3> words{"f32", "bf16", "bf16_true"};
};
template <>
struct Spelling<MetricMode> {
    static constexpr std::array<std::string_view, 2> words{"min", "max"};
};

}    // namespace slipway
