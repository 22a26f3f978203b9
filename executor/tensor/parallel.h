#pragma once

#include <cstdint>
#include <functional>

namespace slipway {

/// Threads to use when the caller says `threads`: 0 means one per CPU that this process may use.
int thread_count(int threads);

/// Calls `work(i)` once for every i in [0, count), in any order, on up to `threads` threads (as
/// thread_count takes them), the caller's among them, and returns when all calls have ended.
/// A thread that the system does not start (a limit, no memory) is done without: the others do its
/// part, and the caller's does all of it when there is no other. With one thread the order is that
/// of the numbers.
///   work    is called from several threads at once; what it throws is derived from std::exception
/// errors  the first exception is thrown here: no call begins after it, those that run go on to
///         their end
void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& work);

}    // namespace slipway
