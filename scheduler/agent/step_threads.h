#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace slipway {

/// Threads that do steps which mostly wait for the database, so that who asks for them does not.
class StepThreads {
public:
    explicit StepThreads(int threads);
    /// Waits for the steps that have begun; the others are not done.
    ~StepThreads();
    StepThreads(const StepThreads&) = delete;
    StepThreads& operator=(const StepThreads&) = delete;

    /// Steps begin in the order in which they were added. They throw nothing.
    void add(std::function<void()> step);
    /// Returns when all steps that were added have been done.
    void wait();

private:
    void work(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any added_;
    std::condition_variable done_;
    // Guarded by mutex_.
    std::deque<std::function<void()>> steps_;
    std::size_t unfinished_ = 0;
    std::vector<std::jthread> threads_;
};

}    // namespace slipway
