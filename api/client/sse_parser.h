#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace slipway::client {

/// One event of a stream of Server-Sent Events.
struct SseEvent {
    std::string id;      ///< the last id seen, of this event or an earlier one
    std::string type;    ///< "message" when the stream did not say
    std::string data;
};

/// Takes a stream apart as it comes, in pieces of any size (WHATWG HTML, 9.2.6).
class SseParser {
public:
    explicit SseParser(std::function<void(const SseEvent&)> on_event)
        : on_event_(std::move(on_event)) {}

    void feed(std::string_view bytes);
    /// The connection was cut: an event that is not whole is thrown away, the last id stays.
    void reset();

private:
    void take_line(std::string_view line);
    void dispatch();

    std::function<void(const SseEvent&)> on_event_;
    std::string line_;
    bool after_return_ = false;    // a "\n" that follows "\r" belongs to it
    SseEvent event_;
    std::string last_id_;
    bool has_data_ = false;
};

}    // namespace slipway::client
