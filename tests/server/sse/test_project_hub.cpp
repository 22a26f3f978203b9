// Goal: a stream sees every event of its projects that is committed after it began, or a gap; and
// nothing once its owner has lost the right.
// Method: the hub on a feed in memory, with the store's rules; streams are read by take().
#include "server/sse/project_hub.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "api/base/error.h"
#include "api/base/id.h"
#include "server/http/problem.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;

constexpr ProjectEventTypes state_only = bit_of(ProjectEventType::state);
constexpr ProjectEventTypes all_types = ~ProjectEventTypes{0};

/// Jobs and events in memory; time goes on with each call.
class Jobs {
public:
    ProjectFeed feed() {
        return {
            .now =
                [this] {
                    const std::lock_guard lock(mutex_);
                    return now_ += 5s;
                },
            .read = [this](const auto& cursors, Instant since,
                           const auto& types) { return read(cursors, since, types); },
            .changed = [this](std::chrono::milliseconds, int limit) { return changed(limit); },
            .projects_of =
                [this](const std::vector<std::string>&) {
                    const std::lock_guard lock(mutex_);
                    ++rechecks;
                    return tokens;
                },
            .watch =
                [this](const std::vector<std::string>& projects) {
                    const std::lock_guard lock(mutex_);
                    watched_.push_back(projects);
                },
        };
    }

    void append(const std::string& job, const std::string& project, const std::string& type,
                const std::string& body = "{}") {
        const std::lock_guard lock(mutex_);
        store::JobChanges& one = jobs_[job];
        now_ += 10s;
        ++one.head.event_seq;
        one.head.job_id = job;
        one.head.project = project;
        one.events.push_back({job, one.head.event_seq, type, body, now_});
    }
    void set_tokens(std::map<std::string, std::vector<std::string>> good) {
        const std::lock_guard lock(mutex_);
        tokens = std::move(good);
    }

    std::vector<std::vector<std::string>> all_watched() {
        const std::lock_guard lock(mutex_);
        return watched_;
    }

    std::atomic<bool> down = false;
    std::atomic<int> reads = 0;
    std::atomic<int> rechecks = 0;
    std::atomic<int> changed_max = 1000000;

private:
    std::vector<store::JobChanges> read(const std::vector<store::EventCursor>& cursors,
                                        Instant since, const std::vector<std::string>& types) {
        const std::lock_guard lock(mutex_);
        ++reads;
        if (down) throw Error(ErrorCode::unavailable, "the database is down");
        std::vector<store::JobChanges> found;
        for (const store::EventCursor& cursor : cursors) {
            const auto job = jobs_.find(cursor.job_id);
            if (job == jobs_.end()) continue;
            store::JobChanges changes{.head = job->second.head, .events = {}, .read_to = 0};
            changes.read_to = changes.head.event_seq;
            for (const store::Event& event : job->second.events) {
                const bool is_new =
                    cursor.after_seq < 0 ? event.created_at > since : event.seq > cursor.after_seq;
                if (!is_new || std::ranges::find(types, event.type) == types.end()) continue;
                changes.events.push_back(event);
                if (changes.events.size() == 3) {    // a page
                    changes.read_to = event.seq;
                    break;
                }
            }
            found.push_back(changes);
        }
        return found;
    }
    std::vector<store::EventHead> changed(int limit) {
        const std::lock_guard lock(mutex_);
        if (down) throw Error(ErrorCode::unavailable, "the database is down");
        std::vector<store::EventHead> heads;
        for (const auto& [id, job] : jobs_)
            if (heads.size() < std::size_t(limit)) heads.push_back(job.head);
        return heads;
    }

    std::mutex mutex_;
    // guarded by mutex_
    std::map<std::string, store::JobChanges> jobs_;
    std::vector<std::vector<std::string>> watched_;
    std::map<std::string, std::vector<std::string>> tokens{{"tok_a", {}}, {"tok_b", {"b"}}};
    Instant now_{std::chrono::seconds{1700000000}};
};

class ProjectHubTest : public testing::Test {
protected:
    ProjectHubTest() {
        options.name = "evt_01jd0000000000000000000000";
        options.pause = 1ms;
        options.poll = 50ms;
        options.recheck = 20ms;
    }
    ~ProjectHubTest() override {
        if (hub) hub->stop();
    }

    ProjectHub& start() {
        hub = std::make_unique<ProjectHub>(jobs.feed(), options);
        return *hub;
    }
    void append(const std::string& job, const std::string& project, const std::string& type,
                const std::string& body = "{}") {
        jobs.append(job, project, type, body);
        hub->hear(job);
    }

    struct Client {
        std::shared_ptr<EventSource> source;
        std::string text{};
        bool goes_on = true;

