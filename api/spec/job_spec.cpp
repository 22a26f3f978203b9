#include "api/spec/job_spec.h"

#include <cmath>

namespace slipway {

bool has_batch_norm(const ModelSpec& model) {
    return traits(model.arch).has_batch_norm || has_layer(model.layers, LayerType::batch_norm);
}

bool has_embedding(const ModelSpec& model) {
    return model.arch == Arch::layers && has_layer(model.layers, LayerType::embedding);
}

bool normalizes_by_core(const JobSpec& spec) {
    return has_batch_norm(spec.model) && !normalizes_together(spec);
}

bool normalizes_together(const JobSpec& spec) {
    return has_batch_norm(spec.model) &&
           (spec.model.sync_batch_norm || spec.accelerator.cores == 1);
}

std::optional<TaskType> language_task(Arch arch) {
    return traits(arch).language_task;
}

AcceleratorSpec on_one_host(const AcceleratorSpec& accelerator) {
    AcceleratorSpec one = accelerator;
    if (one.slice) one.cores = host_cores;
    one.slice.reset();
    return one;
}

EffectiveValues effective(const JobSpec& spec) {
    EffectiveValues values;
    values.world_size = spec.accelerator.cores;
    values.global_batch =
        values.world_size * spec.train.batch_size_per_core * spec.train.grad_accumulation;
    values.precision = spec.train.precision;
    const OptimizerSpec& optimizer = spec.train.optimizer;
    switch (optimizer.lr_scaling) {
        case LrScaling::none:
            values.lr = optimizer.lr;
            break;
        case LrScaling::linear:
            values.lr = optimizer.lr * double(values.world_size);
            break;
        case LrScaling::sqrt:
            values.lr = optimizer.lr * std::sqrt(double(values.world_size));
            break;
    }
    return values;
}

}    // namespace slipway
