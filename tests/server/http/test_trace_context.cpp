#include "server/http/trace_context.h"

#include <gtest/gtest.h>

#include "tests/server/http/sample_server.h"

namespace slipway {
namespace {

constexpr std::string_view good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(TraceContext, a_valid_one_is_continued_with_a_span_of_its_own) {
    const TraceContext caller = parse_traceparent(good).value();
    EXPECT_EQ(caller.traceparent(), good);
    const TraceContext ours = continued(caller);
    EXPECT_EQ(ours.trace_id, caller.trace_id);
    EXPECT_NE(ours.parent_id, caller.parent_id);
    EXPECT_EQ(ours.flags, "01");
    EXPECT_TRUE(parse_traceparent(ours.traceparent()));
    EXPECT_EQ(continued({caller.trace_id, caller.parent_id, "fe"}).flags, "00");
    EXPECT_EQ(continued({caller.trace_id, caller.parent_id, "0b"}).flags, "01");
}

TEST(TraceContext, later_versions_are_read_as_far_as_version_00_goes) {
    const std::string rest(good.substr(2));
    EXPECT_TRUE(parse_traceparent("01" + rest));
    EXPECT_TRUE(parse_traceparent("cc" + rest + "-what-the-future-will-be-like"));
    EXPECT_FALSE(parse_traceparent("cc" + rest + ".what"));
    EXPECT_FALSE(parse_traceparent("00" + rest + "-what"));
    EXPECT_FALSE(parse_traceparent("ff" + rest));
}

TEST(TraceContext, what_is_not_valid_is_no_trace) {
    for (const std::string_view text :
         {"", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0",
          "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
          "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
          "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
          "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
          "0x-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})
        EXPECT_FALSE(parse_traceparent(text)) << text;
}

TEST(TraceContext, the_answer_names_the_span_that_made_it) {
    SampleServer sample;
    const auto answered = [&](const std::string& headers) {
        RawHttp connection(sample.port());
        connection.send("GET /probe HTTP/1.1\r\nHost: a\r\n" + headers + "\r\n");
        return connection.read_answer().header("traceparent");
    };
    const std::string header = "traceparent: " + std::string(good) + "\r\n";
    const auto ours = parse_traceparent(answered(header));
    ASSERT_TRUE(ours);
    EXPECT_EQ(ours->trace_id, good.substr(3, 32));
    EXPECT_NE(ours->parent_id, good.substr(36, 16));
    EXPECT_EQ(answered(""), "");
    EXPECT_EQ(answered(header + header), "") << "which of them would be anybody's guess";
    EXPECT_EQ(answered("traceparent: nonsense\r\n"), "");
}

}    // namespace
}    // namespace slipway
