#include "scheduler/store/projects.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/scheduler/store/samples.h"

namespace slipway::store {
namespace {

using testing::ElementsAre;

class Projects : public StoreTest {
protected:
    std::string submit_in(const std::string& project, const std::string& queue_class = "normal") {
        NewJob job = new_job();
        job.dataset_id = dataset();
        job.project = project;
        job.queue_class = queue_class;
        return submit(job);
    }

    std::string dataset() {
        if (dataset_.empty()) dataset_ = ready_dataset();
        return dataset_;
    }

    /// An attempt that has ended after so many seconds on `cores` cores.
    void use(const std::string& project, int cores, int seconds, int ago_s = 0) {
        NewJob job = new_job();
        job.project = project;
        job.dataset_id = dataset();
        job.cores = cores;
        std::vector<int> numbers;
        for (int core = 1; core <= cores; ++core)
            numbers.push_back(core);
        const AttemptKey key = place(submit(job), numbers);
        database.sql(
            fmt::format("update attempt set created_at = created_at - interval '{} s' "
                        "where job_id = '{}'",
                        seconds, key.job_id));
        finish_attempt(store, key, {.exit_kind = "failed", .job_state = JobState::failed});
        if (ago_s > 0)
            database.sql(fmt::format("update project_usage set at = at - interval '{} s'", ago_s));
    }

    double usage(const std::string& project) {
        return find_project(store, project).value().usage_core_s;
    }

