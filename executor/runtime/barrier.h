#pragma once

#include <atomic>
#include <cstdint>

namespace slipway {

/// A meeting point for a fixed number of threads, usable again and again. Arriving threads spin
/// shortly, then sleep in the kernel; what a thread wrote before it arrived is seen by all after.
class Barrier {
public:
    explicit Barrier(int threads) : threads_(std::uint32_t(threads)) {}
    Barrier(const Barrier&) = delete;
    Barrier& operator=(const Barrier&) = delete;

    void arrive_and_wait();

private:
    const std::uint32_t threads_;
    std::atomic<std::uint32_t> arrived_{0};
    std::atomic<std::uint32_t> generation_{0};
};

/// Waits until `value` is no longer `old`: spins shortly, then sleeps until notified.
void wait_while_equal(const std::atomic<std::uint32_t>& value, std::uint32_t old);

}    // namespace slipway
