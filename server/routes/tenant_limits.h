#pragma once

#include <cstdint>

namespace slipway {

/// What one token or one project may hold at a time; above it 429. 0: no limit. Each has an option
/// of slipwayd and is told by GET /v1/capabilities.
struct TenantLimits {
    std::int64_t queued_jobs = 50'000;       ///< of a project, and of a token
    std::int64_t checking_datasets = 100;    ///< of a project, and of a token
    std::int64_t making_splits = 100;        ///< of a project, and of a token
    std::int64_t active_sweeps = 1000;       ///< of a project: that have not ended
    std::int64_t projects = 100;             ///< that were new when a token used them
    std::int64_t open_uploads = 100;         ///< of a token
    /// Of a project, and of a token: uploads, and what was unpacked of them.
    std::int64_t stored_bytes = std::int64_t{512} << 30;
    std::int64_t tokens = 1000;              ///< that are valid and descend from one token
    std::int64_t members = 10'000;           ///< of a project
    std::int64_t webhooks = 20;              ///< of a project
    std::int64_t requests_per_s = 10'000;    ///< of a token, in each process
    std::int64_t requests_burst = 20'000;    ///< of a token at once
};

}    // namespace slipway
