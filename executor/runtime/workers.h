#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "executor/runtime/barrier.h"

namespace slipway {

/// A fixed set of workers that do one task together, all of them, again and again. Worker 0 is the
/// thread that calls run(), the others are threads of the set, joined in its destructor. `run` is
/// for one thread at a time.
class Workers {
public:
    /// Worker i is kept on cpus[i], as far as that goes: others run where the system puts them, and
    /// so does one that may not be there. The caller is kept there during run() alone.
    /// errors  std::system_error when the system refuses a thread
    explicit Workers(int count, const std::vector<int>& cpus = {});
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    /// Calls task(worker) on each worker and waits for all. The first exception is rethrown.
    /// A task that waits for others at barrier() must do so on every path: it asks failed() and
    /// skips work, it does not return early; guarded() does that for a piece of work.
    void run(const std::function<void(int worker)>& task);

    /// Runs `work` unless a worker has failed in this run; keeps its exception if it is the first.
    template <class Work>
    void guarded(const Work& work) {
        if (!failed()) attempt(work);
    }
    bool failed() const { return failed_.load(std::memory_order_acquire); }
    Barrier& barrier() { return barrier_; }
    int count() const { return int(cpus_.size()); }
    /// Where each worker is kept; none: anywhere.
    const std::vector<std::optional<int>>& cpus() const { return cpus_; }

private:
    void live(int worker);
    void stop();
    /// The worker border: whatever a kernel throws is kept for the caller of run().
    template <class Work>
    void attempt(const Work& work) {
        try {
            work();
        } catch (...) {
            keep(std::current_exception());
        }
    }
    void keep(std::exception_ptr error);

    // Constant after construction.
    const std::chrono::nanoseconds awake_max_;
    std::vector<std::optional<int>> cpus_;
    // Synchronise themselves.
    Barrier barrier_;
    std::atomic<std::uint32_t> order_{0};       ///< counts the tasks given
    std::atomic<std::uint32_t> finished_{0};    ///< counts the tasks done by all threads
    std::atomic<std::uint32_t> working_{0};     ///< threads at the task
    std::atomic<bool> failed_{false};
    std::atomic<bool> stopping_{false};
    // Written by the caller before order_ moves, read by the threads after.
    const std::function<void(int)>* task_ = nullptr;
    std::mutex mutex_;
    std::exception_ptr first_error_;    ///< guarded by mutex_
    // Constant after construction: workers 1 and following.
    std::vector<std::thread> threads_;
};

}    // namespace slipway
