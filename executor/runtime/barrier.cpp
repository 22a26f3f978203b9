#include "executor/runtime/barrier.h"

#include <immintrin.h>

#include "api/base/clock.h"

namespace slipway {

namespace {

// A look at the clock costs about as much as a pause.
constexpr int pauses_between_looks = 8;

bool changes_within(const std::atomic<std::uint32_t>& value, std::uint32_t old,
                    std::chrono::nanoseconds awake_max) {
    if (value.load(std::memory_order_acquire) != old) return true;
    if (awake_max.count() == 0) return false;
    const Tick end = system_clock().tick() + awake_max;
    do {
        for (int i = 0; i < pauses_between_looks; ++i) {
            _mm_pause();
            if (value.load(std::memory_order_acquire) != old) return true;
        }
    } while (system_clock().tick() < end);
    return false;
}

}    // namespace

void wait_while_equal(const std::atomic<std::uint32_t>& value, std::uint32_t old,
                      std::chrono::nanoseconds awake_max) {
    if (changes_within(value, old, awake_max)) return;
    while (value.load(std::memory_order_acquire) == old)
        value.wait(old, std::memory_order_acquire);
}

void Barrier::release() {
    arrived_.store(0, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    generation_.notify_all();
}

}    // namespace slipway
