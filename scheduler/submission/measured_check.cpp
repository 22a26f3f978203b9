#include "scheduler/submission/measured_check.h"

#include <fmt/format.h>

namespace slipway::submission {

std::vector<Problem> check_measured(const JobSpec& spec) {
    const BestSpec& best = spec.checkpoint.best;
    if (has_validation(spec.data.split) || best.metric == BestSpec{}.metric) return {};
    return {{.pointer = "/checkpoint/best/metric",
             .code = "inconsistent",
             .message = fmt::format("checkpoint.best.metric is {}, which needs validation samples, "
                                    "and {}; raise it, or leave checkpoint.best.metric out",
                                    best.metric, no_validation_reason(spec.data.split))}};
}

void forget_unmeasured(JobSpec& spec) {
    if (has_validation(spec.data.split)) return;
    const std::int64_t keep = spec.checkpoint.best.keep;
    spec.checkpoint.best = {.keep = keep};
}

bool has_validation(const SplitSpec& split) {
    return split.val_fraction > 0 || !split.id.empty() || !split.train_part.empty();
}

std::string no_validation_reason(const SplitSpec& split) {
    return fmt::format("data.split.val_fraction is {}", split.val_fraction);
}

}    // namespace slipway::submission
