#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"

namespace slipway {

/// A new secret of a webhook: "whsec_" and 32 random bytes in base64.
std::string make_webhook_secret();

/// "v1," and the HMAC-SHA256 of "id.timestamp.body" in base64, by the bytes of the secret.
/// Source: standardwebhooks.com, symmetric signatures
std::string webhook_signature(std::string_view secret, std::string_view id, std::int64_t timestamp,
                              std::string_view body);

/// What is sent beside the body: with a signature by each of the secrets, of which a receiver needs
/// to know one.
std::vector<Pair> webhook_headers(std::span<const std::string> secrets, std::string_view id,
                                  std::int64_t timestamp, std::string_view body);

}    // namespace slipway
