#include "server/routes/schedule_preview.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/spec/schedule.h"

namespace slipway {

namespace {

constexpr std::int64_t points_max = 50;

std::int64_t count_in(const Json& one, const char* name) {
    const auto found = one.find(name);
    return found != one.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

/// As the executor cuts it: each class by itself when stratified.
std::int64_t held_back(const Json& report, const SplitSpec& split) {
    const auto share = [&](std::int64_t count) {
        return std::int64_t(std::llround(split.val_fraction * double(count)));
    };
    if (!split.stratify) return share(count_in(report, "samples"));
    std::int64_t sum = 0;
    std::int64_t unlisted = count_in(report, "samples");    // the list of classes is cut off
    for (const Json& one : report.value("classes", Json::array())) {
        sum += share(count_in(one, "count"));
        unlisted -= count_in(one, "count");
    }
    return sum + share(unlisted);
}

std::optional<std::int64_t> steps_of_epoch(const JobSpec& spec,
                                           std::optional<std::int64_t> samples) {
    if (!samples) return std::nullopt;
    const std::int64_t size = effective(spec).global_batch;
    const std::int64_t whole =
        spec.train.drop_last ? *samples / size : (*samples + size - 1) / size;
    const std::int64_t steps = std::min(whole, spec.train.batches_per_epoch.value_or(whole));
    if (steps < 1) return std::nullopt;    // the job will say why
    return steps;
}

}    // namespace

std::optional<std::int64_t> training_samples(const JobSpec& spec, const Json& report) {
    if (!report.is_object() || language_task(spec.model.arch) || !spec.data.split.group_by.empty())
        return std::nullopt;
    if (spec.data.split.train_part.empty()) {
        return count_in(report, "samples") - held_back(report, spec.data.split);
    }
    for (const Json& part : report.value("parts", Json::array()))
        if (part.value("name", "") == spec.data.split.train_part) return count_in(part, "count");
    return std::nullopt;
}

Json schedule_preview(const JobSpec& spec, std::optional<std::int64_t> samples) {
    const auto steps_per_epoch = steps_of_epoch(spec, samples);
    const bool by_epochs = !spec.train.steps || spec.train.schedule.name == ScheduleName::step;
    if (by_epochs && !steps_per_epoch) return nullptr;
    const Schedule schedule = schedule_of(spec, steps_per_epoch.value_or(1));
    const std::int64_t steps_total = steps_of(spec, steps_per_epoch.value_or(1));
    const std::int64_t last = steps_total - 1;
    const std::int64_t points = std::min(points_max, steps_total);
    Json list = Json::array();
    for (std::int64_t i = 0; i < points; ++i) {
        const std::int64_t step = points == 1 ? 0 : i * last / (points - 1);
        list.push_back({{"step", step + 1}, {"lr", lr_at(schedule, effective(spec).lr, step)}});
    }
    return {{"steps_per_epoch", steps_per_epoch ? Json(*steps_per_epoch) : Json()},
            {"steps_total", steps_total},
            {"points", std::move(list)}};
}

}    // namespace slipway
