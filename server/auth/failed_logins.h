#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/base/clock.h"
#include "api/base/log_rate.h"

namespace slipway {

/// What is noted of a sign-in that failed.
struct FailedLogin {
    std::string token_id = {};    ///< the token that was meant, when it is known
    std::string reason;
    std::uint64_t suppressed = 0;    ///< failures before this one that were not noted
};

/// Which failed sign-ins are noted: strangers make as many as they like, and one who makes many
/// must not keep those of others out. Of one address `burst_of_address` at once, then one a minute;
/// of all together `burst_of_all`, then one every five seconds. Safe from every thread.
class FailedLogins {
public:
    static constexpr int burst_of_address = 5;
    static constexpr int burst_of_all = 100;
    static constexpr std::size_t addresses_max = 1024;

    /// None: this one is not to be noted. Else how many were not since the last that was.
    std::optional<std::uint64_t> admit(std::string_view address, Tick now);

private:
    std::mutex mutex_;
    // guarded by mutex_
    std::unordered_map<std::string, LogRate> of_address_;    // forgotten together when full
    LogRate of_all_{0.2, burst_of_all};
    std::uint64_t suppressed_ = 0;
};

}    // namespace slipway
