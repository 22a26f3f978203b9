#include "server/auth/failed_logins.h"

#include <tuple>
#include <utility>

namespace slipway {

std::optional<std::uint64_t> FailedLogins::admit(std::string_view address, Tick now) {
    const std::lock_guard lock(mutex_);
    std::string key(address);
    if (of_address_.size() >= addresses_max && !of_address_.contains(key)) of_address_.clear();
    LogRate& rate = of_address_
                        .emplace(std::piecewise_construct, std::forward_as_tuple(std::move(key)),
                                 std::forward_as_tuple(1.0 / 60, burst_of_address))
                        .first->second;
    if (!rate.admit(now) || !of_all_.admit(now)) {
        ++suppressed_;
        return std::nullopt;
    }
    return std::exchange(suppressed_, 0);
}

}    // namespace slipway
