#include "server/auth/token.h"

#include <openssl/crypto.h>

#include <array>

#include "api/base/id.h"
#include "api/base/sha256.h"

namespace slipway {
namespace {

constexpr std::string_view digits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr std::string_view token_prefix = "slp_";
constexpr std::size_t lookup_digits = 11;
constexpr std::size_t secret_digits = 43;
constexpr std::size_t checksum_digits = 6;
constexpr std::size_t token_length =
    token_prefix.size() + lookup_digits + secret_digits + checksum_digits;

bool is_base62(std::string_view text) {
    return text.find_first_not_of(digits) == std::string_view::npos;
}

// Each character on its own: bytes of 248 and above are thrown away, so all 62 are equally likely.
std::string random_base62(std::size_t length) {
    std::string text;
    std::array<std::uint8_t, 64> bytes{};
    while (text.size() < length) {
        random_bytes(bytes);
        for (const std::uint8_t byte : bytes)
            if (byte < 248 && text.size() < length) text += digits[byte % 62];
    }
    return text;
}

std::string checksum(std::string_view bytes) {
    std::uint32_t value = crc32(bytes);
    std::string text(checksum_digits, digits[0]);
    for (auto place = text.rbegin(); place != text.rend(); ++place) {
        *place = digits[value % 62];
        value /= 62;
    }
    return text;
}

TokenText take_apart(std::string text) {
    TokenText token;
    token.lookup = text.substr(0, token_prefix.size() + lookup_digits);
    token.sha256 = sha256_hex(text);
    token.text = std::move(text);
    return token;
}

}    // namespace

bool same_secret(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::uint32_t crc32(std::string_view bytes) {
    std::uint32_t value = 0xffffffffU;
    for (const char byte : bytes) {
        value ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit)
            value = (value >> 1) ^ ((value & 1U) != 0 ? 0xedb88320U : 0U);
    }
    return ~value;
}

TokenText make_token() {
    std::string text{token_prefix};
    text += random_base62(lookup_digits + secret_digits);
    text += checksum(text);
    return take_apart(std::move(text));
}

std::optional<TokenText> parse_token(std::string_view text) {
    if (text.size() != token_length || !text.starts_with(token_prefix)) return std::nullopt;
    if (!is_base62(text.substr(token_prefix.size()))) return std::nullopt;
    const std::size_t checked = token_length - checksum_digits;
    if (checksum(text.substr(0, checked)) != text.substr(checked)) return std::nullopt;
    return take_apart(std::string(text));
}

std::string make_secret() {
    return random_base62(secret_digits);
}

std::string make_join_token() {
    return "slj_" + make_secret();
}

bool is_secret(std::string_view text) {
    return text.size() == secret_digits && is_base62(text);
}

}    // namespace slipway
