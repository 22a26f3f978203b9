#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "executor/runtime/exchange_plan.h"
#include "executor/runtime/process_sums.h"
#include "executor/runtime/run_times.h"

namespace slipway {

/// Combines the parts of a run with the other processes, on a thread of its own, while the workers
/// go on. One run at a time: begin(), then each worker arrives at each part once, in order, and
/// waits before it needs one; then finish().
class Exchange {
public:
    explicit Exchange(Collectives& collectives);
    ~Exchange();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    /// parts  what this process has of each part; its memory is left alone until it has come
    void begin(std::vector<std::vector<ProcessValues>> parts, int workers);
    /// What the calling worker contributes to the next part is there.
    void arrive(std::size_t part);
    /// Until the first `count` parts have come.
    /// errors  what ended the exchange
    void wait_for(std::uint32_t count);
    /// Nothing more is sent in this run, whatever arrives.
    void give_up();
    /// Until the thread is done with the run. All have arrived at all parts, or somebody gave up.
    void finish();

    /// When each part was combined, in the last run.
    std::span<const SumSpan> spans() const { return spans_; }

private:
    void live();
    void combine_parts(std::unique_lock<std::mutex>& lock);

    Collectives& collectives_;
    std::vector<std::byte> packed_;    ///< the thread's
    std::vector<SumSpan> spans_;       ///< the thread's during a run
    std::mutex mutex_;
    std::condition_variable changed_;
    // Guarded by mutex_; what `parts_` points to is the thread's from the part's last arrival on.
    std::vector<std::vector<ProcessValues>> parts_;
    std::vector<int> arrived_;    ///< by part
    int workers_ = 1;
    std::uint32_t come_ = 0;
    bool is_running_ = false, gave_up_ = false, is_ending_ = false;
    std::exception_ptr error_;
    std::thread thread_;    // last: it uses the others
};

}    // namespace slipway
