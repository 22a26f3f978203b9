#include "server/http/origin.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/base/letter_case.h"
#include "server/http/text.h"

// What a request says about itself is believed as far as the connection vouches for it. A proxy
// appends to X-Forwarded-For, so the list is read from its end: the first address that is not a
// trusted proxy's is the last that somebody trusted has seen. What stands before it may be made up.
namespace slipway {

namespace ip = boost::asio::ip;

namespace {

/// "1.2.3.4", "1.2.3.4:80", "::1" or "[::1]:80".
std::optional<ip::address> parse_address(std::string_view text) {
    boost::system::error_code error;
    if (text.starts_with('[')) {
        const auto end = text.find(']');
        if (end == std::string_view::npos) return std::nullopt;
        text = text.substr(1, end - 1);
    } else if (std::count(text.begin(), text.end(), ':') == 1) {
        text = text.substr(0, text.find(':'));
    }
    const ip::address address = ip::make_address(text, error);
    if (error) return std::nullopt;
    return address;
}

/// All items of all headers of that name, in order.
std::vector<std::string_view> items_of(const RequestHead& head, std::string_view lower_name) {
    std::vector<std::string_view> items;
    for (const Pair& header : head.headers)
        if (header.name == lower_name)
            for (const std::string_view item : list_items(header.value))
                items.push_back(item);
    return items;
}

std::string_view without_port(std::string_view host) {
    if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
    return host.substr(0, host.find(':'));
}

Refusal bad_forwarded(std::string_view header) {
    return {400, "bad_forwarded", fmt::format("the proxy sends an {} that cannot be", header)};
}

}    // namespace

bool is_trusted(const ip::address& address, const std::vector<Network>& trusted_proxies) {
    return std::ranges::any_of(trusted_proxies,
                               [&](const Network& network) { return contains(network, address); });
}

std::variant<Origin, Refusal> origin_of(const RequestHead& head, const ip::address& peer,
                                        bool secure, const std::vector<Network>& trusted_proxies) {
    Origin origin{.client = peer, .secure = secure, .host = head.host, .forwarded = false};
    if (!is_trusted(peer, trusted_proxies)) return origin;
    const auto clients = items_of(head, "x-forwarded-for");
    for (auto item = clients.rbegin(); item != clients.rend(); ++item) {
        const auto address = parse_address(*item);
        if (!address) return bad_forwarded("X-Forwarded-For");
        origin.client = *address;
        origin.forwarded = true;
        if (!is_trusted(*address, trusted_proxies)) break;
    }
    if (const auto schemes = items_of(head, "x-forwarded-proto"); !schemes.empty()) {
        const bool tls = equal_ignoring_case(schemes.back(), "https");
        if (!tls && !equal_ignoring_case(schemes.back(), "http"))
            return bad_forwarded("X-Forwarded-Proto");
        origin.secure = tls;
    }
    if (const auto hosts = items_of(head, "x-forwarded-host"); !hosts.empty()) {
        if (!is_host(hosts.back())) return bad_forwarded("X-Forwarded-Host");
        origin.host = hosts.back();
        if (origin.host.ends_with(':')) origin.host.pop_back();
    }
    return origin;
}

bool is_our_host(std::string_view host, const std::vector<std::string>& public_names) {
    if (host.empty() || public_names.empty()) return true;
    std::string_view name = without_port(host);
    if (name.ends_with('.')) name.remove_suffix(1);
    boost::system::error_code error;
    ip::make_address(name, error);
    if (!error || equal_ignoring_case(name, "localhost")) return true;
    return std::ranges::any_of(
        public_names, [&](const std::string& ours) { return equal_ignoring_case(name, ours); });
}

}    // namespace slipway
