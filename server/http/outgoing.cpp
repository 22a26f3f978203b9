// A name is resolved once, each of its addresses is judged, and the connection is made to those
// that passed, never by the name again: a name server that answers differently the second time
// changes nothing. TLS checks the certificate against the name all the same. One deadline covers
// everything; the answer's body is read up to a limit, so that the receiver can finish writing, and
// dropped.
#include "server/http/outgoing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>

#include "server/http/text.h"

namespace slipway {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using ErrorOfSystem = boost::system::error_code;
using Endpoints = std::vector<asio::ip::tcp::endpoint>;

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

/// Splits "host:port" or "[v6]:port". False: it is neither.
bool read_authority(std::string_view authority, OutgoingUrl& url) {
    std::string_view port;
    if (authority.starts_with('[')) {
        const auto close = authority.find(']');
        if (close == authority.npos) return false;
        url.host = authority.substr(1, close - 1);
        if (url.host.find(':') == std::string::npos) return false;
        authority.remove_prefix(close + 1);
        if (!authority.empty() && authority.front() != ':') return false;
        port = authority.substr(std::min<std::size_t>(1, authority.size()));
    } else {
        const auto colon = authority.find(':');
        url.host = authority.substr(0, colon);
        if (colon != authority.npos) port = authority.substr(colon + 1);
    }
    if (port.empty()) return !url.host.empty();
    const auto number = parse_decimal(port);
    if (!number || *number == 0 || *number > 65535) return false;
    url.port = std::uint16_t(*number);
    return !url.host.empty();
}

bool is_host_character(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_' || c == ':';
}

/// One message, on one thread.
class OutgoingExchange {
public:
    explicit OutgoingExchange(std::chrono::milliseconds total)
        : deadline_(std::chrono::steady_clock::now() + total) {}

    Endpoints resolve(const OutgoingUrl& url, ErrorOfSystem& error) {
        if (const auto address = literal_address(url)) return {{*address, url.port}};
        asio::ip::tcp::resolver resolver(io_);
        Endpoints found;
        error = finish([&](auto done) {
            resolver.async_resolve(url.host, std::to_string(url.port),
                                   [&found, done](ErrorOfSystem failed, auto results) {
                                       for (const auto& one : results)
                                           found.push_back(one.endpoint());
                                       done(failed);
                                   });
        });
        return found;
    }

    ErrorOfSystem connect(beast::tcp_stream& stream, const Endpoints& endpoints) {
        stream.expires_at(deadline_);
        return finish([&](auto done) { stream.async_connect(endpoints, done); });
    }

    template <class Operation>
    ErrorOfSystem finish(Operation start) {
        ErrorOfSystem result = asio::error::timed_out;
        start([&result](ErrorOfSystem error, auto&&...) { result = error; });
        io_.restart();
        // A stream ends its operations at the deadline by itself. A name that is still looked up is
        // given up with the exchange, and its handler never runs.
        io_.run_until(deadline_ + std::chrono::milliseconds{500});
        return result == beast::error::timeout ? ErrorOfSystem(asio::error::timed_out) : result;
    }

