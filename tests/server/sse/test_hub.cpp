// Goal: every stream sees every event behind its cursor once, in order, whatever the others do.
// Method: the hub on a feed in memory; streams are read by take(), as a connection does.
#include "server/sse/hub.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <random>
#include <semaphore>
#include <thread>

#include "api/base/error.h"
#include "server/http/problem.h"
#include "server/sse/event_text.h"
#include "tests/server/sse/fake_feed.h"
#include "tests/server/sse/stream_reader.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

/// Reads one stream until it ends or `count` events have come.
class Reader {
public:
    explicit Reader(std::shared_ptr<EventSource> source) : source_(std::move(source)) {
        source_->start([this] {
            const std::lock_guard lock(mutex_);
            woken_ = true;
            changed_.notify_all();
        });
    }
    ~Reader() { source_->close(); }

    std::vector<SeenEvent> read(std::size_t count = SIZE_MAX) {
        for (;;) {
            ended_ = ended_ || !source_->take(text_);
            auto events = parse_events(text_);
            if (ended_ || events.size() >= count) return events;
            std::unique_lock lock(mutex_);
            if (!changed_.wait_for(lock, std::chrono::seconds(10), [this] { return woken_; }))
                return events;
            woken_ = false;
        }
    }
    bool ended() const { return ended_; }
    const std::string& text() const { return text_; }

private:
    std::shared_ptr<EventSource> source_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool woken_ = false;    // guarded by mutex_
    std::string text_;
    bool ended_ = false;
};

std::vector<std::int64_t> ids(const std::vector<SeenEvent>& events) {
    std::vector<std::int64_t> list;
    for (const SeenEvent& event : events)
        list.push_back(event.id);
    return list;
}

std::vector<std::int64_t> from_to(std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> list;
    for (std::int64_t id = first; id <= last; ++id)
        list.push_back(id);
    return list;
}

HubOptions quick() {
    HubOptions options;
    options.poll = std::chrono::milliseconds(20);
    return options;
}

TEST(EventText, is_one_frame_per_event) {
    EXPECT_EQ(event_frame(7, "state", R"({"state":"running"})"),
              "id: 7\nevent: state\ndata: {\"state\":\"running\"}\n\n");
    EXPECT_EQ(gap_frame(3, 9), "id: 9\nevent: gap\ndata: {\"from\":3,\"to\":9}\n\n");
    EXPECT_EQ(event_frame(1, "log", "{\n\"a\":1}"),
              "id: 1\nevent: log\ndata: {\ndata: \"a\":1}\n\n");
    EXPECT_EQ(event_frame(1, "log", "a\nid: 9\n\nevent: end"),
              "id: 1\nevent: log\ndata: a\ndata: id: 9\ndata: \ndata: event: end\n\n");
}

// Goal: a stream ends when its owner loses the right to read, and others go on.
TEST(Hub, streams_of_an_owner_who_may_not_read_any_more_end_before_the_next_event) {
    FakeFeed feed;
    std::mutex mutex;
    std::vector<std::string> revoked;    // guarded by mutex
    EventFeed asked = feed.feed();
    asked.lost = [&](const std::vector<store::Right>& rights) {
        const std::lock_guard lock(mutex);
        std::vector<store::Right> lost;
        for (const store::Right& right : rights)
            if (std::ranges::count(revoked, right.token_id + " " + right.project) > 0)
                lost.push_back(right);
        return lost;
    };
    HubOptions options = quick();
    options.recheck = std::chrono::hours(1);    // only when told
    Hub hub(asked, options);
    feed.append("job_a", "state");
    feed.append("job_b", "state");
    Reader theirs(hub.subscribe({.job_id = "job_a", .owner = "tok_revoked", .project = "a"}));
    Reader ours(hub.subscribe({.job_id = "job_a", .owner = "tok_good", .project = "a"}));
    Reader elsewhere(hub.subscribe({.job_id = "job_b", .owner = "tok_revoked", .project = "b"}));
    EXPECT_EQ(ids(theirs.read(1)), from_to(1, 1));
    EXPECT_EQ(ids(ours.read(1)), from_to(1, 1));
    EXPECT_EQ(ids(elsewhere.read(1)), from_to(1, 1));
    {
        const std::lock_guard lock(mutex);
        revoked = {"tok_revoked a"};
    }
    hub.recheck_owners();
    EXPECT_EQ(ids(theirs.read()), from_to(1, 1));
    EXPECT_TRUE(theirs.ended());
    feed.append("job_a", "end");
    EXPECT_EQ(ids(ours.read()), from_to(1, 2));
    EXPECT_EQ(ids(theirs.read()), from_to(1, 1)) << "nothing came after the revocation";
    feed.append("job_b", "end");
    EXPECT_EQ(ids(elsewhere.read()), from_to(1, 2)) << "the other project is still theirs";
}

