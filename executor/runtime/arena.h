#pragma once

#include <cstddef>
#include <cstdint>

namespace slipway {

/// Pages straight from the system, huge where it grants them; not touched until used, so that a
/// page lands near the worker that writes it first. Moves, does not copy.
class Arena {
public:
    Arena() = default;
    ~Arena() { release(); }
    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&& other) noexcept;

    /// Makes at least `byte_count` bytes available; when it must grow, the content is lost.
    /// errors  exhausted when the system gives no memory
    void reserve(std::int64_t byte_count);
    /// 64-byte aligned at least.
    std::byte* data() const { return data_; }
    std::int64_t byte_count() const { return byte_count_; }

private:
    void release() noexcept;

    std::byte* data_ = nullptr;
    std::int64_t byte_count_ = 0;
};

}    // namespace slipway
