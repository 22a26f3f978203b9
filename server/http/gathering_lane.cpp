// Group commit one level higher than the store's (scheduler/store/pg/group_commit.h). There each
// request has a thread, and threads wait for each other: with small requests two fifths of the CPU
// time went into that. Here requests wait in a queue; a thread takes all of them, calls handler
// after handler, stores what they leave with one statement and answers all of them. One request
// alone is handled at once, by one thread.
//
// While one thread stores, another one handles those that have come meanwhile, so that the database
// and the handlers keep both CPUs busy and the next statement is as large as it can be. Tried: one
// thread for both steps (2,450 requests a second of 16 clients, a third of a CPU idle), two such
// threads (2,600: groups are half as large, and a request costs a quarter more), these two steps
// (see docs/decisions/0043).
//
// A handler must not block for long: those behind it in its group wait with it. Those in the queue
// do not, since a timer begins another thread when a step is late.
#include "server/http/gathering_lane.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

namespace slipway {

GatheringLane::GatheringLane(asio::thread_pool& threads, MakeGathering make, GatheringLimits limits)
    : threads_(threads), make_(std::move(make)), limits_(limits), timer_(threads.get_executor()) {}

void GatheringLane::add(GatheredRequest request) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(request));
    // A thread that stores handles what has come meanwhile when it is done.
    const std::size_t enough = storing_.threads > 0 ? limits_.overlap_min : 1;
    if (waiting_.size() >= enough && running_ == storing_.threads) begin_thread();
}

/// With mutex_ held, as all below but run() and look().
bool GatheringLane::may_begin(const Step& step) const {
    if (step.threads == 0) return true;
    return step.threads < limits_.patient_threads_max &&
           system_clock().tick() - step.began_at >= limits_.patience;
}

void GatheringLane::begin_thread() {
    ++running_;
    asio::post(threads_, [this] { run(); });
    if (!std::exchange(watched_, true)) watch();
}

void GatheringLane::run() {
    std::unique_lock lock(mutex_);
    while (handle_some(lock) || store_all(lock)) {
    }
    --running_;
}

/// False: there is nothing to handle, or another thread is at it.
bool GatheringLane::handle_some(std::unique_lock<std::mutex>& lock) {
    if (waiting_.empty() || !may_begin(handling_)) return false;
    Group group;
    while (!waiting_.empty() && group.requests.size() < limits_.requests_max) {
        group.requests.push_back(std::move(waiting_.front()));
        waiting_.pop_front();
    }
    ++handling_.threads;
    handling_.began_at = system_clock().tick();
    lock.unlock();
    group.gathering = make_();
    for (GatheredRequest& request : group.requests)
        request.handle(*group.gathering);
    lock.lock();
    --handling_.threads;
    handled_.push_back(std::move(group));
    return true;
}

/// False: there is nothing to store, or another thread is at it.
bool GatheringLane::store_all(std::unique_lock<std::mutex>& lock) {
    if (handled_.empty() || !may_begin(storing_)) return false;
    std::vector<Group> groups = std::exchange(handled_, {});
    ++storing_.threads;
    storing_.began_at = system_clock().tick();
    lock.unlock();
    for (std::size_t i = 1; i < groups.size(); ++i)
        groups.front().gathering->join(*groups[i].gathering);
    groups.front().gathering->run();
    lock.lock();
    --storing_.threads;
    if (!handled_.empty()) begin_thread();    // stores them while this one answers
    lock.unlock();
    for (const Group& group : groups) {
        for (const GatheredRequest& request : group.requests) {
            request.answer();
            request.done();
        }
    }
    lock.lock();
    return true;
}

void GatheringLane::watch() {
    timer_.expires_after(limits_.patience);
    timer_.async_wait([this](const auto&) { look(); });
}

void GatheringLane::look() {
    const std::lock_guard lock(mutex_);
    if ((!waiting_.empty() && may_begin(handling_)) || (!handled_.empty() && may_begin(storing_)))
        begin_thread();
    watched_ = running_ > 0;
    if (watched_) watch();
}

}    // namespace slipway
