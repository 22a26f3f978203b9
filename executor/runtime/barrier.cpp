#include "executor/runtime/barrier.h"

#include <immintrin.h>

namespace slipway {

namespace {

// About 10 microseconds: longer than two workers usually differ, shorter than a scheduler's turn
// when more threads than CPUs want to run.
constexpr int spins_max = 200;

}    // namespace

void wait_while_equal(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    for (int spin = 0; spin < spins_max; ++spin) {
        if (value.load(std::memory_order_acquire) != old) return;
        _mm_pause();
    }
    while (value.load(std::memory_order_acquire) == old)
        value.wait(old, std::memory_order_acquire);
}

void Barrier::arrive_and_wait() {
    if (threads_ == 1) return;
    const std::uint32_t generation = generation_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
        arrived_.store(0, std::memory_order_relaxed);
        generation_.fetch_add(1, std::memory_order_release);
        generation_.notify_all();
        return;
    }
    wait_while_equal(generation_, generation);
}

}    // namespace slipway
