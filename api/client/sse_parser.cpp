#include "api/client/sse_parser.h"

namespace slipway::client {

void SseParser::feed(std::string_view bytes) {
    for (const char c : bytes) {
        const bool ends_pair = c == '\n' && after_return_;
        after_return_ = c == '\r';
        if (ends_pair) continue;
        if (c == '\n' || c == '\r') {
            take_line(line_);
            line_.clear();
        } else {
            line_ += c;
        }
    }
}

void SseParser::reset() {
    line_.clear();
    after_return_ = false;
    event_ = {};
    has_data_ = false;
}

void SseParser::take_line(std::string_view line) {
    if (line.empty()) return dispatch();
    if (line.front() == ':') return;
    const std::size_t colon = line.find(':');
    const std::string_view field = line.substr(0, colon);
    std::string_view value;
    if (colon != std::string_view::npos) value = line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (field == "event") {
        event_.type = value;
    } else if (field == "data") {
        if (has_data_) event_.data += '\n';
        event_.data += value;
        has_data_ = true;
    } else if (field == "id" && value.find('\0') == std::string_view::npos) {
        last_id_ = value;
    }
}

void SseParser::dispatch() {
    if (has_data_) {
        event_.id = last_id_;
        if (event_.type.empty()) event_.type = "message";
        on_event_(event_);
    }
    event_ = {};
    has_data_ = false;
}

}    // namespace slipway::client
