#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace slipway {

/// The parts of an API token: `slp_`, 11 characters to find it by, 43 of secret, 6 of checksum. All
/// base62, so that a double click selects the whole and secret scanners know it.
struct TokenText {
    std::string text;      ///< the token itself; shown once, never stored
    std::string lookup;    ///< "slp_" and 11 characters: public, names the row
    std::string sha256;    ///< of `text`: what is stored
};

/// A new token: 64 random bits to look up, 256 to prove.
TokenText make_token();

/// Takes a token apart; none when it has another form or its checksum is wrong, so that a mistyped
/// token costs no database.
std::optional<TokenText> parse_token(std::string_view text);

/// 43 random base62 characters (256 bits): sessions and one-time links.
std::string make_secret();

/// A token that lets a host join: "slj_" and a secret. What is stored is its sha256.
std::string make_join_token();

/// True for what make_secret can have made.
bool is_secret(std::string_view text);

/// Compares two secrets (or hashes of them) in a time that depends on their lengths only.
bool same_secret(std::string_view a, std::string_view b);

/// CRC-32 as zlib counts it (the checksum of a token is this over everything before it).
std::uint32_t crc32(std::string_view bytes);

}    // namespace slipway
