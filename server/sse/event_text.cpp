#include "server/sse/event_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway {

std::string event_frame(std::int64_t seq, std::string_view type, std::string_view body) {
    std::string frame = fmt::format("id: {}\nevent: {}\n", seq, type);
    do {
        const auto end = std::min(body.find_first_of("\r\n"), body.size());
        frame += "data: ";
        frame += body.substr(0, end);
        frame += '\n';
        body.remove_prefix(std::min(end + 1, body.size()));
    } while (!body.empty());
    frame += '\n';
    return frame;
}

std::string gap_frame(std::int64_t from, std::int64_t to) {
    return event_frame(to, "gap", fmt::format(R"({{"from":{},"to":{}}})", from, to));
}

}    // namespace slipway
