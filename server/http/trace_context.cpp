#include "server/http/trace_context.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/base/id.h"

namespace slipway {

namespace {

constexpr std::size_t size_of_version_00 = 55;

bool is_hexadecimal(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id_of_trace(std::string_view text) {
    return is_hexadecimal(text) && text.find_first_not_of('0') != text.npos;
}

}    // namespace

std::string TraceContext::traceparent() const {
    return fmt::format("00-{}-{}-{}", trace_id, parent_id, flags);
}

std::optional<TraceContext> parse_traceparent(std::string_view text) {
    if (text.size() < size_of_version_00) return std::nullopt;
    const std::string_view version = text.substr(0, 2);
    if (!is_hexadecimal(version) || version == "ff") return std::nullopt;
    // A later version may go on after another dash.
    const bool ends = text.size() == size_of_version_00;
    if (!ends && (version == "00" || text[size_of_version_00] != '-')) return std::nullopt;
    if (text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
    const std::string_view trace = text.substr(3, 32), parent = text.substr(36, 16),
                           flags = text.substr(53, 2);
    if (!is_id_of_trace(trace) || !is_id_of_trace(parent) || !is_hexadecimal(flags))
        return std::nullopt;
    return TraceContext{std::string(trace), std::string(parent), std::string(flags)};
}

TraceContext continued(const TraceContext& caller) {
    TraceContext ours = caller;
    ours.parent_id = random_hex(8);
    // The lowest bit is "sampled"; what others mean in later versions is not known.
    constexpr std::string_view odd_digits = "13579bdf";
    ours.flags = odd_digits.find(caller.flags.back()) != odd_digits.npos ? "01" : "00";
    return ours;
}

}    // namespace slipway
