// Request smuggling needs two readers of one request who disagree on where it ends. So this parser
// accepts less than RFC 9112 allows: one way to write each thing that decides the length of the
// body or the host, everything else is an error that closes the connection. It is written by hand
// for that reason; a second reader (second_reader.h, a library's parser) reads every accepted head
// again, and a difference is an error, too.
//
// What the functions keep: the scanner looks at each byte once and finds what can never become a
// good head before the head has ended; parse_head sees only heads that the scanner let pass (no
// control bytes, CR LF alone ends lines), and is pure. Rules that frame the body come before all
// others.

#include "server/http/head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/base/letter_case.h"
#include "server/http/text.h"

namespace slipway {

namespace {

using MaybeRefusal = std::optional<Refusal>;

/// The values of all headers of one name.
std::vector<std::string_view> values_of(const RequestHead& head, std::string_view lower_name) {
    std::vector<std::string_view> values;
    for (const Pair& header : head.headers)
        if (header.name == lower_name) values.push_back(header.value);
    return values;
}

MaybeRefusal read_version(std::string_view version, RequestHead& head) {
    const bool well_formed = version.size() == 8 && version.starts_with("HTTP/") &&
                             version[5] >= '0' && version[5] <= '9' && version[6] == '.' &&
                             version[7] >= '0' && version[7] <= '9';
    if (!well_formed)
        return Refusal{400, "bad_request_line", "the request line must end with HTTP/1.1"};
    if (version[5] != '1')
        return Refusal{505, "version_not_supported", "only HTTP/1.1 and HTTP/1.0 are supported"};
    head.minor_version = version[7] - '0';
    head.http_1_1 = head.minor_version > 0;
    return std::nullopt;
}

MaybeRefusal read_request_line(std::string_view line, const HttpLimits& limits, RequestHead& head) {
    const auto first = line.find(' '), last = line.rfind(' ');
    if (first == std::string_view::npos || first == last)
        return Refusal{400, "bad_request_line", "the request line must be: method target version"};
    const std::string_view method = line.substr(0, first);
    const std::string_view target = line.substr(first + 1, last - first - 1);
    if (target.empty() ||
        !std::all_of(target.begin(), target.end(), [](char c) { return c > 0x20 && c < 0x7f; }))
        return Refusal{400, "bad_request_line",
                       "the target must be one word of printable ASCII; escape other bytes"};
    if (!is_token(method)) return Refusal{400, "bad_request_line", "the method is not a word"};
    if (auto refusal = read_version(line.substr(last + 1), head)) return refusal;
    if (target.size() > limits.target_bytes)
        return Refusal{414, "target_too_long",
                       fmt::format("the target is longer than {} bytes", limits.target_bytes)};
    const std::optional<Method> known = parse_method(method);
    if (!known)
        return Refusal{501, "method_unknown",
                       "the method must be GET, HEAD, POST, PUT, PATCH, "
                       "DELETE or OPTIONS"};
    head.method = *known;
    head.raw_target = target;
    std::variant<Target, Refusal> parsed = parse_target(target);
    if (auto* refusal = std::get_if<Refusal>(&parsed)) return *refusal;
    head.target = std::move(std::get<Target>(parsed));
    if (head.target.path == "*" && head.method != Method::OPTIONS)
        return Refusal{400, "target_form", "the target * is for OPTIONS alone"};
    return std::nullopt;
}

MaybeRefusal read_headers(std::string_view rest, const HttpLimits& limits, RequestHead& head) {
    while (rest != "\r\n") {
        const auto end = rest.find("\r\n");
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end + 2);
        if (line.starts_with(' ') || line.starts_with('\t'))
            return Refusal{400, "folded_header", "a header must not continue on the next line"};
        std::optional<Pair> field = parse_field_line(line);
        if (!field) return Refusal{400, "bad_header", "a header must be: name, colon, value"};
        if (head.headers.size() == limits.header_count)
            return Refusal{431, "too_many_headers",
                           fmt::format("there are more than {} headers", limits.header_count)};
        head.headers.push_back(std::move(*field));
    }
    return std::nullopt;
}

MaybeRefusal check_names(RequestHead& head) {
    // Some proxies and gateways read _ as -, so these would frame the body for them alone.
    for (const Pair& header : head.headers)
        if (header.name == "content_length" || header.name == "transfer_encoding")
            return Refusal{400, "bad_header", "write " + header.name + " with a hyphen"};
    return std::nullopt;
}

MaybeRefusal check_transfer_encoding(RequestHead& head) {
    const auto values = values_of(head, "transfer-encoding");
    if (values.empty()) return std::nullopt;
    if (values.size() > 1 || !equal_ignoring_case(values[0], "chunked"))
        return Refusal{400, "bad_transfer_encoding",
                       "Transfer-Encoding must be given once and be: chunked"};
    if (!head.http_1_1)
        return Refusal{400, "bad_transfer_encoding", "HTTP/1.0 has no Transfer-Encoding"};
    if (head.header("content-length"))
        return Refusal{400, "two_lengths",
                       "send either Transfer-Encoding or Content-Length, not both"};
    head.chunked = true;
    return std::nullopt;
}

MaybeRefusal check_content_length(RequestHead& head) {
    const auto values = values_of(head, "content-length");
    if (values.empty()) return std::nullopt;
    const std::optional<std::uint64_t> bytes = parse_decimal(values[0]);
    if (values.size() > 1 || !bytes)
        return Refusal{400, "bad_content_length",
                       "Content-Length must be given once, as at most 19 digits"};
    head.body_bytes = *bytes;
    return std::nullopt;
}

MaybeRefusal check_host(RequestHead& head) {
    const auto values = values_of(head, "host");
    const bool may_lack = !head.http_1_1;
    if (values.size() > 1 || (values.empty() && !may_lack))
        return Refusal{400, "bad_host", "there must be exactly one Host header"};
    if (!values.empty() && !is_host(values[0]))
        return Refusal{400, "bad_host", "Host must be a name or an address, with an optional port"};
    const std::string& authority = head.target.authority;
    if (!authority.empty() && !is_host(authority))
        return Refusal{400, "bad_host",
                       "the target's URL must name a host or an address, with an optional port"};
    // A server goes by the target's authority and not by Host (RFC 9112, 3.2.2).
    if (!authority.empty())
        head.host = authority;
    else if (!values.empty())
        head.host = values[0];
    if (head.host.ends_with(':')) head.host.pop_back();
    return std::nullopt;
}

/// What a handler reads the first of: a proxy in front may have read, or added, the last.
MaybeRefusal check_single(RequestHead& head) {
    constexpr std::array<std::string_view, 7> single{
        "authorization", "content-type",   "cookie",       "idempotency-key",
        "origin",        "sec-fetch-site", "upload-offset"};
    for (const std::string_view name : single)
        if (values_of(head, name).size() > 1)
            return Refusal{400, "repeated_header",
                           fmt::format("there are several headers {}; send one", name)};
    return std::nullopt;
}

MaybeRefusal check_expect(RequestHead& head) {
    for (const std::string_view value : values_of(head, "expect")) {
        if (!equal_ignoring_case(value, "100-continue"))
            return Refusal{417, "expectation_failed",
                           "the only supported expectation is 100-continue"};
        head.expects_continue = head.http_1_1;
    }
    return std::nullopt;
}

MaybeRefusal read_connection(RequestHead& head) {
    head.keep_alive = head.http_1_1;
    for (const std::string_view value : values_of(head, "connection"))
        for (const std::string_view option : list_items(value))
            if (equal_ignoring_case(option, "close")) head.keep_alive = false;
    return std::nullopt;
}

/// In this order, so that what frames the body is judged before anything else.
constexpr std::array rules{
    check_names,  check_transfer_encoding, check_content_length, check_host, check_single,
    check_expect, read_connection};

}    // namespace

