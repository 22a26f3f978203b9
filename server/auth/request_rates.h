#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "api/base/clock.h"

namespace slipway {

/// How many requests a token may send: `burst` at once, then `per_s` (a token bucket). Each process
/// counts for itself. Safe from every thread.
class RequestRates {
public:
    static constexpr std::size_t tokens_max = 10'000;    ///< that are remembered

    /// per_s  0: no limit
    RequestRates(double per_s, double burst) : per_s_(per_s), burst_(burst) {}

    /// None: the request may come. Else after how many seconds the next one may.
    std::optional<double> admit(std::string_view token_id, Tick now);

    double per_s() const { return per_s_; }

private:
    struct Bucket {
        double room = 0;
        Tick at{};
    };
    double room_of(const Bucket& bucket, Tick now) const;
    void forget_full(Tick now);

    const double per_s_;
    const double burst_;
    std::mutex mutex_;
    std::unordered_map<std::string, Bucket> buckets_;    // guarded by mutex_
};

}    // namespace slipway
