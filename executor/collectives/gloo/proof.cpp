#include "executor/collectives/gloo/proof.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <charconv>

#include "api/base/check.h"
#include "api/base/id.h"

namespace slipway {

Proof proof_of(std::string_view secret, std::string_view text) {
    Proof proof;
    unsigned size = 0;
    const unsigned char* const made =
        HMAC(EVP_sha256(), secret.data(), int(secret.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(),
             reinterpret_cast<unsigned char*>(proof.data()), &size);
    check(made != nullptr && size == proof.size(), "HMAC-SHA-256 gives 32 bytes");
    return proof;
}

Proof answer_of(std::string_view secret, int rank, int asker, std::span<const std::byte> asked,
                std::span<const std::byte> own) {
    return proof_of(secret, fmt::format("slipway member answer {} {} {} {}", rank, asker,
                                        to_hex(asked), to_hex(own)));
}

bool equal(const Proof& a, const Proof& b) {
    return CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Challenge make_challenge() {
    Challenge challenge;
    random_bytes({reinterpret_cast<std::uint8_t*>(challenge.data()), challenge.size()});
    return challenge;
}

std::string to_hex(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte byte : bytes)
        text += fmt::format("{:02x}", unsigned(byte));
    return text;
}

std::string bytes_of_hex(std::string_view text) {
    std::string bytes;
    if (text.size() % 2 != 0) return bytes;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        unsigned value = 0;
        const char* const end = text.data() + i + 2;
        if (std::from_chars(text.data() + i, end, value, 16).ptr != end) return {};
        bytes.push_back(char(value));
    }
    return bytes;
}

}    // namespace slipway
