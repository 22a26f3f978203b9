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

    /// Makes at least `byte_count` bytes available, of any content; when it must grow, what it had
    /// is lost.
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

/// From now on the pages of arenas that end are kept for new ones of the same size, at most as many
/// bytes; for a process that runs one attempt after the other. What is kept counts as the
/// process's. 0, as at the start: none, and what is kept goes back to the system. From every
/// thread.
void keep_released_arenas(std::int64_t bytes_max);
/// What is kept now.
std::int64_t kept_arena_bytes();

}    // namespace slipway