        void pull() {
            if (goes_on) goes_on = source->take(text);
        }
        std::size_t count(const std::string& part) {
            pull();
            std::size_t found = 0;
            for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
                ++found;
            return found;
        }
    };
    Client client(ProjectHub::Subscription subscription) {
        Client made{hub->subscribe(std::move(subscription))};
        made.source->start([] {});
        return made;
    }

    Jobs jobs;
    ProjectHubOptions options;
    std::unique_ptr<ProjectHub> hub;
    const std::string job_a = new_id("job");
    const std::string other = new_id("job");
};

TEST_F(ProjectHubTest, a_stream_gets_the_events_of_its_projects_and_types_from_when_it_began) {
    start();
    append(job_a, "a", "state", R"({"state":"queued"})");
    Client all = client({.owner = "tok_a", .types = all_types});
    Client states = client({.owner = "tok_a", .project = "b", .types = state_only});
    Client mine = client({.owner = "tok_b", .owner_projects = {"b"}, .types = all_types});
    append(job_a, "a", "progress", R"({"step":1})");
    append(other, "b", "state", R"({"state":"queued"})");
    append(other, "b", "log", R"({"message":"x"})");
    ASSERT_TRUE(eventually([&] { return all.count("event: ") == 3; })) << all.text;
    ASSERT_TRUE(eventually([&] { return mine.count("event: ") == 2; })) << mine.text;
    ASSERT_TRUE(eventually([&] { return states.count("event: ") == 1; })) << states.text;
    EXPECT_TRUE(all.text.starts_with("retry: 2000\n\n"));
    EXPECT_EQ(all.text.find(fmt::format(R"("job_id":"{}","seq":1)", job_a)), std::string::npos)
        << "the first is from before";
    EXPECT_NE(mine.text.find(fmt::format(R"("job_id":"{}","seq":2)", other)), std::string::npos);
    EXPECT_EQ(mine.text.find(job_a), std::string::npos);
}

TEST_F(ProjectHubTest, a_long_page_and_lost_notices_are_read_to_the_end_once) {
    start();
    Client all = client({.owner = "tok_a", .types = all_types});
    for (int i = 0; i < 20; ++i)
        jobs.append(job_a, "a", "state");    // nobody is told
    ASSERT_TRUE(eventually([&] { return all.count("event: state") == 20; })) << all.text;
    hub->hear("*");
    append(job_a, "a", "end");
    ASSERT_TRUE(eventually([&] { return all.count("event: end") == 1; }));
    EXPECT_EQ(all.count("event: "), 21U);
}

TEST_F(ProjectHubTest, who_comes_back_goes_on_and_who_was_away_too_long_gets_a_gap) {
    options.ring.events = 4;
    start();
    Client all = client({.owner = "tok_a", .types = all_types});
    append(job_a, "a", "state");
    ASSERT_TRUE(eventually([&] { return all.count("event: state") == 1; }));
    const std::string id = all.text.substr(all.text.find("id: ") + 4, 32);
    all.source.reset();
    Client keeps = client({.owner = "tok_a", .types = all_types});
    append(job_a, "a", "end");
    ASSERT_TRUE(eventually([&] { return keeps.count("event: end") == 1; }));
    Client back = client({.owner = "tok_a", .types = all_types, .last_event_id = id});
    EXPECT_EQ(back.count("event: end"), 1U);
    EXPECT_EQ(back.count("event: "), 1U);
    for (int i = 0; i < 6; ++i)
        append(other, "a", "state", fmt::format("{{\"n\":{}}}", i));
    ASSERT_TRUE(eventually([&] { return keeps.count("\"n\":5") + keeps.count("gap") > 0; }));
    Client late = client({.owner = "tok_a", .types = all_types, .last_event_id = id});
    EXPECT_EQ(late.count("event: gap"), 1U);
    EXPECT_EQ(late.count("event: "), 1U);
    Client elsewhere = client({.owner = "tok_a",
                               .types = all_types,
                               .last_event_id = "evt_01jd0000000000000000000001-1"});
    EXPECT_EQ(elsewhere.count("event: gap"), 1U) << "an id of another process";
    EXPECT_THROW(client({.owner = "tok_a", .last_event_id = "7"}), ProblemError);
}

TEST_F(ProjectHubTest, a_type_that_nobody_wanted_cannot_be_come_back_to) {
    start();
    Client states = client({.owner = "tok_a", .types = state_only});
    append(job_a, "a", "state");
    ASSERT_TRUE(eventually([&] { return states.count("event: state") == 1; }));
    const std::string id = states.text.substr(states.text.find("id: ") + 4, 32);
    append(job_a, "a", "state");
    ASSERT_TRUE(eventually([&] { return states.count("event: state") == 2; }));
    Client same = client({.owner = "tok_a", .types = state_only, .last_event_id = id});
    EXPECT_EQ(same.count("event: gap"), 0U);
    Client more = client({.owner = "tok_a", .types = all_types, .last_event_id = id});
    EXPECT_EQ(more.count("event: gap"), 1U);
}

