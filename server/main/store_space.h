#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "api/base/clock.h"

namespace slipway {

/// What is free on the file system of the store, where it is not that of the home folder. A thread
/// of its own asks, so that a file server that hangs delays no request. Safe from every thread.
class StoreSpace {
public:
    /// `clock` outlives it.
    StoreSpace(std::filesystem::path home, std::filesystem::path store, const Clock& clock);
    ~StoreSpace();
    StoreSpace(const StoreSpace&) = delete;
    StoreSpace& operator=(const StoreSpace&) = delete;

    /// None: the store is on the disk of the home folder, or has not answered for two minutes.
    std::optional<std::uint64_t> free_bytes() const;

private:
    void run(const std::stop_token& stop);

    const std::filesystem::path home_;
    const std::filesystem::path store_;
    const Clock& clock_;
    mutable std::mutex mutex_;
    std::condition_variable_any stopping_;
    std::optional<std::uint64_t> free_bytes_;    // guarded by mutex_
    Tick asked_at_{};                            // guarded by mutex_
    std::jthread thread_;
};

}    // namespace slipway
