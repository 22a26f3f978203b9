// A name is resolved once, each of its addresses is judged, and the connection is made to those
// that passed, never by the name again: a name server that answers differently the second time
// changes nothing. TLS checks the certificate against the name all the same. One deadline covers
// everything; the answer's body is read up to a limit, so that the receiver can finish writing, and
// dropped.
#include "server/http/outgoing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/base/letter_case.h"
#include "api/http/connection.h"
#include "server/http/text.h"

namespace slipway {

namespace {

namespace asio = boost::asio;
using Failure = HttpConnection::Failure;

constexpr std::size_t url_bytes_max = 2000;

// IPv6 writes IPv4 networks as ::ffff:a.b.c.d.
constexpr auto special_networks = std::to_array<std::string_view>({
    "0.0.0.0/8",     "10.0.0.0/8",      "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
    "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24", "192.168.0.0/16",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",    "240.0.0.0/4",
    "::/96",         "64:ff9b::/96",    "64:ff9b:1::/48", "100::/64",       "2001::/23",
    "2001:db8::/32", "2002::/16",       "3fff::/20",      "5f00::/16",      "fc00::/7",
    "fe80::/10",     "fec0::/10",       "ff00::/8",
});

const std::vector<Network>& special() {
    static const std::vector<Network> networks = [] {
        std::vector<Network> parsed;
        for (const std::string_view text : special_networks)
            parsed.push_back(parse_network(text));
        return parsed;
    }();
    return networks;
}

Error bad_url(std::string_view what) {
    return {
        ErrorCode::invalid_argument,
        fmt::format("must be an absolute URL such as https://hooks.example.com/slipway: {}", what)};
}

HttpConnection::Endpoints find(const OutgoingUrl& url, Failure& failure) {
    const Authority& authority = url.authority;
    if (const auto address = literal_address(url)) return {{*address, authority.port}};
    return HttpConnection::resolve(authority.host, authority.port, failure);
}

/// The status of the answer, or why there is none.
OutgoingAnswer exchange(HttpConnection& connection, const OutgoingUrl& url,
                        const std::vector<Pair>& headers, std::string_view body,
                        std::size_t bytes_max) {
    const std::uint16_t usual = url.secure ? 443 : 80;
    std::vector<HttpHeader> sent{{"Host", to_string(url.authority, usual)}};
    for (const Pair& header : headers)
        sent.push_back({header.name, header.value});
    Failure failure = connection.send("POST", url.target, sent, body);
    int status = 0;
    std::vector<HttpHeader> received;
    if (!failure) failure = connection.receive_head(status, received);
    if (failure) return {.error = fmt::format("no answer: {}", failure.message())};
    // The status counts: what the receiver says beside it, or that it does not end, does not.
    std::array<char, 4096> dropped;
    std::size_t size = 1;
    for (std::size_t read = 0; size > 0 && read < bytes_max; read += size)
        if (connection.receive_body(dropped, size)) break;
    return {.status = status};
}

}    // namespace

Result<OutgoingUrl> parse_outgoing_url(std::string_view text) {
    if (text.size() > url_bytes_max) return bad_url("it is longer than 2000 bytes");
    OutgoingUrl url;
    const auto scheme_end = text.find("://");
    const std::string scheme = lower_case(text.substr(0, std::min(scheme_end, text.size())));
    if (scheme_end == text.npos || (scheme != "http" && scheme != "https"))
        return bad_url("its scheme is neither http nor https");
    url.secure = scheme == "https";
    text.remove_prefix(scheme_end + 3);
    const auto path = std::min(text.find_first_of("/?#"), text.size());
    const std::string_view authority = text.substr(0, path);
    if (authority.find('@') != authority.npos) return bad_url("it must not have a user");
    const auto parsed = parse_authority(authority, url.secure ? 443 : 80);
    if (!parsed) return bad_url("its host or port is not valid");
    url.authority = *parsed;
    text.remove_prefix(path);
    if (text.find('#') != text.npos) return bad_url("it must not have a fragment");
    if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; }))
        return bad_url("its path has characters that must be percent-encoded");
    url.target = text.starts_with('/') ? std::string(text) : "/" + std::string(text);
    return url;
}

std::optional<asio::ip::address> literal_address(const OutgoingUrl& url) {
    Failure failure;
    const asio::ip::address address = asio::ip::make_address(url.authority.host, failure);
    if (failure) return std::nullopt;
    return address;
}

bool is_public(const asio::ip::address& address) {
    return std::ranges::none_of(special(),
                                [&](const Network& network) { return contains(network, address); });
}

OutgoingClient::OutgoingClient(std::vector<Network> allowed, OutgoingLimits limits)
    : allowed_(std::move(allowed)), limits_(limits), tls_(asio::ssl::context::tls_client) {
    Failure none_is_trusted;
    tls_.set_default_verify_paths(none_is_trusted);
    tls_.set_verify_mode(asio::ssl::verify_peer);
}

bool OutgoingClient::may_reach(const asio::ip::address& address) const {
    return is_public(address) || std::ranges::any_of(allowed_, [&](const Network& network) {
               return contains(network, address);
           });
}

OutgoingAnswer OutgoingClient::post(const OutgoingUrl& url, const std::vector<Pair>& headers,
                                    std::string_view body) {
    const auto began = std::chrono::steady_clock::now();
    const std::string& host = url.authority.host;
    const auto run = [&]() -> OutgoingAnswer {
        Failure failure;
        auto endpoints = find(url, failure);
        std::erase_if(endpoints, [&](const auto& one) { return !may_reach(one.address()); });
        // The same for a name that does not exist: else it would tell which internal names do.
        if (endpoints.empty())
            return {.error = fmt::format(
                        "{} has no address that webhooks may reach: check the name; the operator "
                        "can allow an internal one (--webhook-allow)",
                        host)};
        HttpConnection connection({.deadline = began + limits_.total});
        failure = connection.connect(endpoints);
        if (failure) return {.error = fmt::format("no connection: {}", failure.message())};
        if (url.secure) failure = connection.start_tls(tls_, host);
        if (failure) return {.error = fmt::format("no TLS: {}", failure.message())};
        return exchange(connection, url, headers, body, limits_.answer_bytes_max);
    };
    OutgoingAnswer answer = run();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    answer.seconds = taken.count();
    return answer;
}

}    // namespace slipway
