#include "scheduler/store/groups.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/store/prune.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using namespace std::chrono_literals;

class Groups : public StoreTest {
protected:
    void SetUp() override { dataset_id = ready_dataset(); }

    std::string submit_to(const std::string& group, std::optional<int> limit = {}, int cores = 1) {
        NewJob job = new_job();
        job.dataset_id = dataset_id;
        job.cores = cores;
        job.spec = limit ? fmt::format(R"({{"queue": {{"group": "{}", "group_limit": {}}}}})",
                                       group, *limit)
                         : fmt::format(R"({{"queue": {{"group": "{}"}}}})", group);
        return submit(job);
    }

    std::vector<std::string> heads() {
        std::vector<std::string> ids;
        for (const QueuedJob& job : list_ready_jobs(store, 8))
            ids.push_back(job.job_id);
        return ids;
    }

    std::optional<int> limit_of(const std::string& name) {
        return find_group(store, "default", name).value().jobs_max;
    }

    std::string dataset_id;
};

TEST_F(Groups, the_newest_job_that_names_a_limit_sets_it) {
    submit_to("sweep");
    EXPECT_EQ(limit_of("sweep"), std::nullopt);
    submit_to("sweep", 3);
    EXPECT_EQ(limit_of("sweep"), 3);
    submit_to("sweep");
    EXPECT_EQ(limit_of("sweep"), 3);
    submit_to("sweep", 5);
    EXPECT_EQ(limit_of("sweep"), 5);
    set_group_limit(store, "default", "sweep", 1);
    EXPECT_EQ(limit_of("sweep"), 1);
    EXPECT_EQ(find_group(store, "default", "sweep")->ready, 4);
    EXPECT_FALSE(find_group(store, "default", "other"));
    EXPECT_FALSE(find_group(store, "other", "sweep"));
    set_group_limit(store, "default", "another", 2);
    const Page<Group> page = list_groups(store, "default", {.limit = 1});
    ASSERT_EQ(page.items.size(), 1U);
    EXPECT_EQ(page.items[0].name, "another");
    EXPECT_EQ(list_groups(store, "default", {.limit = 1, .cursor = page.next_cursor}).items[0].name,
              "sweep");
}

TEST_F(Groups, of_a_group_no_more_are_read_than_its_limit_leaves) {
    add_host();
    const std::string first = submit_to("sweep", 2);
    const std::string second = submit_to("sweep", 2, 4);
    submit_to("sweep", 2);
    submit_to("sweep", 2);
    const std::string other = submit_on(dataset_id);
    EXPECT_EQ(heads().size(), 4U) << "two of one core, one of four, and the other";
    EXPECT_EQ(list_ready_jobs(store, 8)[0].group, "sweep");
    EXPECT_EQ(list_ready_jobs(store, 8)[0].group_limit, 2);
    place(first, {1});
    EXPECT_EQ(list_running_jobs(store).at(0).group, "sweep");
    EXPECT_EQ(find_group(store, "default", "sweep")->running, 1);
    EXPECT_EQ(heads().size(), 3U);
    place(second, {2, 3, 4, 5});
    EXPECT_EQ(heads(), std::vector<std::string>{other});
    const auto waiting = find_queued_job(
        store, database.sql("select min(job_id) from queue where group_name = 'sweep'"));
    EXPECT_EQ(waiting->group, "sweep");
    EXPECT_EQ(waiting->group_limit, 2);
}

// Goal: a limit that was forgotten is there again when a job comes back; one that was changed since
// is not set back.
TEST_F(Groups, a_job_that_comes_back_restores_the_limit_of_its_group) {
    add_host();
    const AttemptKey key = place(submit_to("sweep", 3));
    set_group_limit(store, "default", "sweep", 7);
    const AttemptEnd again{.exit_kind = "orphaned", .job_state = JobState::queued};
    finish_attempt(store, key, again);
    EXPECT_EQ(limit_of("sweep"), 7);
    EXPECT_EQ(count("queue where group_name = 'sweep'"), 1);
    database.sql("update queue set not_before = null");
    const AttemptKey next = place(key.job_id);
    database.sql("update job_group set changed_at = changed_at - interval '2 days'");
    EXPECT_EQ(prune_groups(store, 24h), 1);
    EXPECT_FALSE(find_group(store, "default", "sweep"));
    finish_attempt(store, next, again);
    EXPECT_EQ(limit_of("sweep"), 3);
    database.sql("update job_group set changed_at = changed_at - interval '2 days'");
    EXPECT_EQ(prune_groups(store, 24h), 0) << "its job waits";
}

TEST_F(Groups, a_project_has_two_hundred_groups_at_most) {
    database.sql(
        "insert into job_group (project, name, jobs_max) "
        "select 'default', 'g' || n, 1 from generate_series(1, 200) as n");
    EXPECT_EQ(code_of([&] { submit_to("more", 1); }), ErrorCode::exhausted);
    EXPECT_EQ(code_of([&] { set_group_limit(store, "default", "more", 1); }), ErrorCode::exhausted);
    EXPECT_EQ(count("job"), 0);
    submit_to("g7", 4);
    EXPECT_EQ(limit_of("g7"), 4);
    database.sql(
        "update job_group set changed_at = changed_at - interval '2 hours' where name <> 'g200'");
    submit_to("more", 1);
    EXPECT_EQ(limit_of("more"), 1);
    EXPECT_EQ(count("job_group"), 3) << "g7 has a queued job, g200 was changed lately";
}

}    // namespace

}    // namespace slipway::store
