#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api/base/result.h"

namespace slipway {

/// Wall time, UTC, microseconds: for people and records. Never for measuring or for leases.
using Instant = std::chrono::sys_time<std::chrono::microseconds>;
/// Monotonic time: for waiting and measuring.
using Tick = std::chrono::steady_clock::time_point;

/// The only source of time; passed as an argument so that tests can own it.
class Clock {
public:
    virtual ~Clock() = default;
    virtual Instant now() const = 0;
    virtual Tick tick() const = 0;
};

/// The machine's clock. Safe from every thread.
const Clock& system_clock();

/// "2026-11-20T20:37:00.123456Z" (RFC 3339, always six digits).
std::string to_rfc3339(Instant instant);
/// The inverse; accepts "Z" and 0 to 6 digits of fraction. Anything else is invalid_argument.
Result<Instant> parse_rfc3339(std::string_view text);

}    // namespace slipway
