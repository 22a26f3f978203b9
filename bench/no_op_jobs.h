#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/maintenance/place_jobs.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/store.h"

namespace slipway {

/// Jobs that do nothing, moved by the store and the planner without executors: what a job costs
/// beside its training. Histories, fences, leases and usage are written as always.
inline constexpr const char* no_op_host = "bench";
inline constexpr int no_op_threads = 16;

/// Registers hosts with so many cores together, the first of them no_op_host. Their names.
std::vector<std::string> register_no_op_hosts(store::Store& store, int cores);

double seconds_since(Tick begin);

/// A dataset that is ready, which such jobs name.
std::string make_ready_dataset(store::Store& store);

/// By one request, as a client would.
void submit_no_op_job(store::Store& store, const std::string& dataset_id);

/// Plans, and ends each job that has got its cores: as many as there are cores are live at a time,
/// each is read as its agent reads it and ended by one of `no_op_threads` threads, which are this
/// object's and end with it.
class NoOpMover {
public:
    NoOpMover(store::Store& store, std::vector<std::string> hosts);
    ~NoOpMover();
    NoOpMover(const NoOpMover&) = delete;
    NoOpMover& operator=(const NoOpMover&) = delete;

    /// One pass of the planner; when it places nothing, waits until a job has ended or for 1 ms.
    void pass();
    int ended() const { return ended_; }
    int passes() const { return passes_; }

private:
    void fold();
    void push(store::AttemptKey key);
    std::optional<store::AttemptKey> pop(const std::stop_token& stop);
    void end_attempts(const std::stop_token& stop);

    store::Store& store_;
    const std::vector<std::string> hosts_;
    PlaceMemory memory_;
    Tick fold_at_{};
    std::mutex mutex_;
    std::condition_variable_any pushed_;
    std::condition_variable one_ended_;
    std::deque<store::AttemptKey> keys_;    // guarded by mutex_
    std::set<std::string> seen_;            // guarded by mutex_
    std::atomic<int> ended_ = 0;
    int passes_ = 0;
    std::vector<std::jthread> threads_;
};

}    // namespace slipway
