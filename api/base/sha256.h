#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace slipway {

/// SHA-256 of bytes that arrive in pieces. Not synchronised.
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;

    void update(std::span<const std::byte> bytes);
    void update(std::string_view text);
    /// The digest in lower-case hexadecimal; ends the object's use.
    std::string finish();

private:
    struct State;    // the library's: kept out of every includer
    std::unique_ptr<State> state_;
};

/// SHA-256 of `text` in lower-case hexadecimal.
std::string sha256_hex(std::string_view text);

/// SHA-256 of a file's content, read in pieces.
/// errors  throws not_found when it cannot be opened, unavailable when reading fails
std::string sha256_file(const std::filesystem::path& path);

}    // namespace slipway
