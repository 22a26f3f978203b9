#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/http/message.h"

namespace slipway {

/// Why the server does not even look for a route.
struct Refusal {
    int status = 400;
    std::string_view code;    ///< snake_case, of static storage
    std::string detail;
};

/// A request target taken apart and decoded.
struct Target {
    std::string path;                     ///< "/v1/jobs/job 1"; "*" of the asterisk form
    std::vector<std::string> segments;    ///< {"v1", "jobs", "job 1"}
    std::vector<Pair> query_pairs;
    std::string authority = {};    ///< of the absolute form: "example.org:8470"; else empty
};

/// Takes a target apart (RFC 9112, 3.2): the path-and-query form, the absolute form of http and
/// https, and "*", which the caller accepts for OPTIONS alone. The authority form is refused.
/// Refused as well: bad percent escapes, %00, %2f and %5c, "." and ".." as segments (also escaped),
/// control bytes and invalid UTF-8 after decoding, characters that a path may not hold, a fragment.
std::variant<Target, Refusal> parse_target(std::string_view target);

}    // namespace slipway
