#include "server/http/byte_budget.h"

namespace slipway {

namespace {

/// Below this, what the allocator keeps is worth more than the time to give it back.
constexpr std::size_t much_bytes = std::size_t{4} << 20;

}    // namespace

bool ByteBudget::take(std::size_t bytes) {
    std::size_t used = used_.load();
    do {
        if (bytes > bytes_max_ - used) return false;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    std::size_t peak = peak_.load();
    while (peak < used + bytes && !peak_.compare_exchange_weak(peak, used + bytes)) {
    }
    changed_(static_cast<double>(bytes));
    return true;
}

bool ByteBudget::give(std::size_t bytes) {
    if (bytes == 0) return false;
    changed_(-static_cast<double>(bytes));
    if (used_.fetch_sub(bytes) != bytes) return false;
    return peak_.exchange(0) >= much_bytes;
}

bool ByteShare::grow(std::size_t bytes) {
    if (!budget_.take(bytes)) return false;
    bytes_ += bytes;
    return true;
}

bool ByteShare::release() {
    const std::size_t bytes = bytes_;
    bytes_ = 0;
    return budget_.give(bytes);
}

}    // namespace slipway
