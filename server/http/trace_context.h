#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slipway {

/// The trace that a request is a part of. Source: W3C Trace Context, level 1
struct TraceContext {
    std::string trace_id;     ///< 32 lower-case hexadecimal digits, not all zero
    std::string parent_id;    ///< 16, likewise: the span that this one is within
    std::string flags;        ///< 2

    /// As the header of version 00.
    std::string traceparent() const;
};

/// A traceparent of version 00, or the part of a later one that version 00 has; none when it is not
/// valid: it is then as if it were not there.
std::optional<TraceContext> parse_traceparent(std::string_view text);

/// The same trace with a span of our own, which is within the one given.
TraceContext continued(const TraceContext& caller);

}    // namespace slipway
