// A client may hold as many threads as are free, and as many places of the queue: one client alone
// gets half of each, and the next one always finds some. Of the clients that may begin, the one
// with the fewest running requests is next, then the one whose request has waited longest. Tried:
// one queue for all, in which 40 long lists of one client held up a short one of another for 2.6 s.
#include "server/http/fair_lane.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <memory>
#include <tuple>
#include <utility>

namespace slipway {

bool FairLane::add(Client client, Work work) {
    const std::lock_guard lock(mutex_);
    Requests& requests = clients_[client];
    const std::size_t places = limits_.waiting - std::min(waiting_, limits_.waiting);
    if (places == 0 || requests.waiting.size() >= std::max<std::size_t>(1, places)) {
        if (requests.running == 0 && requests.waiting.empty()) clients_.erase(client);
        return false;
    }
    requests.waiting.push_back({.number = ++added_, .work = std::move(work)});
    ++waiting_;
    begin_all();
    if (!requests.waiting.empty()) requests.waiting.back().waited = true;
    return true;
}

std::uint64_t FairLane::added() const {
    const std::lock_guard lock(mutex_);
    return added_;
}

/// With mutex_ held, as begin_all() and end().
std::optional<FairLane::Begun> FairLane::begin_next() {
    const std::size_t free = limits_.threads - running_;
    if (free == 0) return std::nullopt;
    const auto may_begin = [&](const Requests& requests) {
        return !requests.waiting.empty() && requests.running < std::min(free, limits_.of_client);
    };
    const auto rank = [](const Requests& requests) {
        return std::tuple(requests.running, requests.waiting.front().number);
    };
    auto next = clients_.end();
    for (auto one = clients_.begin(); one != clients_.end(); ++one)
        if (may_begin(one->second) &&
            (next == clients_.end() || rank(one->second) < rank(next->second)))
            next = one;
    if (next == clients_.end()) return std::nullopt;
    Requests& requests = next->second;
    Begun begun{.client = next->first, .request = std::move(requests.waiting.front())};
    requests.waiting.pop_front();
    ++requests.running;
    ++running_;
    --waiting_;
    return begun;
}

void FairLane::begin_all() {
    while (auto next = begin_next()) {
        // Shared: a function object must be copyable.
        auto begun = std::make_shared<Begun>(std::move(*next));
        asio::post(threads_, [this, begun] { run(std::move(*begun)); });
    }
}

void FairLane::run(Begun begun) {
    for (std::optional<Begun> next = std::move(begun); next;) {
        next->request.work(next->request.waited);
        const std::lock_guard lock(mutex_);
        end(next->client);
        next = begin_next();
        begin_all();
    }
}

void FairLane::end(Client client) {
    --running_;
    const auto found = clients_.find(client);
    if (--found->second.running == 0 && found->second.waiting.empty()) clients_.erase(found);
}

}    // namespace slipway
