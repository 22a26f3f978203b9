#include "server/routes/long_poll.h"

#include "server/routes/query.h"

namespace slipway {
namespace {

constexpr double look_every_s = 0.2;
constexpr std::size_t remembered_max = 4096;
constexpr std::chrono::minutes forget_after{2};    // longer than any wait: its client is gone

}    // namespace

std::optional<Response> LongPolls::wait(const Request& request, const std::string& present,
                                        bool settled) {
    const auto wanted_s = preferred_wait_s(request);
    if (!wanted_s) return std::nullopt;
    const std::string key = request.request_id + " " + request.peer + " " + request.path;
    const std::lock_guard lock(mutex_);
    const Tick now = clock_.tick();
    if (request.waited_s <= 0) {
        if (settled) return std::nullopt;
        std::erase_if(first_, [&](const auto& one) { return now - one.second.at > forget_after; });
        if (first_.size() >= remembered_max) return std::nullopt;
        first_[key] = {present, now};
    } else {
        const auto first = first_.find(key);
        const bool changed = first == first_.end() || first->second.seen != present;
        if (changed || settled || request.waited_s >= *wanted_s) {
            if (first != first_.end()) first_.erase(first);
            return std::nullopt;
        }
    }
    Response later;
    later.again_after_s = std::min(look_every_s, *wanted_s);
    return later;
}

}    // namespace slipway
