#include "executor/runtime/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <utility>

#include "api/base/error.h"

namespace slipway {

namespace {

constexpr std::int64_t huge_page_bytes = 2 << 20;

std::int64_t whole_pages(std::int64_t byte_count) {
    const std::int64_t page = byte_count >= huge_page_bytes ? huge_page_bytes : 4096;
    return (byte_count + page - 1) / page * page;
}

}    // namespace

Arena::Arena(Arena&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      byte_count_(std::exchange(other.byte_count_, 0)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(byte_count_, other.byte_count_);
    return *this;
}

void Arena::reserve(std::int64_t byte_count) {
    if (byte_count <= byte_count_) return;
    release();
    const std::int64_t size = whole_pages(byte_count);
    void* const memory = mmap(nullptr, std::size_t(size), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw Error(
            ErrorCode::exhausted,
            fmt::format("no memory for {} bytes of temporaries; use a smaller batch", size));
    madvise(memory, std::size_t(size), MADV_HUGEPAGE);    // a wish: failing is no error
    data_ = static_cast<std::byte*>(memory);
    byte_count_ = size;
}

void Arena::release() noexcept {
    if (data_ != nullptr) munmap(data_, std::size_t(byte_count_));
    data_ = nullptr;
    byte_count_ = 0;
}

}    // namespace slipway