TEST(Hub, a_stream_starts_behind_its_cursor_and_ends_with_end) {
    FakeFeed feed;
    for (int i = 1; i <= 5; ++i)
        feed.append("job_a", "log");
    Hub hub(feed.feed(), quick());
    Reader all(hub.subscribe({.job_id = "job_a"}));
    Reader rest(hub.subscribe({.job_id = "job_a", .after_seq = 3}));
    EXPECT_EQ(ids(all.read(5)), from_to(1, 5));
    EXPECT_EQ(ids(rest.read(2)), from_to(4, 5));
    EXPECT_TRUE(all.text().starts_with("retry: 2000\n\n"));
    EXPECT_FALSE(all.ended());
    feed.append("job_a", "end", R"({"state":"succeeded"})");
    EXPECT_EQ(all.read().back(), (SeenEvent{6, "end", R"({"state":"succeeded"})"}));
    EXPECT_EQ(ids(rest.read()), from_to(4, 6));
    EXPECT_TRUE(all.ended());
}

TEST(Hub, events_come_without_a_notice_by_the_poll) {
    FakeFeed feed;
    feed.append("job_a", "log");
    Hub hub(feed.feed(false), quick());
    Reader reader(hub.subscribe({.job_id = "job_a"}));
    EXPECT_EQ(ids(reader.read(1)), from_to(1, 1));
    feed.append("job_a", "log");
    EXPECT_EQ(ids(reader.read(2)), from_to(1, 2));
}

TEST(Hub, a_notice_is_quicker_than_the_poll) {
    FakeFeed feed;
    HubOptions options;
    options.poll = std::chrono::hours(1);
    Hub hub(feed.feed(), options);
    Reader reader(hub.subscribe({.job_id = "job_a"}));
    feed.append("job_a", "log");
    EXPECT_EQ(ids(reader.read(1)), from_to(1, 1));
}

TEST(Hub, types_leave_others_out_but_never_gap_and_end) {
    FakeFeed feed;
    for (const char* type : {"state", "metric", "log", "metric", "end"})
        feed.append("job_a", type);
    feed.trim("job_a", 1);
    Hub hub(feed.feed(), quick());
    Reader reader(hub.subscribe({.job_id = "job_a", .types = {"metric"}}));
    const auto seen = reader.read();
    EXPECT_EQ(ids(seen), (std::vector<std::int64_t>{1, 2, 4, 5}));
    EXPECT_EQ(seen[0], (SeenEvent{1, "gap", R"({"from":1,"to":1})"}));
    EXPECT_EQ(seen[3].type, "end");
}

TEST(Hub, dropped_events_become_one_gap) {
    FakeFeed feed;
    for (int i = 1; i <= 10; ++i)
        feed.append("job_a", "log");
    feed.trim("job_a", 7);
    Hub hub(feed.feed(), quick());
    Reader reader(hub.subscribe({.job_id = "job_a", .after_seq = 2}));
    const auto seen = reader.read(4);
    EXPECT_EQ(seen[0], (SeenEvent{7, "gap", R"({"from":3,"to":7})"}));
    EXPECT_EQ(ids(seen), from_to(7, 10));
}

TEST(Hub, a_stream_of_an_ended_job_ends_with_its_last_event) {
    FakeFeed feed;
    for (int i = 1; i <= 3; ++i)
        feed.append("job_a", "log");
    Hub hub(feed.feed(), quick());
    Reader reader(hub.subscribe({.job_id = "job_a", .types = {"state"}, .last_seq = 3}));
    EXPECT_TRUE(reader.read().empty());
    EXPECT_TRUE(reader.ended());
}

