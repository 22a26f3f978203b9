#pragma once

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "api/http/authority.h"
#include "server/http/message.h"
#include "server/http/network.h"

namespace slipway {

/// Where a message to another service goes.
struct OutgoingUrl {
    bool secure = true;    ///< https
    Authority authority;
    std::string target = "/";    ///< path and query
};

/// An absolute http or https URL without user and fragment. errors  invalid_argument saying what is
/// wrong
Result<OutgoingUrl> parse_outgoing_url(std::string_view text);

/// The address that a URL has instead of a name.
std::optional<boost::asio::ip::address> literal_address(const OutgoingUrl& url);

/// False for addresses that are not of the internet at large: loopback, private, link-local,
/// multicast, reserved ones, and IPv6 addresses that stand for such an IPv4 one.
/// Source: IANA special-purpose address registries
bool is_public(const boost::asio::ip::address& address);

struct OutgoingLimits {
    std::chrono::milliseconds total{10'000};     ///< from the name to the end of the answer
    std::size_t answer_bytes_max = 64 * 1024;    ///< that are read, and thrown away
};

/// How a message was taken.
struct OutgoingAnswer {
    std::optional<int> status = {};    ///< none: `error` says why there was no answer
    std::string error = {};            ///< empty: there was one
    double seconds = 0;
};

/// Posts messages to services that users name. Who may name any address could make the service
/// speak to its neighbours, so it connects only to public addresses and those that the operator
/// allows; the check is of the very address that is connected to, after the name was resolved, and
/// redirects are not followed. Of an answer only the status is kept. Safe from every thread.
class OutgoingClient {
public:
    explicit OutgoingClient(std::vector<Network> allowed, OutgoingLimits limits = {});

    bool may_reach(const boost::asio::ip::address& address) const;

    /// Blocks for at most `limits.total`, and the time the system takes for a name.
    OutgoingAnswer post(const OutgoingUrl& url, const std::vector<Pair>& headers,
                        std::string_view body);

private:
    const std::vector<Network> allowed_;
    const OutgoingLimits limits_;
    boost::asio::ssl::context tls_;
};

}    // namespace slipway
