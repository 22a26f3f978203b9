// A copy is written under another name, under a lock that ends with its process, and renamed when
// it is whole: who finds it finds all of it. It is not synced: after a power failure its sums say
// that it is not what was written, and it is made again. All sums are compared before anything of a
// copy is used. (Comparing each piece when it is first read was thought of: it costs a look at a
// flag for every sample, and a wrong piece would have to be read from the dataset in the middle of
// an epoch.) A page of a copy is in memory once, whoever maps it, and the kernel drops it when it
// needs room.
#include "executor/data/shared/copy_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "api/base/clock.h"
#include "executor/data/formats/crc32c.h"
#include "executor/data/unfinished_file.h"
#include "executor/tensor/parallel.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view copy_magic = "slipcopy";
constexpr std::uint64_t copy_version = 1;
constexpr std::size_t copy_header_bytes = 64, copy_sum_at = 24;
constexpr std::size_t copy_block_bytes = std::size_t{1} << 20;
constexpr int pause_ms = 5;    // between two looks at what another process makes

using Header = std::array<std::byte, copy_header_bytes>;

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, &bytes[at], sizeof word);
    return word;
}

/// With its sum.
Header header_of(std::uint64_t content_bytes, std::span<const std::byte> sums) {
    Header header{};
    std::memcpy(header.data(), copy_magic.data(), copy_magic.size());
    std::memcpy(&header[8], &copy_version, sizeof copy_version);
    std::memcpy(&header[16], &content_bytes, sizeof content_bytes);
    std::vector<std::byte> head(header.begin(), header.end());
    head.insert(head.end(), sums.begin(), sums.end());
    const std::uint64_t sum = crc32c(head);
    std::memcpy(&header[copy_sum_at], &sum, sizeof sum);
    return header;
}

std::size_t block_count(std::uint64_t content_bytes) {
    return std::size_t((content_bytes + copy_block_bytes - 1) / copy_block_bytes);
}

Error damaged_copy(const fs::path& path, const char* why) {
    return {ErrorCode::data_loss, fmt::format("{} is damaged: {}", path.string(), why)};
}

/// Whether each block is the one that was written.
bool are_whole(std::span<const std::byte> content, std::span<const std::byte> sums, int threads) {
    std::atomic<bool> whole = true;
    parallel_for(std::int64_t(block_count(content.size())), threads, [&](std::int64_t block) {
        std::uint32_t sum = 0;
        std::memcpy(&sum, &sums[std::size_t(block) * sizeof sum], sizeof sum);
        const auto begin = std::size_t(block) * copy_block_bytes;
        const auto bytes =
            content.subspan(begin, std::min(copy_block_bytes, content.size() - begin));
        if (crc32c(bytes) != sum) whole = false;
    });
    return whole;
}

void write_at(const UniqueFd& file, const fs::path& path, std::span<const std::byte> bytes,
              std::int64_t at) {
    while (!bytes.empty()) {
        const ssize_t count = pwrite(file.get(), bytes.data(), bytes.size(), off_t(at));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_writing(path);
        bytes = bytes.subspan(std::size_t(count));
        at += count;
    }
}

fs::path unfinished_name(const fs::path& path) {
    return path.string() + ".tmp";
}

}    // namespace

Result<std::optional<MappedCopy>> find_copy(const fs::path& path, int threads) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file && errno == ENOENT) return std::optional<MappedCopy>();
    struct stat facts {};
    if (!file || fstat(file.get(), &facts) != 0)
        return Error{ErrorCode::unavailable, fmt::format("{}: {}", path.string(), strerror(errno))};
    const auto size = std::size_t(facts.st_size);
    if (!S_ISREG(facts.st_mode) || size < copy_header_bytes)
        return damaged_copy(path, "it is shorter than its header");
    void* const memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (memory == MAP_FAILED) {
        return Error{ErrorCode::unavailable,
                     fmt::format("{} cannot be mapped: {}", path.string(), strerror(errno))};
    }
    const std::shared_ptr<const void> keeper(
        memory, [size](const void* mapped) { munmap(const_cast<void*>(mapped), size); });
    const std::span all(static_cast<const std::byte*>(memory), size);
    const std::uint64_t bytes = word_at(all, 16);
    if (bytes > size - copy_header_bytes ||
        size != copy_header_bytes + bytes + block_count(bytes) * sizeof(std::uint32_t))
        return damaged_copy(path, "it has another size than it says");
    const auto content = all.subspan(copy_header_bytes, std::size_t(bytes));
    const auto sums = all.subspan(copy_header_bytes + std::size_t(bytes));
    const Header wanted = header_of(bytes, sums);
    if (!std::ranges::equal(wanted, all.first(copy_header_bytes)))
        return damaged_copy(path, "its header does not match its checksum");
    if (!are_whole(content, sums, threads))
        return damaged_copy(path, "its content does not match its checksums");
    futimens(file.get(), nullptr);    // used just now: whoever makes room goes by it
    return std::optional(MappedCopy{.keeper = keeper, .content = content});
}

CopyDraft::CopyDraft(fs::path path, UniqueFd unfinished, std::int64_t bytes_max)
    : path_(std::move(path)), file_(std::move(unfinished)), bytes_max_(bytes_max) {
    block_.reserve(copy_block_bytes);
}

CopyDraft::CopyDraft(CopyDraft&& other) noexcept = default;

CopyDraft::~CopyDraft() {
    if (file_) unlink(unfinished_name(path_).c_str());    // still locked: nobody else has begun
}

void CopyDraft::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const std::size_t room = copy_block_bytes - block_.size();
        const auto part = bytes.first(std::min(room, bytes.size()));
        block_.insert(block_.end(), part.begin(), part.end());
        bytes = bytes.subspan(part.size());
        if (block_.size() == copy_block_bytes) write_block();
    }
}

void CopyDraft::write_block() {
    if (written_ + std::int64_t(block_.size()) > bytes_max_) {
        throw Error{ErrorCode::exhausted,
                    fmt::format("it would be larger than {} bytes, the most that a copy may have "
                                "or half of what is free on the disk",
                                bytes_max_)};
    }
    write_at(file_, path_, block_, std::int64_t(copy_header_bytes) + written_);
    sums_.push_back(crc32c(block_));
    written_ += std::int64_t(block_.size());
    block_.clear();
}

void CopyDraft::publish() {
    if (!block_.empty()) write_block();
    const auto sums = std::as_bytes(std::span(sums_));
    write_at(file_, path_, sums, std::int64_t(copy_header_bytes) + written_);
    write_at(file_, path_, header_of(std::uint64_t(written_), sums), 0);
    if (rename(unfinished_name(path_).c_str(), path_.c_str()) != 0) fail_writing(path_);
    file_.reset();
}

std::optional<CopyDraft> begin_copy(const fs::path& path, std::int64_t bytes_max,
                                    std::chrono::milliseconds wait_max, bool even_if_there) {
    const Tick until = system_clock().tick() + wait_max;
    for (;;) {
        if (auto file = lock_unfinished(unfinished_name(path)))
            return CopyDraft(path, std::move(*file), bytes_max);
        std::error_code absent;
        if (!even_if_there && fs::exists(path, absent)) return std::nullopt;
        if (system_clock().tick() >= until) return std::nullopt;
        poll(nullptr, 0, pause_ms);
    }
}

}    // namespace slipway
