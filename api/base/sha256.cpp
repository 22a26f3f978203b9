#include "api/base/sha256.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "api/base/check.h"
#include "api/base/error.h"
#include "api/base/posix.h"

namespace slipway {

void Sha256::update(std::span<const std::byte> bytes) {
    check(!finished_, "SHA-256 takes bytes until it is finished");
    const std::size_t begun = byte_count_ % sha256_block_bytes;
    byte_count_ += bytes.size();
    if (begun > 0) {
        const auto added = bytes.first(std::min(bytes.size(), sha256_block_bytes - begun));
        std::ranges::copy(added, rest_.begin() + std::ptrdiff_t(begun));
        if (begun + added.size() < sha256_block_bytes) return;
        take_sha256_blocks(state_, rest_);
        bytes = bytes.subspan(added.size());
    }
    const auto whole = bytes.first(bytes.size() / sha256_block_bytes * sha256_block_bytes);
    take_sha256_blocks(state_, whole);
    std::ranges::copy(bytes.subspan(whole.size()), rest_.begin());
}

void Sha256::update(std::string_view text) {
    update(std::as_bytes(std::span(text)));
}

std::string Sha256::finish() {
    constexpr std::size_t length_bytes = 8;
    const std::uint64_t bits = 8 * byte_count_;
    const std::size_t begun = byte_count_ % sha256_block_bytes;
    // A one bit, zeros, and the length at a block's end: in the next block where this has no room.
    const bool has_room = begun + 1 + length_bytes <= sha256_block_bytes;
    std::array<std::byte, 2 * sha256_block_bytes> padding{std::byte{0x80}};
    const std::size_t zeros_end = (has_room ? 1 : 2) * sha256_block_bytes - begun - length_bytes;
    for (std::size_t i = 0; i < length_bytes; ++i)
        padding[zeros_end + i] = std::byte(bits >> (8 * (length_bytes - 1 - i)));
    update(std::span(padding).first(zeros_end + length_bytes));
    finished_ = true;
    std::string text;
    for (const std::uint32_t word : state_)
        text += fmt::format("{:08x}", word);
    return text;
}

std::string sha256_hex(std::string_view text) {
    Sha256 hash;
    hash.update(text);
    return hash.finish();
}

std::string sha256_file(const std::filesystem::path& path) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) {
        throw Error{ErrorCode::not_found,
                    fmt::format("{} cannot be opened: {}", path.string(), strerror(errno))};
    }
    Sha256 hash;
    std::vector<std::byte> piece(std::size_t{1} << 18);
    for (;;) {
        const ssize_t count = read(file.get(), piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            throw Error{ErrorCode::unavailable,
                        fmt::format("{} cannot be read: {}", path.string(), strerror(errno))};
        }
        if (count == 0) return hash.finish();
        hash.update(std::span(piece).first(std::size_t(count)));
    }
}

}    // namespace slipway
