#include "api/client/http_client.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "api/base/letter_case.h"
#include "api/http/connection.h"

namespace slipway::client {
namespace {

using Failure = HttpConnection::Failure;
namespace ssl = boost::asio::ssl;

constexpr std::size_t body_bytes_max = std::size_t{256} << 20;

[[noreturn]] void unreachable(const ServiceUrl& url, const Failure& failure) {
    const std::string reason =
        failure == boost::asio::error::timed_out ? "no answer in time" : failure.message();
    throw Error(ErrorCode::unavailable, fmt::format("{}: {}", to_string(url), reason));
}

std::vector<HttpHeader> headers_of(const ClientOptions& options, const ClientRequest& request) {
    std::vector<HttpHeader> headers{{"Host", to_string(options.url.authority)},
                                    {"User-Agent", "slipway-cli"}};
    if (!options.token.empty()) headers.push_back({"Authorization", "Bearer " + options.token});
    if (!request.body.empty()) headers.push_back({"Content-Type", request.media_type});
    headers.insert(headers.end(), request.headers.begin(), request.headers.end());
    return headers;
}

void connect(HttpConnection& connection, const ClientOptions& options) {
    Failure failure;
    const auto endpoints =
        HttpConnection::resolve(options.url.authority.host, options.url.authority.port, failure);
    if (failure) unreachable(options.url, failure);
    connection.set_limits({.deadline = std::chrono::steady_clock::now() + options.connect_timeout});
    failure = connection.connect(endpoints);
    if (failure) unreachable(options.url, failure);
}

void start_tls(HttpConnection& connection, ssl::context& context, const ClientOptions& options) {
    context.set_verify_mode(ssl::verify_peer);
    Failure failure;
    if (options.certificate_authority.empty())
        context.set_default_verify_paths(failure);
    else
        context.load_verify_file(options.certificate_authority, failure);
    if (!failure) failure = connection.start_tls(context, options.url.authority.host);
    if (failure) unreachable(options.url, failure);
}

std::string_view strip(std::string_view text, std::string_view prefix, bool& found) {
    found = text.starts_with(prefix);
    return found ? text.substr(prefix.size()) : text;
}

}    // namespace

Result<ServiceUrl> parse_service_url(std::string_view text) {
    ServiceUrl url;
    bool plain = false;
    std::string_view rest = strip(text, "http://", plain);
    if (!plain) rest = strip(text, "https://", url.tls);
    if (rest.ends_with('/')) rest.remove_suffix(1);
    const auto authority = parse_authority(rest, url.tls ? 443 : 80);
    if (!authority || (!plain && !url.tls))
        return Error(ErrorCode::invalid_argument,
                     fmt::format("the service's address must look like http://127.0.0.1:8470, "
                                 "got `{}`",
                                 text));
    url.authority = *authority;
    return url;
}

std::string to_string(const ServiceUrl& url) {
    return (url.tls ? "https://" : "http://") + to_string(url.authority);
}

std::string_view ClientResponse::header(std::string_view name) const {
    for (const HttpHeader& one : headers)
        if (equal_ignoring_case(one.name, name)) return one.value;
    return {};
}

ClientResponse HttpClient::send(const ClientRequest& request) const {
    return stream(request, nullptr);
}

ClientResponse HttpClient::stream(const ClientRequest& request,
                                  const std::function<bool(std::string_view)>& take) const {
    std::optional<ssl::context> context;
    HttpConnection connection({});
    connect(connection, options_);
    if (options_.url.tls)
        start_tls(connection, context.emplace(ssl::context::tls_client), options_);
    connection.set_limits({.silence_max = options_.silence_max});

    // A service that refuses early closes its side while we still write: its answer counts.
    const Failure unsent = connection.send(request.method, request.target,
                                           headers_of(options_, request), request.body);
    ClientResponse response;
    if (unsent == boost::asio::error::timed_out) unreachable(options_.url, unsent);
    Failure failure = connection.receive_head(response.status, response.headers);
    if (failure) unreachable(options_.url, unsent ? unsent : failure);

    const bool taken = take && response.status >= 200 && response.status < 300;
    std::array<char, 65536> piece{};
    std::size_t size = 0;
    while (true) {
        failure = connection.receive_body(piece, size);
        if (failure) unreachable(options_.url, failure);
        if (size == 0) break;
        const std::string_view got(piece.data(), size);
        if (taken && !take(got)) break;
        if (taken) continue;
        response.body += got;
        if (response.body.size() > body_bytes_max)
            throw Error(ErrorCode::exhausted, "the answer is longer than 256 MiB");
    }
    return response;
}

}    // namespace slipway::client
