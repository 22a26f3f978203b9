#include "scheduler/store/host_pools.h"

#include <gmock/gmock.h>

#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

struct HostPools : StoreTest {
    const std::string dataset = ready_dataset();

    void add_host_of(const std::string& name, const std::string& pool) {
        register_host(store, {.name = name, .pool = pool});
    }

    /// Of a spec that names this pool; empty: none.
    std::string submit_to(const std::string& pool, const std::string& project = "default") {
        NewJob job = new_job();
        job.project = project;
        job.dataset_id = dataset;
        if (!pool.empty()) job.spec = fmt::format(R"({{"queue": {{"pool": "{}"}}}})", pool);
        return submit(job);
    }

    std::string pool_of(const std::string& job_id) {
        return find_queued_job(store, job_id).value().pool;
    }
};

TEST_F(HostPools, a_host_is_of_the_pool_that_it_registers_with_last) {
    EXPECT_THAT(list_pools(store), IsEmpty());
    add_host("first");
    add_host_of("second", "slurm");
    EXPECT_THAT(list_pools(store), ElementsAre("local", "slurm"));
    add_host_of("first", "slurm");
    EXPECT_THAT(list_pools(store), ElementsAre("slurm"));
    EXPECT_EQ(list_hosts(store).at(0).pool, "slurm");
    EXPECT_EQ(list_cores(store).at(0).pool, "slurm");
    for (const char* wrong : {"", "any", "two words", "-dash"})
        EXPECT_THROW(add_host_of("third", wrong), Error) << wrong;
}

TEST_F(HostPools, a_removed_host_is_of_none) {
    add_host_of("first", "slurm");
    drain_host(store, "first", "", "tok_test");
    remove_host(store, "first", "tok_test");
    EXPECT_THAT(list_pools(store), IsEmpty());
}

TEST_F(HostPools, a_job_that_names_none_waits_for_the_default_one) {
    const std::string before = submit_to("");
    EXPECT_EQ(pool_of(before), "");
    set_default_pool(store, "local");
    EXPECT_EQ(find_default_pool(store), "local");
    EXPECT_EQ(pool_of(submit_to("")), "local");
    EXPECT_EQ(pool_of(submit_to("slurm")), "slurm");
    EXPECT_EQ(pool_of(submit_to("any")), "");
    EXPECT_EQ(pool_of(before), "") << "it keeps the place that it was queued for";
    EXPECT_EQ(resolve_pool(store, ""), "local");
    EXPECT_EQ(resolve_pool(store, "any"), "");
    EXPECT_EQ(resolve_pool(store, "slurm"), "slurm");
    set_default_pool(store, "");
    EXPECT_EQ(pool_of(submit_to("")), "");
}

TEST_F(HostPools, a_queued_job_moves_to_another_pool_and_keeps_the_rest_of_its_spec) {
    for (const char* before : {"", "slurm"}) {
        const std::string id = submit_to(before);
        const auto queued_before = find_queued_job(store, id).value();
        const Job moved = patch_job(store, id, {.pool = "local"}, std::nullopt).value();
        EXPECT_NE(moved.spec.find("local"), std::string::npos) << moved.spec;
        EXPECT_EQ(moved.spec.find("slurm"), std::string::npos) << moved.spec;
        EXPECT_EQ(pool_of(id), "local");
        EXPECT_EQ(find_queued_job(store, id)->queued_at, queued_before.queued_at);
        patch_job(store, id, {.name = "renamed"}, std::nullopt);
        EXPECT_EQ(pool_of(id), "local") << "a patch without a pool changes none";
        patch_job(store, id, {.pool = std::string(any_pool)}, std::nullopt);
        EXPECT_EQ(pool_of(id), "");
    }
}

TEST_F(HostPools, a_job_that_comes_back_to_the_queue_waits_for_its_pool_again) {
    add_host_of(host, "slurm");
    const std::string id = submit_to("slurm");
    const AttemptKey key = place(id);
    EXPECT_EQ(list_running_jobs(store).at(0).pool, "slurm");
    finish_attempt(store, key, {.exit_kind = "lost", .job_state = JobState::queued});
    EXPECT_EQ(pool_of(id), "slurm");
}

TEST_F(HostPools, positions_count_those_that_may_have_the_same_hosts) {
    const std::string first = submit_to("slurm");
    const std::string second = submit_to("slurm");
    const std::string local = submit_to("local");
    const std::string any = submit_to("");
    const std::string last = submit_to("local");
    EXPECT_EQ(find_queue_position(store, first), 1);
    EXPECT_EQ(find_queue_position(store, second), 2);
    EXPECT_EQ(find_queue_position(store, local), 1);
    EXPECT_EQ(find_queue_position(store, any), 5) << "all turns of its project are before it";
    EXPECT_EQ(find_queue_position(store, last), 2);
    EXPECT_EQ(next_queue_position(store, "default", 2, "slurm"), 4);
    EXPECT_EQ(next_queue_position(store, "default", 2), 6);
    std::vector<std::optional<int>> listed;
    for (const QueuedJob& job : queue())
        listed.push_back(job.position);
    EXPECT_THAT(listed, ElementsAre(1, 2, 1, 5, 2));
}

TEST_F(HostPools, many_jobs_of_one_pool_hide_none_of_another) {
    set_default_pool(store, "slurm");
    for (int i = 0; i < 3; ++i)
        insert_jobs(700, dataset, "cores", "1");
    const std::string local = submit_to("local");
    EXPECT_EQ(find_queue_position(store, local), 1);
    EXPECT_EQ(list_queue(store, {}, {.limit = 1}).items.at(0).position, 1);
    std::size_t seen = 0;
    for (const QueuedJob& job : list_ready_jobs(store, 8))
        seen += std::size_t(job.job_id == local);
    for (const QueuedJob& job : list_forecast_jobs(store, 1000))
        seen += std::size_t(job.job_id == local);
    EXPECT_EQ(seen, 2U);
    EXPECT_EQ(list_ready_jobs(store, 8).size(), 9U);
    EXPECT_EQ(list_forecast_jobs(store, 1000).size(), 1000U);
}

TEST_F(HostPools, ready_jobs_are_counted_by_pool_up_to_a_thousand_a_project) {
    submit_to("local");
    submit_to("local", "vision");
    submit_to("");
    set_default_pool(store, "slurm");
    insert_jobs(1200, dataset, "cores", "1");
    EXPECT_THAT(count_ready_of_pools(store), ElementsAre(Pair("local", 2), Pair("slurm", 1000)));
    EXPECT_THAT(count_ready_of_pools(store, {"vision"}), ElementsAre(Pair("local", 1)));
}

}    // namespace

}    // namespace slipway::store
