#pragma once

#include <algorithm>
#include <string>

#include "scheduler/placement/placement.h"

namespace slipway {

/// Null when the job does not wait.
inline const WaitReason* reason_of(const Plan& plan, const std::string& id) {
    const auto found = std::ranges::find(plan.waiting, id, &WaitReason::job_id);
    return found == plan.waiting.end() ? nullptr : &*found;
}

/// Of its reason to wait, or "placed".
inline std::string code_of(const Plan& plan, const std::string& id) {
    const WaitReason* reason = reason_of(plan, id);
    return reason == nullptr ? "placed" : reason->code;
}

}    // namespace slipway
