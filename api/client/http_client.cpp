#include "api/client/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/beast/version.hpp>
#include <cctype>
#include <charconv>

namespace slipway::client {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using ErrorCodeOf = boost::system::error_code;

constexpr std::size_t body_bytes_max = std::size_t{256} << 20;

[[noreturn]] void unreachable(const ServiceUrl& url, const ErrorCodeOf& error) {
    const std::string reason =
        error == beast::error::timeout ? "no answer in time" : error.message();
    throw Error(ErrorCode::unavailable, fmt::format("{}: {}", to_string(url), reason));
}

std::string authority(const ServiceUrl& url) {
    const bool v6 = url.host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", v6 ? "[" : "", url.host, v6 ? "]" : "", url.port);
}

// Runs one asynchronous operation to its end: the synchronous ones of Asio know no timeout.
struct Exchange {
    const ClientOptions& options;
    asio::io_context io;

    template <class Start>
    ErrorCodeOf finish(Start start) {
        ErrorCodeOf result = asio::error::would_block;
        start([&result](ErrorCodeOf error, auto&&...) { result = error; });
        io.restart();
        io.run();
        return result;
    }

    void connect(beast::tcp_stream& stream) {
        asio::ip::tcp::resolver resolver(io);
        ErrorCodeOf error;
        const auto found =
            resolver.resolve(options.url.host, std::to_string(options.url.port), error);
        if (error) unreachable(options.url, error);
        stream.expires_after(options.connect_timeout);
        error = finish([&](auto done) { stream.async_connect(found, done); });
        if (error) unreachable(options.url, error);
    }

    template <class Stream>
    ClientResponse perform(Stream& stream, const ClientRequest& request,
                           const std::function<bool(std::string_view)>& take);
};

http::request<http::string_body> wire_request(const ClientOptions& options,
                                              const ClientRequest& request) {
    http::request<http::string_body> message;
    message.version(11);
    message.method_string(request.method);
    message.target(request.target);
    message.set(http::field::host, authority(options.url));
    message.set(http::field::user_agent, "slipway-cli");
    message.set(http::field::connection, "close");
    if (!options.token.empty()) message.set(http::field::authorization, "Bearer " + options.token);
    for (const ClientHeader& header : request.headers)
        message.set(header.name, header.value);
    if (request.method != "GET" && request.method != "HEAD") {
        if (!request.body.empty()) message.set(http::field::content_type, request.media_type);
        message.body() = request.body;
        message.prepare_payload();
    }
    return message;
}

template <class Stream>
ClientResponse Exchange::perform(Stream& stream, const ClientRequest& request,
                                 const std::function<bool(std::string_view)>& take) {
    auto& lowest = beast::get_lowest_layer(stream);
    const auto message = wire_request(options, request);
    lowest.expires_after(options.silence_max);
    // A service that refuses early closes its side while we still write: its answer counts.
    const ErrorCodeOf written =
        finish([&](auto done) { http::async_write(stream, message, done); });

    beast::flat_buffer buffer;
    http::response_parser<http::buffer_body> parser;
    parser.body_limit(boost::none);
    if (request.method == "HEAD") parser.skip(true);
    ErrorCodeOf error =
        finish([&](auto done) { http::async_read_header(stream, buffer, parser, done); });
    if (error) unreachable(options.url, written ? written : error);

    ClientResponse response;
    response.status = static_cast<int>(parser.get().result_int());
    for (const auto& field : parser.get())
        response.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    const bool taken = take && response.status >= 200 && response.status < 300;
    std::array<char, 65536> piece{};
    while (!parser.is_done()) {
        parser.get().body().data = piece.data();
        parser.get().body().size = piece.size();
        lowest.expires_after(options.silence_max);
        error = finish([&](auto done) { http::async_read_some(stream, buffer, parser, done); });
        if (error && error != http::error::need_buffer) unreachable(options.url, error);
        const std::string_view got(piece.data(), piece.size() - parser.get().body().size);
        if (taken && !got.empty() && !take(got)) break;
        if (taken) continue;
        response.body += got;
        if (response.body.size() > body_bytes_max)
            throw Error(ErrorCode::exhausted, "the answer is longer than 256 MiB");
    }
    return response;
}

std::string_view strip(std::string_view text, std::string_view prefix, bool& found) {
    found = text.starts_with(prefix);
    return found ? text.substr(prefix.size()) : text;
}

bool same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) ==
               std::tolower(static_cast<unsigned char>(y));
    });
}

}    // namespace

Result<ServiceUrl> parse_service_url(std::string_view text) {
    const auto refuse = [&] {
        return Error(ErrorCode::invalid_argument,
                     fmt::format("the service's address must look like http://127.0.0.1:8470, "
                                 "got `{}`",
                                 text));
    };
    ServiceUrl url;
    bool plain = false;
    std::string_view rest = strip(text, "http://", plain);
    if (!plain) rest = strip(text, "https://", url.tls);
    if (!plain && !url.tls) return refuse();
    url.port = url.tls ? 443 : 80;
    if (rest.ends_with('/')) rest.remove_suffix(1);
    if (rest.empty() || rest.find_first_of("/?#@ ") != std::string_view::npos) return refuse();
    const std::size_t bracket = rest.rfind(']');
    const std::size_t colon = rest.rfind(':');
    if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
        const std::string_view digits = rest.substr(colon + 1);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), url.port);
        if (error != std::errc{} || end != digits.data() + digits.size() || url.port == 0)
            return refuse();
        rest = rest.substr(0, colon);
    }
    if (rest.starts_with('[') && rest.ends_with(']')) rest = rest.substr(1, rest.size() - 2);
    if (rest.empty()) return refuse();
    url.host = rest;
    return url;
}

std::string to_string(const ServiceUrl& url) {
    return (url.tls ? "https://" : "http://") + authority(url);
}

std::string_view ClientResponse::header(std::string_view name) const {
    for (const ClientHeader& one : headers)
        if (same_name(one.name, name)) return one.value;
    return {};
}

ClientResponse HttpClient::send(const ClientRequest& request) const {
    return stream(request, nullptr);
}

ClientResponse HttpClient::stream(const ClientRequest& request,
                                  const std::function<bool(std::string_view)>& take) const {
    Exchange exchange{options_, {}};
    if (!options_.url.tls) {
        beast::tcp_stream stream(exchange.io);
        exchange.connect(stream);
        return exchange.perform(stream, request, take);
    }
    asio::ssl::context context(asio::ssl::context::tls_client);
    context.set_verify_mode(asio::ssl::verify_peer);
    ErrorCodeOf error;
    if (options_.certificate_authority.empty())
        context.set_default_verify_paths(error);
    else
        context.load_verify_file(options_.certificate_authority, error);
    if (error) unreachable(options_.url, error);
    beast::ssl_stream<beast::tcp_stream> stream(exchange.io, context);
    stream.set_verify_callback(asio::ssl::host_name_verification(options_.url.host));
    if (SSL_set_tlsext_host_name(stream.native_handle(), options_.url.host.c_str()) != 1)
        throw Error(ErrorCode::invalid_argument, "the host name cannot be used for TLS");
    exchange.connect(beast::get_lowest_layer(stream));
    error = exchange.finish(
        [&](auto done) { stream.async_handshake(asio::ssl::stream_base::client, done); });
    if (error) unreachable(options_.url, error);
    return exchange.perform(stream, request, take);
}

}    // namespace slipway::client
