#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "api/spec/job_spec.h"

namespace slipway {

/// What of a spec decides how a job trains, as a checkpoint keeps it: not its name, its labels, its
/// place in the queue, its limits, and what it reports.
nlohmann::json trained_spec(const JobSpec& spec);

/// In what `now` differs from the spec that trained_spec kept: "train.optimizer.lr: 0.1 -> 0.01".
/// At most 10, the last of which then says how many more there are.
std::vector<std::string> spec_changes(const nlohmann::json& before, const JobSpec& now);

}    // namespace slipway