    std::string dataset_;
};

TEST_F(Projects, a_project_is_made_changed_and_listed_by_name) {
    const Project made = create_project(store, "vision", 2.5, "tok_admin", 0);
    EXPECT_EQ(made.weight, 2.5);
    EXPECT_FALSE(made.cores_max);
    EXPECT_EQ(made.created_by, "tok_admin");
    create_project(store, "audio", 1, "tok_admin", 0);
    EXPECT_EQ(code_of([&] { create_project(store, "audio", 1, "tok_admin", 0); }),
              ErrorCode::conflict);
    EXPECT_EQ(set_weight(store, "audio", 0.5)->weight, 0.5);
    EXPECT_EQ(set_quota(store, "audio", 3)->cores_max, 3);
    EXPECT_FALSE(set_quota(store, "audio", std::nullopt)->cores_max);
    EXPECT_EQ(set_quota(store, "audio", 3, "low")->class_max, "low");
    NewJob job = new_job();
    job.project = "audio";
    try {
        submit(job);
        ADD_FAILURE() << "a normal job was stored";
    } catch (const ClassNotAllowed& refusal) {
        EXPECT_EQ(refusal.wanted(), "normal");
        EXPECT_EQ(refusal.allowed(), "low");
    }
    EXPECT_THROW(require_class(store, "audio", "normal"), ClassNotAllowed);
    EXPECT_NO_THROW(require_class(store, "audio", "low"));
    EXPECT_NO_THROW(require_class(store, "unknown", "urgent"));
    EXPECT_EQ(set_quota(store, "audio", std::nullopt)->class_max, "");
    EXPECT_NO_THROW(submit(job));
    EXPECT_FALSE(set_weight(store, "nothing", 1));
    EXPECT_FALSE(find_project(store, "nothing"));
    const Page<Project> first = list_projects(store, {}, {.limit = 1});
    ASSERT_EQ(first.items.size(), 1U);
    EXPECT_EQ(first.items[0].name, "audio");
    const Page<Project> second =
        list_projects(store, {}, {.limit = 1, .cursor = first.next_cursor});
    EXPECT_EQ(second.items.at(0).name, "vision");
    EXPECT_EQ(list_projects(store, {"vision"}, {}).items.size(), 1U);
}

TEST_F(Projects, one_token_makes_no_more_projects_than_it_may) {
    create_project(store, "a", 1, "tok_maker", 1);
    EXPECT_EQ(code_of([&] { create_project(store, "b", 1, "tok_maker", 1); }),
              ErrorCode::exhausted);
}

TEST_F(Projects, what_attempts_use_is_counted_and_halves_in_a_day) {
    add_host();
    create_project(store, "p", 1, "", 0);
    use("p", 4, 100);
    EXPECT_NEAR(usage("p"), 400, 8);
    use("p", 1, 50);
    EXPECT_EQ(count("project_usage"), 2);
    EXPECT_NEAR(usage("p"), 450, 10);
    fold_project_usage(store);
    EXPECT_EQ(count("project_usage"), 1);
    EXPECT_NEAR(usage("p"), 450, 10);
    use("p", 1, 50);
    EXPECT_NEAR(usage("p"), 500, 12) << "a sum and what came since";
    fold_project_usage(store);
    EXPECT_NEAR(usage("p"), 500, 12);
    const std::string sum = database.sql("select ctid from project_usage");
    fold_project_usage(store);
    EXPECT_EQ(database.sql("select ctid from project_usage"), sum) << "nothing new";
    database.sql("update project_usage set at = at - interval '1 day'");
    EXPECT_NEAR(usage("p"), 250, 6);
    database.sql("update project_usage set at = at - interval '100 years'");
    EXPECT_NEAR(usage("p"), 0, 1e-6);
}

TEST_F(Projects, a_running_attempt_counts_while_it_runs) {
    add_host();
    create_project(store, "p", 1, "", 0);
    const AttemptKey key = place(submit_in("p"));
    database.sql("update attempt set created_at = created_at - interval '60 s'");
    const Project running = find_project(store, "p").value();
    EXPECT_NEAR(running.usage_core_s, 60, 3);
    EXPECT_EQ(running.cores_held, 1);
    submit_in("p");
    EXPECT_EQ(find_project(store, "p")->queued_jobs, 1);
    const ProjectStandings standings = list_standings(store);
    ASSERT_EQ(standings.projects.size(), 1U);
    EXPECT_NEAR(standings.projects[0].usage_core_s, 60, 3);
    EXPECT_TRUE(standings.now.has_value());
    const auto held = list_running_jobs(store);
    ASSERT_EQ(held.size(), 1U);
    EXPECT_EQ(held[0].job_id, key.job_id);
    EXPECT_TRUE(held[0].preemptible) << "by default";
    EXPECT_FALSE(held[0].ending);
}

TEST_F(Projects, positions_are_those_of_the_fair_order) {
    create_project(store, "heavy", 2, "", 0);
    create_project(store, "light", 1, "", 0);
    std::vector<std::string> heavy, light;
    for (int i = 0; i < 4; ++i)
        light.push_back(submit_in("light"));
    for (int i = 0; i < 4; ++i)
        heavy.push_back(submit_in("heavy"));
    const std::string urgent = submit_in("light", "urgent");
    // The urgent one is a turn of its project; then two turns of the heavy one for each of the
    // light one.
    const auto position = [&](const std::string& id) { return find_queue_position(store, id); };
    EXPECT_EQ(position(urgent), 1);
    EXPECT_EQ(position(heavy[0]), 2);
    EXPECT_EQ(position(heavy[1]), 3);
    EXPECT_EQ(position(light[0]), 4);
    EXPECT_EQ(position(heavy[2]), 5);
    EXPECT_EQ(position(heavy[3]), 6);
    EXPECT_EQ(position(light[1]), 7);
    EXPECT_EQ(next_queue_position(store, "heavy", 2), 8) << "level with light[1], and younger";
    for (const QueuedJob& job : queue())
        EXPECT_EQ(job.position, position(job.job_id)) << job.job_id;
}

TEST_F(Projects, who_has_used_much_goes_last) {
    add_host();
    create_project(store, "greedy", 1, "", 0);
    create_project(store, "modest", 1, "", 0);
    use("greedy", 8, 1000);
    const std::string first = submit_in("greedy");
    const std::string second = submit_in("modest");
    EXPECT_EQ(find_queue_position(store, first), 2);
    EXPECT_EQ(find_queue_position(store, second), 1);
    EXPECT_EQ(next_queue_position(store, "modest", 2), 2);
    EXPECT_EQ(next_queue_position(store, "new", 2), 2) << "a project without a row";
}

TEST_F(Projects, the_first_of_each_shape_of_each_project_are_read) {
    for (int i = 0; i < 3; ++i) {
        submit_in("a");
        submit_in("b");
    }
    const auto ready = list_ready_jobs(store, 2);
    EXPECT_EQ(std::ranges::count(ready, "a", &QueuedJob::project), 2);
    EXPECT_EQ(std::ranges::count(ready, "b", &QueuedJob::project), 2);
}

TEST_F(Projects, limits_of_time_are_told_less_what_was_used) {
    add_host();
    NewJob job = new_job();
    job.dataset_id = dataset();
    job.spec = R"({"limits": {"max_wall_s": 100, "max_core_s": 80},
                   "queue": {"preemptible": false}})";
    submit(job);
    EXPECT_EQ(list_ready_jobs(store, 8).at(0).runs_at_most, std::chrono::seconds{80});
    const AttemptKey key = place(job.id);
    EXPECT_EQ(list_running_jobs(store).at(0).runs_at_most, std::chrono::seconds{80});
    EXPECT_FALSE(list_running_jobs(store).at(0).preemptible);
    record_process(store, key, 0, 1, 1, "");
    database.sql("update attempt set started_at = started_at - interval '30 s'");
    finish_attempt(store, key, {.exit_kind = "crashed", .job_state = JobState::queued});
    const auto left = list_ready_jobs(store, 8).at(0).runs_at_most;
    ASSERT_TRUE(left);
    EXPECT_NEAR(double(left->count()), 50, 2);
}

}    // namespace
}    // namespace slipway::store
