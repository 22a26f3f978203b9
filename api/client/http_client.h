#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/percent_encode.h"
#include "api/base/result.h"
#include "api/http/authority.h"
#include "api/http/header.h"

namespace slipway::client {

/// Where the service is.
struct ServiceUrl {
    bool tls = false;
    Authority authority;
};

/// "http://127.0.0.1:8470", "https://slipway.example". A path is refused, except "/".
Result<ServiceUrl> parse_service_url(std::string_view text);
std::string to_string(const ServiceUrl& url);

struct ClientRequest {
    std::string method = "GET";
    std::string target;    ///< "/v1/jobs?limit=5"
    std::string body = {};
    std::string media_type = "application/json";    ///< of the body, when there is one
    std::vector<HttpHeader> headers = {};
};

struct ClientResponse {
    int status = 0;
    std::string body;
    std::vector<HttpHeader> headers;

    /// The first header of that name (any case), or empty.
    std::string_view header(std::string_view name) const;
};

struct ClientOptions {
    ServiceUrl url;
    std::string token;
    std::string certificate_authority = {};    ///< PEM file for https; empty: the system's
    std::chrono::milliseconds connect_timeout{5000};
    /// Longest silence while an answer is awaited or comes in.
    std::chrono::milliseconds silence_max{60000};
};

/// A blocking HTTP client: one connection per request, one thread at a time.
/// errors  every function throws Error{unavailable} when the service cannot be reached or breaks
///         off; answers of any status are answers
class HttpClient {
public:
    explicit HttpClient(ClientOptions options) : options_(std::move(options)) {}

    const ClientOptions& options() const { return options_; }

    /// The whole answer; at most 256 MiB.
    ClientResponse send(const ClientRequest& request) const;

    /// Gives the body of a 2xx answer piece by piece to `take` until it ends or `take` returns
    /// false; the body of any other answer is returned whole.
    ClientResponse stream(const ClientRequest& request,
                          const std::function<bool(std::string_view)>& take) const;

private:
    ClientOptions options_;
};

using slipway::percent_encode;

}    // namespace slipway::client
