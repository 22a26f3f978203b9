#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>

namespace slipway {

/// How many bytes all requests together may hold in memory: there is one budget for bodies that
/// come, one for answers that go. Safe from every thread.
class ByteBudget {
public:
    /// `changed` is told each take and give, from their threads: a gauge.
    ByteBudget(std::size_t bytes_max, std::function<void(double)> changed)
        : bytes_max_(bytes_max), changed_(std::move(changed)) {}

    /// False, and nothing is taken, when there is not so much left.
    bool take(std::size_t bytes);
    /// True when all is given back after much was taken: memory can go back to the system.
    bool give(std::size_t bytes);

private:
    const std::size_t bytes_max_;
    const std::function<void(double)> changed_;
    std::atomic<std::size_t> used_{0};
    std::atomic<std::size_t> peak_{0};    // since the last time that all was given back
};

/// One request's part of a budget, given back with it.
class ByteShare {
public:
    explicit ByteShare(ByteBudget& budget) : budget_(budget) {}
    ~ByteShare() { release(); }
    ByteShare(const ByteShare&) = delete;
    ByteShare& operator=(const ByteShare&) = delete;

    bool grow(std::size_t bytes);
    /// As ByteBudget::give, of all of it.
    bool release();

private:
    ByteBudget& budget_;
    std::size_t bytes_ = 0;
};

}    // namespace slipway
