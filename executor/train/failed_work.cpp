#include "executor/train/failed_work.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace slipway {

namespace {

/// Of the batch that a failure names; more are not looked at one by one.
constexpr std::size_t samples_max = 256;

std::optional<GlobalBatch> batch_at(Sampler sampler, const SamplerPosition& position) {
    const std::int64_t in_step = position.batch % sampler.options().batches_per_step;
    sampler.seek({position.epoch, position.batch - in_step});
    std::optional<GlobalBatch> batch;
    for (std::int64_t i = 0; i <= in_step; ++i)
        batch = sampler.next();
    return batch;
}

}    // namespace

Json describe_failure(const FailedWork& work, const Sampler& sampler, const SampleShape& shape) {
    Json where{{"step", work.step}, {"epoch", nullptr}, {"batch", nullptr}};
    where["program"] = nullptr;
    where["operation"] = nullptr;
    where["replica"] = nullptr;
    if (work.position != nullptr) where["phase"] = phase_of(*work.position);
    if (work.failed) {
        where["program"] = work.program;
        where["operation"] = work.failed->name;
        if (work.failed->replica >= 0) where["replica"] = work.failed->replica;
    }
    if (!work.batch) return where;
    where["epoch"] = work.batch->epoch + 1;
    where["batch"] = work.batch->batch;
    std::optional<GlobalBatch> batch = batch_at(sampler, *work.batch);
    if (!batch) return where;
    std::erase(batch->samples, GlobalBatch::padding);
    where["sample_count"] = batch->samples.size();
    batch->samples.resize(std::min(batch->samples.size(), samples_max));
    where["samples"] = batch->samples;
    where["shapes"] = {{"features", shape.features.dims}, {"labels", shape.labels.dims}};
    return where;
}

}    // namespace slipway
