#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/http/head.h"
#include "server/http/network.h"

namespace slipway {

/// Where a request comes from and what its client asked for.
struct Origin {
    boost::asio::ip::address client;
    bool secure = false;       ///< the client speaks TLS, to us or to a trusted proxy
    std::string host;          ///< as RequestHead::host
    bool forwarded = false;    ///< a trusted proxy said whose request it is
};

/// True for the address of a trusted proxy.
bool is_trusted(const boost::asio::ip::address& address,
                const std::vector<Network>& trusted_proxies);

/// Of a request from `peer`. When that is a trusted proxy, X-Forwarded-For (the last address that
/// is no trusted proxy's), X-Forwarded-Proto and X-Forwarded-Host (the last values) say who asks
/// for what. From anybody else these are ignored, and so is Forwarded from everybody: a proxy that
/// does not know it passes a stranger's on. A value that cannot be is a refusal.
std::variant<Origin, Refusal> origin_of(const RequestHead& head,
                                        const boost::asio::ip::address& peer, bool secure,
                                        const std::vector<Network>& trusted_proxies);

/// True when a service with these public names answers for `host` ("name:port"): the names, any
/// loopback name or address, and any IP address, which no other site's name can stand for (a
/// browser sends the name that it looked up). An empty host is nobody's; no names mean any.
bool is_our_host(std::string_view host, const std::vector<std::string>& public_names);

}    // namespace slipway
