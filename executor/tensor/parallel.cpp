#include "executor/tensor/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace slipway {

int thread_count(int threads) {
    if (threads > 0) return threads;
    return std::max(1, int(std::thread::hardware_concurrency()));
}

void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& work) {
    std::atomic<std::int64_t> taken = 0;
    std::mutex mutex;
    std::exception_ptr first;    // guarded by mutex
    const auto run = [&] {
        try {
            for (std::int64_t i = taken++; i < count; i = taken++)
                work(i);
        } catch (const std::exception&) {    // the border of a thread: rethrown on the caller
            taken = count;
            const std::lock_guard lock(mutex);
            if (!first) first = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> helpers;
        const std::int64_t wanted = std::min<std::int64_t>(thread_count(threads), count);
        helpers.reserve(std::size_t(std::max<std::int64_t>(wanted, 1)));
        try {
            for (std::int64_t i = 1; i < wanted; ++i)
                helpers.emplace_back(run);
        } catch (const std::system_error&) {    // more threads are a matter of speed alone
        }
        run();
    }
    if (first) std::rethrow_exception(first);
}

}    // namespace slipway