    asio::io_context& io() { return io_; }

private:
    const std::chrono::steady_clock::time_point deadline_;
    asio::io_context io_{1};
};

std::string authority_of(const OutgoingUrl& url) {
    const bool v6 = url.host.find(':') != std::string::npos;
    const std::string host = v6 ? "[" + url.host + "]" : url.host;
    const bool usual = url.port == (url.secure ? 443 : 80);
    return usual ? host : fmt::format("{}:{}", host, url.port);
}

template <class Stream>
ErrorOfSystem send(OutgoingExchange& exchange, Stream& stream, const OutgoingUrl& url,
                   const std::vector<Pair>& headers, std::string_view body) {
    beast::http::request<beast::http::string_body> message(beast::http::verb::post, url.target, 11);
    message.set(beast::http::field::host, authority_of(url));
    message.set(beast::http::field::connection, "close");
    for (const Pair& header : headers)
        message.set(header.name, header.value);
    message.body() = body;
    message.prepare_payload();
    return exchange.finish([&](auto done) { beast::http::async_write(stream, message, done); });
}

/// The status of the answer; its body is dropped.
template <class Stream>
ErrorOfSystem receive(OutgoingExchange& exchange, Stream& stream, std::size_t bytes_max,
                      int& status) {
    beast::flat_buffer buffer(16 * 1024);
    beast::http::response_parser<beast::http::buffer_body> parser;
    parser.body_limit(boost::none);
    parser.header_limit(16 * 1024);
    ErrorOfSystem error = exchange.finish(
        [&](auto done) { beast::http::async_read_header(stream, buffer, parser, done); });
    if (error) return error;
    status = int(parser.get().result_int());
    std::array<char, 4096> dropped;
    for (std::size_t read = 0; !parser.is_done() && read < bytes_max;) {
        parser.get().body().data = dropped.data();
        parser.get().body().size = dropped.size();
        error = exchange.finish(
            [&](auto done) { beast::http::async_read(stream, buffer, parser, done); });
        if (error && error != beast::http::error::need_buffer) break;
        read += dropped.size() - parser.get().body().size;
    }
    // The status counts: what the receiver says beside it, or that it does not end, does not.
    return {};
}

template <class Stream>
void talk(OutgoingExchange& exchange, Stream& stream, const OutgoingUrl& url,
          const std::vector<Pair>& headers, std::string_view body, std::size_t bytes_max,
          OutgoingAnswer& answer) {
    ErrorOfSystem error = send(exchange, stream, url, headers, body);
    int status = 0;
    if (!error) error = receive(exchange, stream, bytes_max, status);
    if (error)
        answer.error = fmt::format("no answer: {}", error.message());
    else
        answer.status = status;
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
    url.port = url.secure ? 443 : 80;
    text.remove_prefix(scheme_end + 3);
    const auto path = std::min(text.find_first_of("/?#"), text.size());
    const std::string_view authority = text.substr(0, path);
    if (authority.find('@') != authority.npos) return bad_url("it must not have a user");
    if (!read_authority(authority, url) || !std::ranges::all_of(url.host, is_host_character))
        return bad_url("its host or port is not valid");
    text.remove_prefix(path);
    if (text.find('#') != text.npos) return bad_url("it must not have a fragment");
    if (!std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; }))
        return bad_url("its path has characters that must be percent-encoded");
    url.target = text.starts_with('/') ? std::string(text) : "/" + std::string(text);
    return url;
}

std::optional<asio::ip::address> literal_address(const OutgoingUrl& url) {
    ErrorOfSystem error;
    const asio::ip::address address = asio::ip::make_address(url.host, error);
    if (error) return std::nullopt;
    return address;
}

bool is_public(const asio::ip::address& address) {
    return std::ranges::none_of(special(),
                                [&](const Network& network) { return contains(network, address); });
}

OutgoingClient::OutgoingClient(std::vector<Network> allowed, OutgoingLimits limits)
    : allowed_(std::move(allowed)), limits_(limits), tls_(asio::ssl::context::tls_client) {
    ErrorOfSystem none_is_trusted;
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
    OutgoingAnswer answer;
    OutgoingExchange exchange(limits_.total);
    const auto run = [&] {
        ErrorOfSystem error;
        Endpoints endpoints = exchange.resolve(url, error);
        if (error || endpoints.empty()) {
            answer.error = fmt::format("{} was not found: {}", url.host, error.message());
            return;
        }
        std::erase_if(endpoints, [&](const auto& one) { return !may_reach(one.address()); });
        if (endpoints.empty()) {
            answer.error = fmt::format(
                "{} has no address that webhooks may reach; the operator can allow it "
                "(--webhook-allow)",
                url.host);
            return;
        }
        beast::ssl_stream<beast::tcp_stream> stream(exchange.io(), tls_);
        error = exchange.connect(beast::get_lowest_layer(stream), endpoints);
        if (error) {
            answer.error = fmt::format("no connection: {}", error.message());
            return;
        }
        if (!url.secure)
            return talk(exchange, stream.next_layer(), url, headers, body, limits_.answer_bytes_max,
                        answer);
        SSL_set_tlsext_host_name(stream.native_handle(), url.host.c_str());
        stream.set_verify_callback(asio::ssl::host_name_verification(url.host));
        error = exchange.finish(
            [&](auto done) { stream.async_handshake(asio::ssl::stream_base::client, done); });
        if (error) {
            answer.error = fmt::format("no TLS: {}", error.message());
            return;
        }
        talk(exchange, stream, url, headers, body, limits_.answer_bytes_max, answer);
    };
    run();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    answer.seconds = taken.count();
    return answer;
}

}    // namespace slipway