std::optional<std::string_view> RequestHead::header(std::string_view lower_name) const {
    for (const Pair& pair : headers)
        if (pair.name == lower_name) return pair.value;
    return std::nullopt;
}

bool is_host(std::string_view host) {
    const bool bracketed = host.starts_with('[');
    const auto name_end = bracketed ? host.find(']') : std::min(host.find(':'), host.size());
    if (name_end == std::string_view::npos) return false;
    const std::string_view name =
        bracketed ? host.substr(1, name_end - 1) : host.substr(0, name_end);
    const std::string_view rest = host.substr(bracketed ? name_end + 1 : name_end);
    // "host:" is a URL's way to say the default port (RFC 3986, 3.2.3).
    const bool good_port = rest.empty() || rest == ":" ||
                           (rest.size() <= 6 && rest[0] == ':' && parse_decimal(rest.substr(1)));
    const auto good = [bracketed](char c) {
        const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (bracketed) return hex || c == ':' || c == '.';
        return hex || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
               c == '_';
    };
    return good_port && !name.empty() && name.size() <= 255 &&
           std::all_of(name.begin(), name.end(), good);
}

std::optional<Pair> parse_field_line(std::string_view line) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) return std::nullopt;
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (!is_field_value(value)) return std::nullopt;
    return Pair{lower_case(line.substr(0, colon)), std::string(value)};
}

std::variant<std::optional<std::size_t>, Refusal> HeadScanner::scan(std::string_view bytes) {
    for (; looked_ < bytes.size(); ++looked_) {
        if (looked_ == limits_.header_bytes)
            return Refusal{431, "header_too_large",
                           fmt::format("request line and headers are larger than {} bytes",
                                       limits_.header_bytes)};
        const char c = bytes[looked_];
        const bool after_cr = looked_ > 0 && bytes[looked_ - 1] == '\r';
        if ((c == '\n') != after_cr)
            return Refusal{400, "bad_line_break", "lines must end with CR LF"};
        if (c == '\n') {
            if (first_line_end_ == 0) first_line_end_ = looked_ + 1;
            if (looked_ >= 3 && bytes[looked_ - 2] == '\n') return looked_++ + 1;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        if ((byte < 0x20 && c != '\r' && c != '\t') || byte == 0x7f)
            return Refusal{400, "control_byte", "there is a control byte before the body"};
        // 32: room for the method, the version and two spaces.
        if (first_line_end_ == 0 && looked_ >= limits_.target_bytes + 32)
            return Refusal{414, "target_too_long",
                           fmt::format("the target is longer than {} bytes", limits_.target_bytes)};
    }
    return std::nullopt;
}

std::variant<RequestHead, Refusal> parse_head(std::string_view bytes, const HttpLimits& limits) {
    RequestHead head;
    const auto line_end = bytes.find("\r\n");
    if (auto refusal = read_request_line(bytes.substr(0, line_end), limits, head)) return *refusal;
    if (auto refusal = read_headers(bytes.substr(line_end + 2), limits, head)) return *refusal;
    for (const auto& rule : rules)
        if (auto refusal = rule(head)) return *refusal;
    return head;
}

}    // namespace slipway
