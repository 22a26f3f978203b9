#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/base/json.h"
#include "api/protocol/run_position.h"
#include "executor/data/sampler.h"
#include "executor/data/samples.h"
#include "executor/runtime/run_times.h"

namespace slipway {

/// Where a run was when an error ended it.
struct FailedWork {
    std::int64_t step = 0;
    std::optional<SamplerPosition> batch = {};    ///< the last that was begun; none: none was
    std::string_view program = {};                ///< that ran; empty: none did
    std::optional<FailedStep> failed = {};        ///< of the program
    const RunPosition* position = nullptr;        ///< knows the phase; null: nobody does
};

/// What AttemptPlan::on_failure is told. The samples of the batch are drawn again: a sampler is a
/// function of its position.
Json describe_failure(const FailedWork& work, const Sampler& sampler, const SampleShape& shape);

}    // namespace slipway
