// Everything that a spec says is compared, field by field, and what may differ is listed: a field
// that is added to the spec later is refused until somebody has thought about it. What may differ
// has no part in the saved state (weights, moments of the optimizer, the place in the data): it is
// looked at again in each step, or only reported.
#include "scheduler/submission/continued_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"

namespace slipway::submission {

namespace {

/// Fields, each with all that is below it. The first weights do not matter any more, and where the
/// dataset is the same its name and its version are other words for it.
constexpr auto may_change = std::to_array<std::string_view>({
    "/name",
    "/project",
    "/labels",
    "/model/dropout",
    "/model/init",
    "/task/label_smoothing",
    "/task/metrics",
    "/data/dataset",
    "/data/version",
    "/data/augment",
    "/data/normalize",
    "/data/packed",
    "/data/truncated_images",
    "/train/epochs",
    "/train/steps",
    "/train/deterministic",
    "/train/optimizer/lr",
    "/train/optimizer/lr_scaling",
    "/train/optimizer/weight_decay",
    "/train/optimizer/betas",
    "/train/optimizer/eps",
    "/train/optimizer/clip_norm",
    "/train/optimizer/decay_exempt",
    "/train/optimizer/groups",
    "/train/schedule",
    "/train/early_stopping/patience",
    "/train/early_stopping/min_delta",
    "/checkpoint",
    "/monitor",
    "/limits",
    "/queue",
});

bool is_below(std::string_view pointer, std::string_view field) {
    return pointer.starts_with(field) &&
           (pointer.size() == field.size() || pointer[field.size()] == '/');
}

bool is_free(std::string_view pointer) {
    return std::ranges::any_of(may_change,
                               [&](std::string_view field) { return is_below(pointer, field); });
}

/// The spec by pointers to its values. Of the accelerator only the number of cores counts.
Json fields_of(const JobSpec& spec, bool stops_early) {
    Json whole = encode(spec);
    whole["accelerator"] = {{"cores", spec.accelerator.cores}};
    // The rule may come and go; what it has counted is of its metric.
    if (!stops_early) whole["train"].erase("early_stopping");
    return whole.flatten();
}

}    // namespace

std::vector<Problem> check_continued(const JobSpec& before, const JobSpec& now) {
    const bool stops_early = before.train.early_stopping && now.train.early_stopping;
    const Json old_fields = fields_of(before, stops_early);
    const Json new_fields = fields_of(now, stops_early);
    std::set<std::string> pointers;
    for (const Json* fields : {&old_fields, &new_fields})
        for (const auto& [pointer, value] : fields->items())
            pointers.insert(pointer);
    std::vector<Problem> problems;
    for (const std::string& pointer : pointers) {
        const Json was = old_fields.value(pointer, Json());
        const Json is = new_fields.value(pointer, Json());
        if (was == is || is_free(pointer)) continue;
        problems.push_back(
            {.pointer = pointer,
             .code = "inconsistent",
             .message = fmt::format("{} must stay {} to continue from a checkpoint, got {}; keep "
                                    "it, or set start to weights or scratch",
                                    dotted_path(pointer), was.dump(), is.dump())});
    }
    return problems;
}

}    // namespace slipway::submission
