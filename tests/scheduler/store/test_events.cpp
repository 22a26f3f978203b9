#include "scheduler/store/events.h"

#include <gmock/gmock.h>

#include "scheduler/store/pg/listener.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

class Events : public StoreTest {
protected:
    /// Warnings 1 to `events` after the first event of a new job.
    std::string job_with(int events) {
        const std::string id = submit();
        for (int i = 1; i <= events; ++i)
            append_event(store, id, i % 2 == 0 ? "log" : "warning", fmt::format("[{}]", i));
        return id;
    }

    std::vector<std::int64_t> seqs(const std::string& id, const EventQuery& query) {
        std::vector<std::int64_t> seqs;
        for (const Event& event : list_events(store, id, query))
            seqs.push_back(event.seq);
        return seqs;
    }
};

TEST_F(Events, are_read_from_any_place_by_type_and_from_the_end) {
    const std::string id = job_with(6);
    EXPECT_THAT(seqs(id, {}), ElementsAre(1, 2, 3, 4, 5, 6, 7));
    EXPECT_THAT(seqs(id, {.after_seq = 5}), ElementsAre(6, 7));
    EXPECT_THAT(seqs(id, {.after_seq = 7}), ElementsAre());
    EXPECT_THAT(seqs(id, {.after_seq = 1, .limit = 2}), ElementsAre(2, 3));
    EXPECT_THAT(seqs(id, {.types = {"log"}}), ElementsAre(3, 5, 7));
    EXPECT_THAT(seqs(id, {.types = {"log", "state"}, .limit = 2, .newest = true}),
                ElementsAre(5, 7));
    EXPECT_THAT(seqs(new_id("job"), {}), ElementsAre());
    EXPECT_EQ(code_of([&] { list_events(store, id, {.limit = 0}); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { list_events(store, id, {.limit = 5001}); }),
              ErrorCode::invalid_argument);
    EXPECT_EQ(list_events(store, id, {}).at(3).body, "[3]");
}

TEST_F(Events, of_many_jobs_come_in_one_answer) {
    const std::string first = job_with(3);
    const std::string second = job_with(2);
    std::vector<std::string> found;
    for (const Event& event : list_events_of_jobs(
             store, {{first, 2}, {second, 0}, {new_id("job"), 0}, {first + "x", 0}}, 2)) {
        found.push_back(
            fmt::format("{} {}", event.job_id == first ? "first" : "second", event.seq));
    }
    EXPECT_THAT(found, ElementsAre("first 3", "first 4", "second 1", "second 2"));
    EXPECT_TRUE(list_events_of_jobs(store, {}).empty());
}

TEST_F(Events, a_read_ends_where_the_bodies_reach_its_bytes) {
    const std::string id = submit();
    const std::string wide = fmt::format("[\"{}\"]", std::string(event_page_bytes_max / 2, 'x'));
    for (int i = 0; i < 5; ++i)
        append_event(store, id, "log", wide);
    EXPECT_THAT(seqs(id, {}), ElementsAre(1, 2, 3)) << "1 is the small event of its state";
    EXPECT_TRUE(may_go_on(list_events(store, id, {}), 500));
    EXPECT_THAT(seqs(id, {.after_seq = 3}), ElementsAre(4, 5));
    EXPECT_THAT(seqs(id, {.after_seq = 5}), ElementsAre(6));
    EXPECT_FALSE(may_go_on(list_events(store, id, {.after_seq = 5}), 500));
    EXPECT_THAT(seqs(id, {.newest = true}), ElementsAre(5, 6));
    std::vector<std::int64_t> of_many;
    for (const Event& event : list_events_of_jobs(store, {{id, 0}, {job_with(1), 0}}))
        of_many.push_back(event.seq);
    EXPECT_THAT(of_many, ElementsAre(1, 2, 3, 1, 2));
}

TEST_F(Events, heads_tell_how_far_and_whether_it_is_the_end) {
    const std::string running = job_with(2);
    const std::string ended = job_with(0);
    request_intent(store, ended, Intent::cancel, {"user", ""});
    const std::vector<EventHead> heads = find_event_heads(store, {ended, running, "nothing"});
    ASSERT_EQ(heads.size(), 2U);
    EXPECT_EQ(heads[0].job_id, running);
    EXPECT_EQ(heads[0].event_seq, 3);
    EXPECT_FALSE(heads[0].ended);
    EXPECT_EQ(heads[1].event_seq, 3);
    EXPECT_TRUE(heads[1].ended);

    NewJob other = new_job();
    other.project = "other";
    submit(other);
    EXPECT_EQ(list_changed_jobs(store, 1h).size(), 3U);
    ASSERT_EQ(list_changed_jobs(store, 1h, 2).size(), 2U);
    EXPECT_EQ(list_changed_jobs(store, 1h)[0].job_id, other.id);
    EXPECT_TRUE(list_changed_jobs(store, 0ms).empty());
}

TEST_F(Events, of_many_jobs_come_by_type_with_how_far_they_go) {
    const std::string known = job_with(4);
    const Instant before = database_time(store);
    const std::string unknown = job_with(3);
    const auto changes = list_changes_of_jobs(
        store, {{known, 2}, {unknown, unknown_cursor}, {new_id("job"), unknown_cursor}}, before,
        {"log", "state"}, 2);
    ASSERT_EQ(changes.size(), 2U);
    EXPECT_EQ(changes[0].head.job_id, known);
    EXPECT_EQ(changes[0].head.project, "default");
    ASSERT_EQ(changes[0].events.size(), 2U);
    EXPECT_EQ(changes[0].events[0].seq, 3);
    EXPECT_EQ(changes[0].events[1].seq, 5);
    EXPECT_EQ(changes[0].read_to, 5) << "the page is full";
    ASSERT_EQ(changes[1].events.size(), 2U);
    EXPECT_EQ(changes[1].events[0].type, "state");
    EXPECT_EQ(changes[1].events[1].seq, 3);
    const auto nothing = list_changes_of_jobs(store, {{known, 5}, {unknown, unknown_cursor}},
                                              database_time(store), {"log"});
    ASSERT_EQ(nothing.size(), 2U);
    EXPECT_TRUE(nothing[0].events.empty());
    EXPECT_TRUE(nothing[1].events.empty()) << "all are older";
    EXPECT_EQ(nothing[1].read_to, nothing[1].head.event_seq);
    EXPECT_TRUE(list_changes_of_jobs(store, {}, before, {"log"}).empty());
}

TEST_F(Events, objects_are_announced_with_their_state) {
    const ObjectChange change{.id = "ds_1", .project = "my project", .state = "ready"};
    EXPECT_EQ(parse_object_change("object ds_1 ready my project"), change);
    for (const char* topic : {"", "queue", "object ", "object ds_1", "object ds_1 ready"})
        EXPECT_EQ(parse_object_change(topic), std::nullopt) << topic;
    Listener listener(store.options());
    listener.wait(5s);
    store.announce(change);
    EXPECT_THAT(listener.wait(5s), ElementsAre("object ds_1 ready my project"));
}

TEST_F(Events, appending_to_no_job_says_so) {
    EXPECT_FALSE(append_event(store, new_id("job"), "log", "{}"));
    const std::string id = submit();
    EXPECT_EQ(append_event(store, id, "log", "{}"), 2);
    EXPECT_EQ(code_of([&] { append_event(store, id, "log", "{"); }), ErrorCode::invalid_argument);
    EXPECT_EQ(code_of([&] { append_event(store, id, "nonsense", "{}"); }), ErrorCode::conflict);
    EXPECT_EQ(find_job(store, id)->event_seq, 2);
}

}    // namespace

}    // namespace slipway::store
