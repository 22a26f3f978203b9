#pragma once

#include <atomic>
#include <cstddef>

namespace slipway {

class HttpMetrics;

/// How many bytes of bodies all requests together may hold in memory. Bytes count once they have
/// come, so that a client that announces much and sends nothing takes nothing from the others.
/// Safe from every thread.
class BodyBudget {
public:
    /// `metrics` outlives it: slipway_http_buffered_body_bytes.
    BodyBudget(std::size_t bytes_max, HttpMetrics& metrics)
        : bytes_max_(bytes_max), metrics_(metrics) {}

    /// False, and nothing is taken, when there is not so much left.
    bool take(std::size_t bytes);
    /// True when all is given back after much was taken: memory can go back to the system.
    bool give(std::size_t bytes);

private:
    const std::size_t bytes_max_;
    HttpMetrics& metrics_;
    std::atomic<std::size_t> used_{0};
    std::atomic<std::size_t> peak_{0};    // since the last time that all was given back
};

/// One request's part of the budget, given back with it.
class BodyShare {
public:
    explicit BodyShare(BodyBudget& budget) : budget_(budget) {}
    ~BodyShare() { release(); }
    BodyShare(const BodyShare&) = delete;
    BodyShare& operator=(const BodyShare&) = delete;

    bool grow(std::size_t bytes);
    /// As BodyBudget::give, of all of it.
    bool release();

private:
    BodyBudget& budget_;
    std::size_t bytes_ = 0;
};

}    // namespace slipway
