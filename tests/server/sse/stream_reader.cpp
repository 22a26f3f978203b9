#include "tests/server/sse/stream_reader.h"

#include <sstream>

namespace slipway {

std::vector<SeenEvent> parse_events(const std::string& text) {
    std::vector<SeenEvent> events;
    std::size_t at = 0;
    for (std::size_t end = 0; (end = text.find("\n\n", at)) != std::string::npos; at = end + 2) {
        std::istringstream lines(text.substr(at, end - at));
        SeenEvent event;
        bool has_data = false;
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("id: ")) event.id = std::stoll(line.substr(4));
            if (line.starts_with("event: ")) event.type = line.substr(7);
            if (!line.starts_with("data: ")) continue;
            event.data += (has_data ? "\n" : "") + line.substr(6);
            has_data = true;
        }
        if (has_data) events.push_back(event);
    }
    return events;
}

}    // namespace slipway
