#include "server/http/body_budget.h"

#include "server/http/metrics.h"

namespace slipway {

namespace {

/// Below this, what the allocator keeps is worth more than the time to give it back.
constexpr std::size_t much_bytes = std::size_t{4} << 20;

}    // namespace

bool BodyBudget::take(std::size_t bytes) {
    std::size_t used = used_.load();
    do {
        if (bytes > bytes_max_ - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    std::size_t peak = peak_.load();
    while (peak < used + bytes && !peak_.compare_exchange_weak(peak, used + bytes)) {
    }
    metrics_.buffered_bytes_changed(static_cast<double>(bytes));
    return true;
}

bool BodyBudget::give(std::size_t bytes) {
    if (bytes == 0) return false;
    metrics_.buffered_bytes_changed(-static_cast<double>(bytes));
    if (used_.fetch_sub(bytes) != bytes) return false;
    return peak_.exchange(0) >= much_bytes;
}

bool BodyShare::grow(std::size_t bytes) {
    if (!budget_.take(bytes)) return false;
    bytes_ += bytes;
    return true;
}

bool BodyShare::release() {
    const std::size_t bytes = bytes_;
    bytes_ = 0;
    return budget_.give(bytes);
}

}    // namespace slipway
