#include "server/sse/event_ring.h"

#include <gtest/gtest.h>

#include "server/http/problem.h"

namespace slipway {
namespace {

const std::string ring_name = "evt_01jd0000000000000000000000";
constexpr ProjectEventTypes every_type = ~ProjectEventTypes{0};

struct Taken {
    std::string text;
    bool lost = false;
    std::int64_t read_to = 0;
};

Taken take(const EventRing& ring, std::int64_t after, const RingFilter& filter,
           std::size_t bytes_max = 1 << 20) {
    Taken taken;
    const auto read = ring.read(after, filter, bytes_max, taken.text);
    taken.lost = read.lost;
    taken.read_to = read.read_to;
    return taken;
}

TEST(EventRing, gives_each_reader_the_events_of_its_projects_and_types) {
    EventRing ring(ring_name, {});
    ring.append("a", ProjectEventType::state, "1");
    ring.append("b", ProjectEventType::state, "2");
    ring.append("a", ProjectEventType::progress, "3");
    EXPECT_EQ(take(ring, 0, {.projects = {"a"}, .types = bit_of(ProjectEventType::state)}).text,
              "id: " + ring_name + "-1\nevent: state\ndata: 1\n\n");
    EXPECT_EQ(take(ring, 1, {.projects = {"a"}, .types = every_type}).text,
              "id: " + ring_name + "-3\nevent: progress\ndata: 3\n\n");
    EXPECT_EQ(take(ring, 0, {.projects = {"c"}, .types = every_type}).text, "");
    EXPECT_EQ(take(ring, 3, {.projects = {}, .types = every_type}).text, "");
    const Taken first = take(ring, 0, {.projects = {}, .types = every_type}, 1);
    EXPECT_EQ(first.read_to, 1) << "a read ends with the event that reaches its bytes";
}

TEST(EventRing, a_reader_has_lost_something_only_where_something_for_it_is_gone) {
    EventRing ring(ring_name, {.events = 2, .bytes = 1 << 20});
    ring.append("a", ProjectEventType::state, "1");
    ring.append("b", ProjectEventType::log, "2");
    ring.append("b", ProjectEventType::state, "3");
    EXPECT_TRUE(take(ring, 0, {.projects = {"a"}, .types = every_type}).lost);
    EXPECT_TRUE(take(ring, 0, {.projects = {}, .types = every_type}).lost);
    EXPECT_FALSE(take(ring, 1, {.projects = {"a"}, .types = every_type}).lost);
    EXPECT_FALSE(take(ring, 0, {.projects = {"b"}, .types = every_type}).lost);
    EXPECT_FALSE(take(ring, 0, {.projects = {}, .types = bit_of(ProjectEventType::log)}).lost);
    EXPECT_EQ(take(ring, 0, {.projects = {"a"}, .types = every_type}).read_to, 3);
}

TEST(EventRing, keeps_no_more_bytes_than_its_limit) {
    EventRing ring(ring_name, {.events = 1000, .bytes = 4096});
    const std::string wide(1500, 'x');
    for (int i = 0; i < 10; ++i)
        ring.append("a", ProjectEventType::log, wide);
    EXPECT_TRUE(take(ring, 7, {.projects = {}, .types = every_type}).lost);
    EXPECT_FALSE(take(ring, 8, {.projects = {}, .types = every_type}).lost);
}

TEST(EventRing, after_a_break_everybody_from_before_has_lost_something) {
    EventRing ring(ring_name, {});
    ring.append("a", ProjectEventType::state, "1");
    ring.break_off();
    EXPECT_TRUE(take(ring, 1, {.projects = {"z"}, .types = every_type}).lost);
    EXPECT_FALSE(take(ring, ring.last(), {.projects = {"z"}, .types = every_type}).lost);
}

TEST(EventRing, ids_of_another_ring_are_told_apart_and_others_are_rejected) {
    EventRing ring(ring_name, {});
    ring.append("a", ProjectEventType::state, "1");
    EXPECT_EQ(ring.number_of(ring.id_of(1)), 1);
    EXPECT_EQ(ring.number_of(ring.id_of(2)), -1) << "not given yet";
    EXPECT_EQ(ring.number_of("evt_01jd0000000000000000000001-1"), -1);
    for (const char* id : {"", "1", "-1", "x-1", "evt_01jd0000000000000000000000",
                           "evt_01jd0000000000000000000000-", "evt_01jd0000000000000000000000--1",
                           "evt_01jd0000000000000000000000-99999999999999999999"})
        EXPECT_THROW(ring.number_of(id), ProblemError) << id;
}

}    // namespace
}    // namespace slipway