// The buffer takes two events, the page three: both bounds are met again and again.
// Goal: what was gone on with after an end is followed to its next one.
TEST(Hub, an_end_that_was_known_at_the_start_ends_nothing) {
    FakeFeed feed;
    for (const char* type : {"state", "state", "end", "state"})
        feed.append("cv_a", type);
    Hub hub(feed.feed(), quick());
    Reader open(hub.subscribe({.job_id = "cv_a", .known_seq = 4}));
    EXPECT_EQ(ids(open.read(4)), from_to(1, 4));
    EXPECT_FALSE(open.ended());
    feed.append("cv_a", "end");
    EXPECT_EQ(ids(open.read()), from_to(1, 5));
    EXPECT_TRUE(open.ended());
    Reader over(hub.subscribe({.job_id = "cv_a", .last_seq = 5, .known_seq = 5}));
    EXPECT_EQ(ids(over.read()), from_to(1, 5));
    EXPECT_TRUE(over.ended());
}

TEST(Hub, a_slow_reader_loses_nothing_and_holds_up_nobody) {
    FakeFeed feed;
    HubOptions options = quick();
    options.buffer_bytes = 200;
    options.page_events = 3;
    Hub hub(feed.feed(), options);
    const auto slow = hub.subscribe({.job_id = "job_a"});
    Reader quick_one(hub.subscribe({.job_id = "job_a"}));
    const std::string body = "\"" + std::string(100, 'x') + "\"";
    for (int i = 1; i <= 200; ++i) {
        feed.append("job_a", "log", body);
        EXPECT_EQ(quick_one.read(static_cast<std::size_t>(i)).size(), static_cast<std::size_t>(i));
    }
    std::string held;
    slow->take(held);
    EXPECT_LT(held.size(), 1000U);
    slow->close();
    Reader catching_up(
        hub.subscribe({.job_id = "job_a", .after_seq = parse_events(held).back().id}));
    EXPECT_EQ(ids(catching_up.read(200 - parse_events(held).size())).back(), 200);
}

// One event takes most of what streams share: the next stream gets it once the first is done.
TEST(Hub, large_events_have_a_budget_in_common) {
    FakeFeed feed;
    HubOptions options = quick();
    options.own_bytes = 200;
    options.shared_bytes = 1500;
    Hub hub(feed.feed(), options);
    feed.append("job_a", "log", "\"" + std::string(1000, 'x') + "\"");
    const auto events_of = [](EventSource& stream) {
        std::string text;
        stream.take(text);
        return parse_events(text).size();
    };
    for (const bool closes : {false, true}) {
        const auto first = hub.subscribe({.job_id = "job_a"});
        ASSERT_TRUE(eventually([&] { return events_of(*first) == 1; }));
        const auto second = hub.subscribe({.job_id = "job_a"});
        const int reads = feed.reads();
        ASSERT_TRUE(eventually([&] { return feed.reads() > reads + 2; }));
        EXPECT_EQ(events_of(*second), 0U);
        if (closes)
            first->close();
        else
            EXPECT_EQ(events_of(*first), 0U);
        EXPECT_TRUE(eventually([&] { return events_of(*second) == 1; }));
    }
}

TEST(Hub, streams_at_many_places_of_one_job_all_arrive) {
    FakeFeed feed;
    HubOptions options = quick();
    options.page_events = 7;
    for (int i = 1; i <= 300; ++i)
        feed.append("job_a", "log");
    Hub hub(feed.feed(), options);
    std::vector<std::unique_ptr<Reader>> readers;
    for (int after = 0; after < 300; after += 11)
        readers.push_back(
            std::make_unique<Reader>(hub.subscribe({.job_id = "job_a", .after_seq = after})));
    feed.append("job_a", "end");
    int after = 0;
    for (const auto& reader : readers) {
        EXPECT_EQ(ids(reader->read()), from_to(after + 1, 301));
        after += 11;
    }
}

TEST(Hub, an_outage_of_the_store_loses_and_repeats_nothing) {
    FakeFeed feed;
    feed.append("job_a", "log");
    Hub hub(feed.feed(), quick());
    Reader reader(hub.subscribe({.job_id = "job_a"}));
    EXPECT_EQ(reader.read(1).size(), 1U);
    feed.set_down(true);
    feed.append("job_a", "log");
    const int before = feed.reads();
    EXPECT_TRUE(eventually([&] { return feed.reads() > before + 2; }));
    feed.set_down(false);
    EXPECT_EQ(ids(reader.read(2)), from_to(1, 2));
}

