#include "server/http/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/base/error.h"
#include "server/http/text.h"

namespace slipway {

namespace ip = boost::asio::ip;

namespace {

ip::address_v6 as_v6(const ip::address& address) {
    if (address.is_v6()) return address.to_v6();
    return ip::make_address_v6(ip::v4_mapped, address.to_v4());
}

std::optional<ip::address_v4> as_v4(const ip::address& address) {
    if (address.is_v4()) return address.to_v4();
    if (address.to_v6().is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, address.to_v6());
    return std::nullopt;
}

}    // namespace

Network parse_network(std::string_view text) {
    const auto slash = text.find('/');
    boost::system::error_code error;
    const ip::address address = ip::make_address(text.substr(0, slash), error);
    const int bits_max = !error && address.is_v4() ? 32 : 128;
    int bits = bits_max;
    bool good = !error;
    if (slash != std::string_view::npos) {
        const auto given = parse_decimal(text.substr(slash + 1));
        good = good && given && *given <= static_cast<std::uint64_t>(bits_max);
        if (good) bits = static_cast<int>(*given);
    }
    if (!good)
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("a network must be an address with the number of its leading bits, "
                                "such as 10.0.0.0/8 or fd00::/8; got {}",
                                text));
    return {.address = as_v6(address), .bits = bits + (128 - bits_max)};
}

bool contains(const Network& network, const ip::address& address) {
    const auto ours = network.address.to_bytes(), theirs = as_v6(address).to_bytes();
    for (int bit = 0; bit < network.bits; ++bit) {
        const auto byte = static_cast<std::size_t>(bit / 8);
        if (((ours[byte] ^ theirs[byte]) >> (7 - bit % 8) & 1) != 0) return false;
    }
    return true;
}

bool is_loopback(const ip::address& address) {
    const auto v4 = as_v4(address);
    return v4 ? v4->is_loopback() : address.is_loopback();
}

std::string shown_address(const ip::address& address) {
    const auto v4 = as_v4(address);
    return v4 ? v4->to_string() : address.to_string();
}

std::string counted_address(const ip::address& address) {
    if (const auto v4 = as_v4(address)) return v4->to_string();
    auto bytes = address.to_v6().to_bytes();
    std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
    return ip::address_v6(bytes).to_string() + "/64";
}

}    // namespace slipway
