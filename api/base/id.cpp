#include "api/base/id.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <vector>

#include "api/base/check.h"

namespace slipway {

namespace {

constexpr std::string_view alphabet = "0123456789abcdefghjkmnpqrstvwxyz";

/// 128 bits in 26 characters, most significant first: the text sorts as the number does.
std::string base32(std::span<const std::uint8_t, 16> bytes) {
    std::string text(26, '0');
    for (std::size_t character = 0; character < 26; ++character) {
        unsigned value = 0;
        for (std::size_t bit = 0; bit < 5; ++bit) {
            // Two leading zero bits make 130 = 26 * 5.
            const std::size_t position = character * 5 + bit;
            const unsigned one =
                position < 2 ? 0U : (bytes[(position - 2) / 8] >> (7 - (position - 2) % 8)) & 1U;
            value = value * 2 + one;
        }
        text[character] = alphabet[value];
    }
    return text;
}

/// Writes the time that an id begins with: milliseconds, then twelve bits of what is left of one: a
/// busy service makes several ids in a millisecond, and they sort too (RFC 9562, 6.2, method 3).
void put_time(std::array<std::uint8_t, 16>& uuid, std::chrono::microseconds time) {
    using namespace std::chrono;
    const auto whole = floor<milliseconds>(time);
    for (std::size_t i = 0; i < 6; ++i)
        uuid[i] = std::uint8_t(std::uint64_t(whole.count()) >> (8 * (5 - i)));
    const auto rest = std::uint64_t((time - whole).count()) * 4096 / 1000;
    uuid[6] = std::uint8_t(0x70 | (rest >> 8));    // version 7
    uuid[7] = std::uint8_t(rest);
}

}    // namespace

void random_bytes(std::span<std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
        check(got > 0, "the kernel gives random bytes");
        bytes = bytes.subspan(std::size_t(got));
    }
}

std::string new_id(std::string_view kind, const Clock& clock) {
    std::array<std::uint8_t, 16> uuid{};
    random_bytes(uuid);
    put_time(uuid, clock.now().time_since_epoch());
    uuid[8] = std::uint8_t((uuid[8] & 0x3f) | 0x80);    // variant of RFC 9562
    return std::string(kind) + "_" + base32(uuid);
}

std::string first_id_at(std::string_view kind, Instant time) {
    std::array<std::uint8_t, 16> uuid{};
    put_time(uuid, std::max(time.time_since_epoch(), Instant::duration::zero()));
    uuid[8] = 0x80;
    return std::string(kind) + "_" + base32(uuid);
}

bool is_id(std::string_view kind, std::string_view text) {
    if (text.size() != kind.size() + 27 || !text.starts_with(kind) || text[kind.size()] != '_') {
        return false;
    }
    return std::ranges::all_of(text.substr(kind.size() + 1),
                               [](char c) { return alphabet.find(c) != std::string_view::npos; });
}

std::string random_hex(std::size_t byte_count) {
    std::vector<std::uint8_t> bytes(byte_count);
    random_bytes(bytes);
    std::string text;
    text.reserve(byte_count * 2);
    for (const std::uint8_t byte : bytes) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

}    // namespace slipway
