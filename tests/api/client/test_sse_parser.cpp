#include "api/client/sse_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace slipway::client {
namespace {

std::vector<SseEvent> parse(std::string_view text, std::size_t piece) {
    std::vector<SseEvent> events;
    SseParser parser([&](const SseEvent& event) { events.push_back(event); });
    for (std::size_t at = 0; at < text.size(); at += piece)
        parser.feed(text.substr(at, piece));
    return events;
}

// Goal: the cuts of the network do not matter. Method: every piece size, and three line endings.
TEST(SseParser, events_are_found_however_the_bytes_come) {
    for (const std::string end : {"\n", "\r\n", "\r"}) {
        const std::string text = "retry: 2000" + end + ": beat" + end + end + "id: 7" + end +
                                 "event: metric" + end + "data: {\"a\":" + end + "data: 1}" + end +
                                 end + "data:x" + end + end + "event: end" + end + "id: 9" + end +
                                 "data: é" + end + end;
        for (std::size_t piece = 1; piece <= text.size(); ++piece) {
            const auto events = parse(text, piece);
            ASSERT_EQ(events.size(), 3U) << piece;
            EXPECT_EQ(events[0].id, "7");
            EXPECT_EQ(events[0].type, "metric");
            EXPECT_EQ(events[0].data, "{\"a\":\n1}");
            EXPECT_EQ(events[1].id, "7");
            EXPECT_EQ(events[1].type, "message");
            EXPECT_EQ(events[1].data, "x");
            EXPECT_EQ(events[2].id, "9");
            EXPECT_EQ(events[2].data, "é");
        }
    }
}

TEST(SseParser, an_event_without_data_is_none) {
    EXPECT_TRUE(parse("event: state\nid: 4\n\n", 3).empty());
}

TEST(SseParser, an_event_that_was_cut_is_thrown_away) {
    std::vector<SseEvent> events;
    SseParser parser([&](const SseEvent& event) { events.push_back(event); });
    parser.feed("id: 1\ndata: a\n\nid: 2\nevent: state\ndata: hal");
    parser.reset();
    parser.feed("id: 2\ndata: whole\n\n");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[1].data, "whole");
    EXPECT_EQ(events[1].type, "message");
}

}    // namespace
}    // namespace slipway::client