TEST_F(ProjectHubTest, a_stream_ends_when_its_owner_loses_a_project_or_all_rights) {
    start();
    Client revoked = client({.owner = "tok_a", .types = all_types});
    Client narrowed = client({.owner = "tok_b", .owner_projects = {"b"}, .types = all_types});
    jobs.set_tokens({{"tok_b", {"c"}}});
    hub->hear("tokens");
    ASSERT_TRUE(eventually([&] { return revoked.pull(), !revoked.goes_on; }));
    ASSERT_TRUE(eventually([&] { return narrowed.pull(), !narrowed.goes_on; }));
    append(job_a, "b", "state");
    EXPECT_EQ(revoked.count("event: "), 0U);
    EXPECT_EQ(narrowed.count("event: "), 0U);
}

TEST_F(ProjectHubTest, what_happens_while_the_database_is_away_comes_later) {
    start();
    Client all = client({.owner = "tok_a", .types = all_types});
    jobs.down = true;
    append(job_a, "a", "state");
    ASSERT_TRUE(eventually([&] { return jobs.reads > 0; }));
    jobs.down = false;
    ASSERT_TRUE(eventually([&] { return all.count("event: state") == 1; }));
}

TEST_F(ProjectHubTest, datasets_splits_and_deleted_objects_are_told) {
    start();
    Client all = client({.owner = "tok_a", .types = all_types});
    hub->hear("object ds_1 ready my project");
    hub->hear("object spl_1 failed a");
    hub->hear("object " + job_a + " deleted a");
    ASSERT_TRUE(eventually([&] { return all.count("event: ") == 3; })) << all.text;
    EXPECT_NE(all.text.find("event: dataset\ndata: {\"project\":\"my project\",\"dataset_id\":"
                            "\"ds_1\",\"body\":{\"state\":\"ready\"}}\n\n"),
              std::string::npos);
    EXPECT_EQ(all.count("event: split"), 1U);
    EXPECT_EQ(all.count("event: deleted"), 1U);
}

TEST_F(ProjectHubTest, nothing_is_read_while_nobody_listens_and_a_token_has_so_many_streams) {
    options.keep = 0ms;
    options.streams_per_owner = 2;
    start();
    append(job_a, "a", "state");
    std::this_thread::yield();
    EXPECT_EQ(jobs.reads, 0);
    {
        Client one = client({.owner = "tok_a", .types = all_types});
        Client two = client({.owner = "tok_a", .types = all_types});
        EXPECT_EQ(hub->stream_count(), 2U);
        EXPECT_THROW(client({.owner = "tok_a", .types = all_types}), ProblemError);
        Client third = client({.owner = "tok_b", .types = all_types});
        append(job_a, "a", "state");
        ASSERT_TRUE(eventually([&] { return one.count("event: ") == 1; }));
    }
    EXPECT_EQ(hub->stream_count(), 0U);
}

TEST_F(ProjectHubTest, projects_whose_metrics_have_streams_are_said_to_be_followed) {
    using Said = std::vector<std::vector<std::string>>;
    const ProjectEventTypes metrics = bit_of(ProjectEventType::metric);
    start();
    const Client states = client({.owner = "tok_a", .project = "a", .types = state_only});
    const Client mine = client({.owner = "tok_a", .project = "b", .types = metrics | state_only});
    ASSERT_TRUE(eventually([&] { return jobs.all_watched() == Said{{"b"}}; }));
    const Client all = client({.owner = "tok_a", .types = metrics});
    ASSERT_TRUE(eventually([&] { return jobs.all_watched() == Said{{"b"}, {}}; }));
}

TEST_F(ProjectHubTest, five_thousand_idle_streams_cost_one_read_for_all) {
    options.streams_per_owner = 5000;
    start();
    std::vector<Client> clients;
    for (int i = 0; i < 5000; ++i)
        clients.push_back(client({.owner = "tok_a", .project = i % 2 ? "a" : "b", .types = 1}));
    const int before = jobs.reads;
    append(job_a, "a", "state");
    ASSERT_TRUE(eventually([&] { return clients[1].count("event: ") == 1; }));
    EXPECT_LE(jobs.reads - before, 3);
    for (std::size_t i = 0; i < clients.size(); ++i)
        ASSERT_EQ(clients[i].count("event: "), i % 2) << i;
}

}    // namespace
}    // namespace slipway
