#pragma once

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "api/base/clock.h"
#include "server/http/gathering.h"

namespace slipway {

namespace asio = boost::asio;

struct GatheringLimits {
    std::size_t requests_max = 64;    ///< handled one after the other
    /// So many must wait for a second thread to begin with them while others are being stored.
    std::size_t overlap_min = 4;
    /// A thread that takes longer for its step (the store waits for a lock) holds the others up no
    /// further: another one begins beside it.
    std::chrono::milliseconds patience{20};
    int patient_threads_max = 4;    ///< for each of the two steps
};

/// A request that is handled with others. None of these throws.
struct GatheredRequest {
    std::function<void(Gathering&)> handle;
    std::function<void()> answer;    ///< after the gathering has run
    std::function<void()> done;      ///< it is answered
};

/// The requests of one route that wait, handled together in two steps: their handlers one after the
/// other; then, for all whose handlers have returned meanwhile, the gathering and the answers. Safe
/// from every thread.
class GatheringLane {
public:
    /// `threads` outlives it, and has ended its work before the lane ends.
    GatheringLane(asio::thread_pool& threads, MakeGathering make, GatheringLimits limits = {});

    /// Handled at once when nothing is under way, else with those that come meanwhile.
    void add(GatheredRequest request);

private:
    /// Requests and what their handlers have left to be done.
    struct Group {
        std::vector<GatheredRequest> requests;
        std::unique_ptr<Gathering> gathering;
    };
    /// The threads that are at one of the two steps.
    struct Step {
        int threads = 0;
        Tick began_at{};    ///< the last of them
    };

    bool may_begin(const Step& step) const;
    void begin_thread();
    void run();
    bool handle_some(std::unique_lock<std::mutex>& lock);
    bool store_all(std::unique_lock<std::mutex>& lock);
    void watch();
    void look();

    asio::thread_pool& threads_;
    const MakeGathering make_;
    const GatheringLimits limits_;
    std::mutex mutex_;
    // Guarded by mutex_:
    std::deque<GatheredRequest> waiting_;
    std::vector<Group> handled_;
    Step handling_;
    Step storing_;
    int running_ = 0;         // threads that have begun and not ended
    bool watched_ = false;    // the timer runs, as long as threads do
    asio::steady_timer timer_;
};

}    // namespace slipway
