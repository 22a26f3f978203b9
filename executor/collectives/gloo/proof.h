#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace slipway {

/// HMAC-SHA-256 of a text by the attempt's secret: who made it knows the secret.
using Proof = std::array<std::byte, 32>;
using Challenge = std::array<std::byte, 32>;

Proof proof_of(std::string_view secret, std::string_view text);

/// The answer of member `rank` to what member `asker` asked it; each side puts in a number of its
/// own, so that no answer is of use a second time or to anybody else.
Proof answer_of(std::string_view secret, int rank, int asker, std::span<const std::byte> asked,
                std::span<const std::byte> own);

/// Takes as long for unequal proofs as for equal ones.
bool equal(const Proof& a, const Proof& b);

Challenge make_challenge();

std::string to_hex(std::span<const std::byte> bytes);
/// Empty where the text is no hexadecimal number of whole bytes.
std::string bytes_of_hex(std::string_view text);

}    // namespace slipway
