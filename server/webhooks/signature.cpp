#include "server/webhooks/signature.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <span>
#include <utility>

#include "api/base/check.h"
#include "api/base/id.h"

namespace slipway {

namespace {

constexpr std::string_view secret_prefix = "whsec_";
constexpr std::size_t secret_bytes = 32;

std::string base64(std::span<const std::uint8_t> bytes) {
    std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');    // and the NUL that is written
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                     int(bytes.size()));
    text.resize(std::size_t(size));
    return text;
}

std::vector<std::uint8_t> key_of(std::string_view secret) {
    check(secret.starts_with(secret_prefix), "a webhook's secret begins with whsec_");
    secret.remove_prefix(secret_prefix.size());
    std::vector<std::uint8_t> key(3 * secret.size() / 4 + 1);
    const int size = EVP_DecodeBlock(
        key.data(), reinterpret_cast<const unsigned char*>(secret.data()), int(secret.size()));
    check(size >= 0, "a webhook's secret is base64");
    const std::size_t padding = secret.size() - secret.find_last_not_of('=') - 1;
    key.resize(std::size_t(size) - padding);
    return key;
}

}    // namespace

std::string make_webhook_secret() {
    std::array<std::uint8_t, secret_bytes> bytes;
    random_bytes(bytes);
    return std::string(secret_prefix) + base64(bytes);
}

std::string webhook_signature(std::string_view secret, std::string_view id, std::int64_t timestamp,
                              std::string_view body) {
    const std::vector<std::uint8_t> key = key_of(secret);
    const std::string text = fmt::format("{}.{}.{}", id, timestamp, body);
    std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest;
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), int(key.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
    return "v1," + base64(std::span(digest).first(size));
}

std::vector<Pair> webhook_headers(std::span<const std::string> secrets, std::string_view id,
                                  std::int64_t timestamp, std::string_view body) {
    std::string signatures;
    for (const std::string& secret : secrets)
        signatures +=
            (signatures.empty() ? "" : " ") + webhook_signature(secret, id, timestamp, body);
    return {{"Content-Type", "application/json"},
            {"User-Agent", "slipway-webhooks"},
            {"Webhook-Id", std::string(id)},
            {"Webhook-Timestamp", fmt::to_string(timestamp)},
            {"Webhook-Signature", std::move(signatures)}};
}

}    // namespace slipway
