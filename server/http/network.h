#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>
#include <string_view>

namespace slipway {

/// A range of addresses: "10.0.0.0/8", "fd00::/8", or one address.
struct Network {
    boost::asio::ip::address_v6 address;    ///< IPv4 as ::ffff:a.b.c.d
    int bits = 128;                         ///< that count, of 128
};

/// errors  throws invalid_argument naming what was given
Network parse_network(std::string_view text);

bool contains(const Network& network, const boost::asio::ip::address& address);
bool is_loopback(const boost::asio::ip::address& address);

/// IPv4 addresses that come as IPv6 are written as IPv4.
std::string shown_address(const boost::asio::ip::address& address);

/// Who shares a count: one IPv4 address, or the first 64 bits of an IPv6 one.
std::string counted_address(const boost::asio::ip::address& address);

}    // namespace slipway
