#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace slipway {

/// Asks again every few milliseconds until `holds` is true; false when it was not within
/// `patience`. For what another thread or process does and nothing can signal.
template <class Predicate>
bool eventually(Predicate holds, std::chrono::milliseconds patience = std::chrono::seconds(60)) {
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!holds()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        never.wait_for(lock, std::chrono::milliseconds(2));
    }
    return true;
}

}    // namespace slipway
