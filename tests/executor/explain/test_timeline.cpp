#include "executor/explain/timeline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/base/json.h"

namespace slipway {
namespace {

Tick at(std::int64_t microseconds) {
    return Tick(std::chrono::microseconds(1000 + microseconds));
}

std::vector<Json> spans_of(const Timeline& timeline) {
    std::vector<Json> spans;
    const Json trace = Json::parse(timeline.chrome_trace());
    for (const Json& event : trace["traceEvents"])
        if (event["ph"] == "X") spans.push_back(event);
    return spans;
}

TEST(Timeline, an_empty_one_is_a_trace_too) {
    EXPECT_TRUE(spans_of(Timeline(at(0))).empty());
}

TEST(Timeline, spans_have_name_track_time_and_number) {
    Timeline timeline(at(0));
    timeline.add({TrackKind::trainer}, timeline.name("execute"), at(5), at(12), 3);
    timeline.add({TrackKind::worker, 1}, timeline.name("copy \"f32[2]\"\n"), at(6), at(6));
    const std::vector<Json> spans = spans_of(timeline);
    ASSERT_EQ(spans.size(), 2U);
    EXPECT_EQ(spans[0]["name"], "execute");
    EXPECT_EQ(spans[0]["ts"], 5);
    EXPECT_EQ(spans[0]["dur"], 7);
    EXPECT_EQ(spans[0]["args"]["number"], 3);
    EXPECT_EQ(spans[1]["name"], "copy \"f32[2]\"\n");
    EXPECT_FALSE(spans[1].contains("args"));
    EXPECT_NE(spans[0]["tid"], spans[1]["tid"]);
}

TEST(Timeline, keeps_the_first_and_the_newest) {
    Timeline timeline(at(0));
    const std::uint32_t name = timeline.name("step");
    constexpr std::int64_t count = 100000;
    for (std::int64_t i = 0; i < count; ++i)
        timeline.add({TrackKind::trainer}, name, at(i), at(i + 1), i);
    const std::vector<Json> spans = spans_of(timeline);
    EXPECT_EQ(std::int64_t(spans.size()) + timeline.dropped(), count);
    EXPECT_EQ(spans.front()["args"]["number"], 0);
    EXPECT_EQ(spans.back()["args"]["number"], count - 1);
    for (std::size_t i = 1; i < spans.size(); ++i)
        ASSERT_LT(spans[i - 1]["ts"], spans[i]["ts"]);
    EXPECT_LT(timeline.chrome_trace().size(), 3U << 20);
}

TEST(Timeline, has_a_bound_on_names) {
    Timeline timeline(at(0));
    for (int i = 0; i < 6000; ++i)
        timeline.add({TrackKind::worker, 0}, timeline.name(fmt::format("kernel {}", i)), at(i),
                     at(i));
    EXPECT_EQ(timeline.name("kernel 3"), 3U);
    EXPECT_EQ(spans_of(timeline).size(), 6000U);
}

}    // namespace
}    // namespace slipway
