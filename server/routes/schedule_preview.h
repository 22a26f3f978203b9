#pragma once

#include <cstdint>
#include <optional>

#include "api/base/json.h"
#include "api/spec/job_spec.h"

namespace slipway {

/// How many samples of a dataset a job trains on, told from the dataset's report; none where only
/// the executor can tell: groups, and text, whose samples a tokenizer makes.
std::optional<std::int64_t> training_samples(const JobSpec& spec, const Json& report);

/// The learning rate of the whole run, before it runs:
///   {"steps_per_epoch": number or null, "steps_total": number, "points": [{"step", "lr"}…]}
/// with at most 50 points evenly over the steps, the first and the last among them; step 1 is the
/// first. Null where the number of steps is not known.
///   samples  that it trains on; none: not known
Json schedule_preview(const JobSpec& spec, std::optional<std::int64_t> samples);

}    // namespace slipway
