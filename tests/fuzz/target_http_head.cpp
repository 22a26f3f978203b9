#include <fmt/format.h>

#include <algorithm>

#include "api/base/check.h"
#include "server/http/head.h"
#include "server/http/second_reader.h"
#include "server/http/text.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

namespace slipway {
namespace {

using Scanned = std::variant<std::optional<std::size_t>, Refusal>;

// As the bytes come, one more with each call.
Scanned scan_byte_by_byte(std::string_view bytes, const HttpLimits& limits) {
    HeadScanner scanner(limits);
    Scanned scanned = scanner.scan("");
    for (std::size_t count = 1; count <= bytes.size(); ++count) {
        scanned = scanner.scan(bytes.substr(0, count));
        const auto* size = std::get_if<std::optional<std::size_t>>(&scanned);
        if (size == nullptr || *size) return scanned;
    }
    return scanned;
}

void check_same(const Scanned& whole, const Scanned& bytewise) {
    check(whole.index() == bytewise.index(), "how a head arrives does not decide what it is");
    if (const auto* refusal = std::get_if<Refusal>(&whole))
        check(refusal->code == std::get<Refusal>(bytewise).code, "nor why it is refused");
    else
        check(std::get<0>(whole) == std::get<0>(bytewise), "nor how long it is");
}

void check_target(const Target& target) {
    check(is_valid_utf8(target.path), "a path is UTF-8");
    for (const std::string& segment : target.segments) {
        check(segment != "." && segment != "..", "no segment leads upwards");
        check(std::ranges::none_of(segment, [](char c) { return c == '/' || c == '\\' || c == 0; }),
              "no segment hides a separator");
    }
    for (const Pair& pair : target.query_pairs)
        check(is_valid_utf8(pair.name) && is_valid_utf8(pair.value), "a query is UTF-8");
}

std::string text_of(const Refusal& refusal) {
    check(refusal.status >= 400 && !refusal.detail.empty(), "a refusal says why");
    return fmt::format("{} {}", refusal.status, refusal.code);
}

}    // namespace

std::string run_http_head(std::span<const std::byte> input) {
    const std::string bytes = text_of(input);
    const HttpLimits limits;
    HeadScanner scanner(limits);
    const Scanned scanned = scanner.scan(bytes);
    check_same(scanned, scan_byte_by_byte(bytes, limits));
    if (const auto* refusal = std::get_if<Refusal>(&scanned)) return text_of(*refusal);
    const auto size = std::get<std::optional<std::size_t>>(scanned);
    if (!size) return "more is needed";
    check(*size <= limits.header_bytes, "a head keeps to its limit");
    const std::string_view head_bytes = std::string_view(bytes).substr(0, *size);
    const auto parsed = parse_head(head_bytes, limits);
    if (const auto* refusal = std::get_if<Refusal>(&parsed)) return text_of(*refusal);
    const RequestHead& head = std::get<RequestHead>(parsed);
    check_target(head.target);
    check(!(head.chunked && head.header("content-length")), "a body has one length");
    if (const auto difference = second_reader_disagrees(head_bytes, head, limits))
        return "read in two ways: " + *difference;
    return fmt::format("{} {} of '{}', {} headers, {} bytes follow{}{}", to_string(head.method),
                       head.target.path, head.host, head.headers.size(), head.body_bytes,
                       head.chunked ? " in chunks" : "", head.keep_alive ? "" : ", then the end");
}

}    // namespace slipway
