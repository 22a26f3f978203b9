#pragma once

#include <cstdint>
#include <functional>

namespace slipway {

/// Threads to use when the caller says `threads`: 0 means one per CPU that this process may use.
int thread_count(int threads);

/// Calls `work(i)` for every i in [0, count) on up to `threads` threads, the caller's among them.
/// errors  the first exception stops the rest and is thrown here
void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& work);

}    // namespace slipway
