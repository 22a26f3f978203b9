#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace slipway {

/// Threads that do steps side by side which mostly wait for the database.
class SideBySide {
public:
    /// threads  beside the one that calls run
    explicit SideBySide(int threads);
    ~SideBySide();
    SideBySide(const SideBySide&) = delete;
    SideBySide& operator=(const SideBySide&) = delete;

    /// Returns when all steps have been done, some of them by the caller. Steps throw nothing. One
    /// caller at a time.
    void run(std::span<const std::function<void()>> steps);

private:
    /// False: none is left to take.
    bool take_one(std::unique_lock<std::mutex>& lock);
    void work(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any added_;
    std::condition_variable done_;
    // Guarded by mutex_.
    std::span<const std::function<void()>> steps_;
    std::size_t taken_ = 0;
    std::size_t ended_ = 0;
    std::vector<std::jthread> threads_;
};

}    // namespace slipway
