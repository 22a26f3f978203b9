#include "server/auth/request_rates.h"

#include <algorithm>
#include <chrono>

namespace slipway {

double RequestRates::room_of(const Bucket& bucket, Tick now) const {
    const std::chrono::duration<double> passed = now - bucket.at;
    return std::min(burst_, bucket.room + std::max(passed.count(), 0.0) * per_s_);
}

// A token that has used nothing lately is as good as one that was never seen.
void RequestRates::forget_full(Tick now) {
    std::erase_if(buckets_, [&](const auto& one) { return room_of(one.second, now) >= burst_; });
    if (buckets_.size() >= tokens_max) buckets_.clear();
}

std::optional<double> RequestRates::admit(std::string_view token_id, Tick now) {
    if (per_s_ <= 0) return std::nullopt;
    std::string key(token_id);
    const std::lock_guard lock(mutex_);
    if (buckets_.size() >= tokens_max && !buckets_.contains(key)) forget_full(now);
    Bucket& bucket = buckets_.try_emplace(std::move(key), Bucket{burst_, now}).first->second;
    const double room = room_of(bucket, now);
    const bool fits = room >= 1;
    bucket = {fits ? room - 1 : room, now};
    return fits ? std::nullopt : std::optional((1 - room) / per_s_);
}

}    // namespace slipway
