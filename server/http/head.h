#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/http/server.h"
#include "server/http/target.h"

namespace slipway {

/// What the request line and the headers say, after the framing guard has let them pass: there is
/// exactly one way to read how long the body is.
struct RequestHead {
    Method method = Method::GET;
    std::string raw_target;
    Target target;
    bool http_1_1 = true;     ///< false: HTTP/1.0
    int minor_version = 1;    ///< above 1 it is dealt with as 1 (RFC 9110, 2.5)
    /// Whom the client means: the authority of an absolute target, else Host, without an empty
    /// port. Empty for HTTP/1.0 without either.
    std::string host;
    std::vector<Pair> headers;       ///< names in lower case, values trimmed
    bool chunked = false;            ///< the body comes in chunks
    std::uint64_t body_bytes = 0;    ///< from Content-Length; 0 when chunked
    bool keep_alive = false;         ///< HTTP/1.1 without "Connection: close"
    bool expects_continue = false;

    bool has_body() const { return chunked || body_bytes > 0; }
    std::optional<std::string_view> header(std::string_view lower_name) const;
};

/// Looks at bytes as they arrive. Keeps how far it has looked, so that no byte is looked at twice.
class HeadScanner {
public:
    explicit HeadScanner(const HttpLimits& limits) : limits_(limits) {}

    /// The size of the head in `bytes` (which has grown since the last call), its blank line
    /// included; none: more is needed. Refuses at once what can never become a good head: control
    /// bytes, a line break that is not CR LF, a head or target over its limit.
    std::variant<std::optional<std::size_t>, Refusal> scan(std::string_view bytes);

private:
    const HttpLimits& limits_;
    std::size_t looked_ = 0;
    std::size_t first_line_end_ = 0;    // 0: not yet seen
};

/// The framing guard: reads a whole head as HeadScanner measured it, and refuses whatever two
/// readers could understand differently. Pure.
///
/// request line   three parts by single spaces; a method of the list (else 501); HTTP/1.x
///                (else 505); path and query, an http URL, or * for OPTIONS; 414 above the target
///                limit
/// headers        no folding, no space before the colon, token names, no control bytes; 431 above
///                the count limit
/// length         Transfer-Encoding at most once, exactly "chunked", only in HTTP/1.1 and without
///                Content-Length; Content-Length at most once, digits only; neither spelled with _
/// Host           exactly once (HTTP/1.0: at most), a name or address with an optional port
/// Expect         only 100-continue (else 417)
std::variant<RequestHead, Refusal> parse_head(std::string_view bytes, const HttpLimits& limits);

/// True for a name or an address, with an optional port: a Host header's value.
bool is_host(std::string_view host);

/// One header line without its line break: name and trimmed value; none when malformed. Shared with
/// the reader of trailers.
std::optional<Pair> parse_field_line(std::string_view line);

}    // namespace slipway
