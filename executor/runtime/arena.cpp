#include "executor/runtime/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

#include "api/base/error.h"

namespace slipway {

namespace {

constexpr std::int64_t huge_page_bytes = 2 << 20;

std::int64_t whole_pages(std::int64_t byte_count) {
    const std::int64_t page = byte_count >= huge_page_bytes ? huge_page_bytes : 4096;
    return (byte_count + page - 1) / page * page;
}

struct Pages {
    std::byte* data = nullptr;
    std::int64_t byte_count = 0;
};

void unmap(const Pages& pages) {
    munmap(pages.data, std::size_t(pages.byte_count));
}

/// The longest kept go first.
class KeptPages {
public:
    void limit(std::int64_t bytes_max) {
        const std::scoped_lock lock(mutex_);
        bytes_max_ = bytes_max;
        shrink();
    }
    std::int64_t bytes() const {
        const std::scoped_lock lock(mutex_);
        return bytes_;
    }
    void give(const Pages& pages) noexcept {
        const std::scoped_lock lock(mutex_);
        if (pages.byte_count > bytes_max_) return unmap(pages);
        try {
            kept_.push_back(pages);
        } catch (const std::bad_alloc&) {
            return unmap(pages);
        }
        bytes_ += pages.byte_count;
        shrink();
    }
    std::byte* take(std::int64_t byte_count) {
        const std::scoped_lock lock(mutex_);
        const auto found = std::ranges::find(kept_, byte_count, &Pages::byte_count);
        if (found == kept_.end()) return nullptr;
        std::byte* const data = found->data;
        bytes_ -= byte_count;
        kept_.erase(found);
        return data;
    }
    void release_all() {
        const std::scoped_lock lock(mutex_);
        shrink_to(0);
    }

private:
    void shrink() { shrink_to(bytes_max_); }
    void shrink_to(std::int64_t bytes_max) {
        for (; bytes_ > bytes_max; kept_.pop_front()) {
            bytes_ -= kept_.front().byte_count;
            unmap(kept_.front());
        }
    }

    mutable std::mutex mutex_;
    // Guarded by mutex_.
    std::deque<Pages> kept_;
    std::int64_t bytes_ = 0;
    std::int64_t bytes_max_ = 0;
};

KeptPages& kept_pages() {
    static KeptPages kept;
    return kept;
}

/// MAP_FAILED when the system gives none.
void* map_pages(std::int64_t byte_count) {
    return mmap(nullptr, std::size_t(byte_count), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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
    if (std::byte* const kept = kept_pages().take(size)) {
        data_ = kept;
        byte_count_ = size;
        return;
    }
    void* memory = map_pages(size);
    if (memory == MAP_FAILED) {    // what is kept counts against the limit
        kept_pages().release_all();
        memory = map_pages(size);
    }
    if (memory == MAP_FAILED)
        throw Error(
            ErrorCode::exhausted,
            fmt::format("no memory for {} bytes of temporaries; use a smaller batch", size));
    madvise(memory, std::size_t(size), MADV_HUGEPAGE);    // a wish: failing is no error
    data_ = static_cast<std::byte*>(memory);
    byte_count_ = size;
}

void Arena::release() noexcept {
    if (data_ != nullptr) kept_pages().give({data_, byte_count_});
    data_ = nullptr;
    byte_count_ = 0;
}

void keep_released_arenas(std::int64_t bytes_max) {
    kept_pages().limit(bytes_max);
}

std::int64_t kept_arena_bytes() {
    return kept_pages().bytes();
}

}    // namespace slipway
