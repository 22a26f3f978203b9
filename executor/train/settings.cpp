#include "executor/train/settings.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace slipway {

std::int64_t part_count(const JobSpec& spec, int threads) {
    constexpr std::int64_t deterministic_parts = 8;
    const std::int64_t cores = spec.accelerator.cores;
    if (normalizes_by_core(spec)) return cores;
    const std::int64_t wanted = std::max<std::int64_t>(
        1, spec.train.deterministic ? deterministic_parts / cores : threads / cores);
    const auto per_core = std::int64_t(std::bit_floor(std::uint64_t(wanted)));
    return cores * std::gcd(per_core, spec.train.batch_size_per_core);
}

SamplerOptions sampler_options(const JobSpec& spec, int threads) {
    const std::int64_t parts = part_count(spec, threads);
    return {.seed = std::uint64_t(spec.train.seed),
            .batch_size_per_core = spec.train.batch_size_per_core * spec.accelerator.cores / parts,
            .cores = parts,
            .named_cores = spec.accelerator.cores,
            .batches_per_step = spec.train.grad_accumulation,
            .shuffle = spec.train.shuffle,
            .drop_last = spec.train.drop_last,
            .steps_per_epoch = spec.train.batches_per_epoch.value_or(0),
            .epochs = spec.train.epochs.value_or(0)};
}

PrecisionPolicy precision_policy(Precision precision) {
    switch (precision) {
        case Precision::f32:
            return PrecisionPolicy::f32;
        case Precision::bf16:
            return PrecisionPolicy::bf16;
        case Precision::bf16_true:
            return PrecisionPolicy::bf16_true;
    }
    return PrecisionPolicy::f32;
}

TrainSettings make_settings(const JobSpec& spec, std::int64_t steps_per_epoch, int threads) {
    const OptimizerSpec& optimizer = spec.train.optimizer;
    TrainSettings settings;
    settings.steps_per_epoch = steps_per_epoch;
    settings.log_every_steps = spec.monitor.log_every_steps;
    settings.save_every_steps = spec.checkpoint.every_steps;
    settings.save_every_epochs = spec.checkpoint.every_epochs;
    settings.save_final = spec.checkpoint.save_final;
    settings.keep = {.metric = spec.checkpoint.best.metric,
                     .smaller_is_better = spec.checkpoint.best.mode == MetricMode::min,
                     .best = spec.checkpoint.best.keep,
                     .last = spec.checkpoint.keep_last};
    settings.early_stopping = spec.train.early_stopping;
    settings.hyper = {.lr = effective(spec).lr,
                      .momentum = optimizer.momentum,
                      .weight_decay = optimizer.weight_decay,
                      .beta1 = optimizer.betas[0],
                      .beta2 = optimizer.betas[1],
                      .eps = optimizer.eps,
                      .clip_norm = optimizer.clip_norm.value_or(0),
                      .ema_decay = spec.train.ema ? spec.train.ema->decay : 0};
    for (const ParameterGroupSpec& group : optimizer.groups)
        settings.hyper.lr_scales.push_back(group.lr_scale);
    settings.schedule = schedule_of(spec, steps_per_epoch);
    settings.steps_total = steps_of(spec, steps_per_epoch);
    settings.epochs = (settings.steps_total + steps_per_epoch - 1) / steps_per_epoch;
    settings.schedule_name = to_string(spec.train.schedule.name);
    settings.parts = int(part_count(spec, threads));
    return settings;
}

Hyper hyper_at(const TrainSettings& settings, std::int64_t step, std::int64_t label_count) {
    Hyper hyper = settings.hyper;
    hyper.lr = lr_at(settings.schedule, settings.hyper.lr, step);
    hyper.step = step + 1;
    hyper.label_count = double(label_count);
    hyper.core_count = settings.parts;
    return hyper;
}

}    // namespace slipway
