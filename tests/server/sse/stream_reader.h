#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slipway {

/// One event as an EventSource in a browser would see it.
struct SeenEvent {
    std::int64_t id = 0;
    std::string type;
    std::string data;
    bool operator==(const SeenEvent&) const = default;
};

/// The whole events in `text`; a cut one at the end is left out, comments are dropped.
std::vector<SeenEvent> parse_events(const std::string& text);

}    // namespace slipway
