#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace slipway {

/// Waits until `value` is no longer `old`: awake for at most so long, then asleep until notified.
void wait_while_equal(const std::atomic<std::uint32_t>& value, std::uint32_t old,
                      std::chrono::nanoseconds awake_max);

/// A barrier for a fixed number of threads, usable again and again; what a thread wrote
/// before it arrived is seen by all after.
class Barrier {
public:
    /// awake_max  how long a thread waits for the others before it sleeps
    Barrier(int threads, std::chrono::nanoseconds awake_max)
        : threads_(std::uint32_t(threads)), awake_max_(awake_max) {}
    Barrier(const Barrier&) = delete;
    Barrier& operator=(const Barrier&) = delete;

    void arrive_and_wait() {
        arrive_and_wait([] {});
    }
    /// `work`, which does not throw: whoever arrives last does it before the others go on.
    template <class Work>
    void arrive_and_wait(const Work& work) {
        const std::uint32_t generation = generation_.load(std::memory_order_acquire);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 < threads_)
            return wait_while_equal(generation_, generation, awake_max_);
        work();
        release();
    }

private:
    void release();

    const std::uint32_t threads_;
    const std::chrono::nanoseconds awake_max_;
    std::atomic<std::uint32_t> arrived_{0};
    std::atomic<std::uint32_t> generation_{0};
};

}    // namespace slipway
