#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "api/base/sha256_blocks.h"

namespace slipway {

/// SHA-256 of bytes that arrive in pieces. Not synchronised.
class Sha256 {
public:
    Sha256() = default;
    Sha256(Sha256&&) noexcept = default;
    Sha256& operator=(Sha256&&) noexcept = default;

    void update(std::span<const std::byte> bytes);
    void update(std::string_view text);
    /// The digest in lower-case hexadecimal; ends the object's use.
    std::string finish();

private:
    Sha256State state_ = sha256_start;
    std::array<std::byte, sha256_block_bytes> rest_{};    // begun, not yet a whole block
    std::uint64_t byte_count_ = 0;
    bool finished_ = false;
};

/// SHA-256 of `text` in lower-case hexadecimal.
std::string sha256_hex(std::string_view text);

/// SHA-256 of a file's content, read in pieces.
/// errors  throws not_found when it cannot be opened, unavailable when reading fails
std::string sha256_file(const std::filesystem::path& path);

}    // namespace slipway
