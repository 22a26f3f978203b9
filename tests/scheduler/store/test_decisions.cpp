#include "scheduler/store/decisions.h"

#include <gtest/gtest.h>

#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using namespace std::chrono_literals;

class Decisions : public StoreTest {
protected:
    Placement decided(const std::string& job_id, int core) const {
        Placement wanted = placement(job_id, {core});
        wanted.why = DecisionReason{.code = "free_cores", .message = "it was free"};
        return wanted;
    }
    std::vector<Decision> all(const DecisionFilter& filter = {}) {
        return list_decisions(store, filter, {.limit = 200}).items;
    }
    void waits(const std::string& job_id, const std::string& code) {
        record_decisions(store,
                         {{.job_id = job_id,
                           .kind = "wait",
                           .reason = {.code = code, .message = "m", .related_job = "job_x"}}});
    }
};

TEST_F(Decisions, a_start_is_stored_with_its_attempt_or_not_at_all) {
    add_host();
    const std::string first = submit(), second = submit();
    // One of them cannot have the core.
    commit_placements(store, {decided(first, 3), decided(second, 3)});
    ASSERT_EQ(all().size(), 1U);
    const Decision start = all()[0];
    EXPECT_EQ(start.job_id, first);
    EXPECT_EQ(start.project, "default");
    EXPECT_EQ(start.kind, "start");
    EXPECT_EQ(start.host, host);
    EXPECT_EQ(start.cores, std::vector<int>{3});
    EXPECT_EQ(start.reason.code, "free_cores");
    EXPECT_EQ(start.reason.message, "it was free");
    commit_placements(store, {decided(second, 4)});
    EXPECT_EQ(all()[0].job_id, second) << "the newest first";
    commit_placements(store, {decided(second, 5)});
    EXPECT_EQ(all().size(), 2U) << "it runs already";
}

TEST_F(Decisions, they_are_found_by_job_and_by_project) {
    NewJob other = new_job();
    other.project = "vision";
    const std::string mine = submit(), theirs = submit(other);
    for (const char* code : {"core_busy", "behind", "quota"}) {
        waits(mine, code);
        waits(theirs, code);
    }
    waits(new_id("job"), "behind");
    EXPECT_EQ(all().size(), 6U) << "a job that is gone has none";
    EXPECT_EQ(all({.projects = {"vision"}}).size(), 3U);
    EXPECT_EQ(all({.projects = {"default", "vision"}}).size(), 6U);
    EXPECT_EQ(all({.job_id = mine}).size(), 3U);
    EXPECT_TRUE(all({.projects = {"vision"}, .job_id = mine}).empty());
    EXPECT_EQ(all({.job_id = mine})[0].reason.related_job, "job_x");
    std::vector<std::int64_t> ids;
    PageRequest page{.limit = 2, .cursor = {}};
    do {
        const auto part = list_decisions(store, {.projects = {"default", "vision"}}, page);
        for (const Decision& one : part.items)
            ids.push_back(one.id);
        page.cursor = part.next_cursor;
    } while (!page.cursor.empty());
    EXPECT_EQ(ids, (std::vector<std::int64_t>{6, 5, 4, 3, 2, 1}));
}

TEST_F(Decisions, the_old_ones_and_those_above_the_maximum_go) {
    const std::string job = submit();
    for (int i = 0; i < 5; ++i)
        waits(job, "behind");
    EXPECT_EQ(prune_decisions(store, 24h, 100), 0);
    EXPECT_EQ(prune_decisions(store, 24h, 3), 2);
    database.sql("update decision set at = at - interval '2 days' where id <= 4");
    EXPECT_EQ(prune_decisions(store, 24h, 100), 2);
    EXPECT_EQ(all().size(), 1U);
    EXPECT_EQ(all()[0].id, 5);
}

}    // namespace

}    // namespace slipway::store