TEST(Hub, one_owner_has_so_many_streams_and_gets_them_back) {
    FakeFeed feed;
    HubOptions options = quick();
    options.streams_per_owner = 2;
    Hub hub(feed.feed(), options);
    const auto subscribe = [&](const std::string& owner) {
        return hub.subscribe({.job_id = "job_a", .owner = owner});
    };
    auto first = subscribe("tok_a"), second = subscribe("tok_a");
    try {
        subscribe("tok_a");
        FAIL();
    } catch (const ProblemError& error) {
        EXPECT_EQ(error.fields().status, 429);
        EXPECT_EQ(error.fields().code, "too_many_streams");
    }
    EXPECT_NO_THROW(subscribe("tok_b"));
    first->close();
    EXPECT_NO_THROW(subscribe("tok_a"));
    second.reset();
    EXPECT_EQ(hub.stream_count(), 0U);
}

// The reader holds every stream it reads for; here it does so until it is told to go on.
TEST(Hub, a_dropped_stream_counts_no_more_though_it_is_being_read_for) {
    FakeFeed feed;
    EventFeed slow = feed.feed();
    std::counting_semaphore<> reading{0};
    std::promise<void> go_on;
    slow.read = [&reading, read = slow.read, may_go_on = go_on.get_future().share()](
                    const std::vector<store::EventCursor>& cursors, int limit_per_job) {
        reading.release();
        may_go_on.wait();
        return read(cursors, limit_per_job);
    };
    Hub hub(slow, quick());
    auto stream = hub.subscribe({.job_id = "job_a"});
    reading.acquire();
    stream.reset();
    EXPECT_EQ(hub.stream_count(), 0U);
    go_on.set_value();
}

TEST(Hub, a_stream_may_outlive_it) {
    FakeFeed feed;
    auto hub = std::make_unique<Hub>(feed.feed(), quick());
    const auto stream = hub->subscribe({.job_id = "job_a"});
    hub.reset();
    std::string text;
    EXPECT_TRUE(stream->take(text));
    stream->close();
}

// Goal: agents learn which jobs have streams, also when saying so failed at first.
// Method: the feed is told; the first time it throws.
TEST(Hub, jobs_with_streams_are_said_to_be_followed) {
    FakeFeed fake;
    std::mutex mutex;
    std::vector<std::vector<std::string>> said;
    EventFeed feed = fake.feed();
    feed.watch = [&](const std::vector<std::string>& job_ids) {
        const std::lock_guard lock(mutex);
        said.push_back(job_ids);
        if (said.size() == 1) throw Error(ErrorCode::unavailable, "the database is down");
    };
    const auto last = [&] {
        const std::lock_guard lock(mutex);
        return said.size() < 2 ? std::vector<std::string>() : said.back();
    };
    using Ids = std::vector<std::string>;
    Hub hub(feed, quick());
    const Reader one(hub.subscribe({.job_id = "job_a"}));
    ASSERT_TRUE(eventually([&] { return last() == Ids{"job_a"}; }));
    {
        const Reader two(hub.subscribe({.job_id = "job_b"}));
        ASSERT_TRUE(eventually([&] { return last() == Ids{"job_a", "job_b"}; }));
    }
    const Reader again(hub.subscribe({.job_id = "job_a"}));
    EXPECT_TRUE(eventually([&] { return last() == Ids{"job_a"}; }));
}

// Goal: 10,000 cuts at random places lose and repeat nothing (reliability goal H7).
// Method: a thread writes; the reader takes a random number of events, forgets the rest of what
// it was given, as a broken connection does, and comes back with the last id it saw.
TEST(Hub, ten_thousand_random_cuts_lose_and_repeat_nothing) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(fmt::format("seed {}", seed));
    std::mt19937 random(seed);
    FakeFeed feed;
    HubOptions options = quick();
    options.page_events = 5;
    options.buffer_bytes = 300;
    Hub hub(feed.feed(), options);
    constexpr std::int64_t total = 20'000;
    std::thread writer([&] {
        for (std::int64_t i = 1; i < total; ++i)
            feed.append("job_a", "metric");
        feed.append("job_a", "end");
    });
    std::int64_t last = 0;
    int cuts = 0;
    bool in_order = true;
    while (last < total && in_order) {
        Reader reader(hub.subscribe({.job_id = "job_a", .after_seq = last}));
        const std::size_t wanted = 1 + random() % 3;
        const auto seen = reader.read(wanted);
        if (seen.empty()) break;
        for (std::size_t i = 0; i < std::min(wanted, seen.size()); ++i)
            in_order = in_order && seen[i].id == ++last;
        ++cuts;
    }
    writer.join();
    EXPECT_TRUE(in_order);
    EXPECT_EQ(last, total);
    EXPECT_GE(cuts, 9000);
}

}    // namespace
}    // namespace slipway
