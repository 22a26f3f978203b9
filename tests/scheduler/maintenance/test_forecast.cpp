#include "scheduler/maintenance/forecast.h"

#include <gtest/gtest.h>

#include "scheduler/maintenance/place_jobs.h"
#include "scheduler/maintenance/run_times.h"
#include "scheduler/maintenance/what_if.h"
#include "tests/scheduler/store/samples.h"
#include "tests/support/eventually.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;

class Forecast : public store::StoreTest {
protected:
    void SetUp() override {
        dataset_id = ready_dataset();
        add_host(host, 1);
    }

    /// A job that succeeded after so many seconds.
    void ran_for(int seconds) {
        const store::AttemptKey key = place(submit_on(dataset_id));
        relay_state(key, 1, JobState::compiling);
        relay_state(key, 2, JobState::running);
        store::finish_attempt(store, key, {.exit_kind = "done", .job_state = JobState::succeeded});
        database.sql("update attempt set created_at = ended_at - interval '" +
                     std::to_string(seconds) + " seconds' where job_id = '" + key.job_id + "'");
    }

    /// A job that has had the core for so many seconds.
    std::string runs_since(int seconds) {
        const store::AttemptKey key = place(submit_on(dataset_id));
        database.sql("update attempt set created_at = clock_timestamp() - interval '" +
                     std::to_string(seconds) + " seconds' where job_id = '" + key.job_id + "'");
        return key.job_id;
    }

    double in_s(const std::optional<SimulatedStart>& start, Instant now) {
        EXPECT_TRUE(start);
        return start ? std::chrono::duration<double>(start->at - now).count() : -1;
    }

    WhatIfAnswer ask(const WhatIf& change) { return what_if(store, system_clock(), change, 10s); }

    std::string dataset_id;
};

TEST_F(Forecast, typical_times_are_medians_of_what_succeeded_lately) {
    EXPECT_TRUE(store::list_typical_runs(store).runs.empty());
    for (const int seconds : {50, 100, 9000})
        ran_for(seconds);
    const store::TypicalRuns typical = store::list_typical_runs(store);
    ASSERT_EQ(typical.runs.size(), 3U) << "project and cores, project, all";
    for (const store::TypicalRun& run : typical.runs) {
        EXPECT_EQ(run.jobs, 3);
        EXPECT_NEAR(run.median_s, 100, 1);
    }
    store::QueuedJob job;
    job.project = "default";
    EXPECT_EQ(estimate_run(typical, job).lasts, 100s);
    EXPECT_EQ(estimate_run(typical, job).basis, RunBasis::typical);
    job.project = "another";
    job.cores = 8;
    EXPECT_EQ(estimate_run(typical, job).lasts, 100s) << "as all";
    job.runs_at_most = 20s;
    EXPECT_EQ(estimate_run(typical, job).lasts, 20s);
    EXPECT_EQ(estimate_run(typical, job).basis, RunBasis::limit);
    job.eta_s = 7;
    EXPECT_EQ(estimate_run(typical, job).lasts, 7s) << "it has run before";
    EXPECT_EQ(estimate_run(typical, job).basis, RunBasis::progress);
    EXPECT_EQ(estimate_run({}, {}).basis, RunBasis::assumed);
    EXPECT_EQ(estimate_run({}, {}).lasts, default_run);
}

TEST_F(Forecast, what_is_left_of_a_running_job_is_estimated) {
    store::TypicalRuns typical{.runs = {{.project = {}, .cores = {}, .jobs = 10, .median_s = 100}},
                               .now = Instant{} + std::chrono::days{1}};
    store::RunningJobRow job;
    job.started_at = typical.now - 40s;
    EXPECT_EQ(estimate_rest(typical, job).lasts, 60s);
    job.started_at = typical.now - 300s;
    EXPECT_EQ(estimate_rest(typical, job).lasts, 150s) << "half as long again";
    job.eta_s = 12;
    EXPECT_EQ(estimate_rest(typical, job).lasts, 12s);
    EXPECT_EQ(estimate_rest(typical, job).basis, RunBasis::progress);
    job.runs_at_most = 310s;
    EXPECT_EQ(estimate_rest(typical, job).lasts, 10s);
    EXPECT_EQ(estimate_rest(typical, job).basis, RunBasis::limit);
    job = {};
    job.started_at = typical.now;
    job.ending = true;
    EXPECT_EQ(estimate_rest(typical, job).lasts, assumed_save);
}

TEST_F(Forecast, a_queued_job_has_an_estimate_that_is_made_in_the_background) {
    for (int i = 0; i < 3; ++i)
        ran_for(100);
    runs_since(40);
    const std::string next = submit_on(dataset_id);
    const std::string after = submit_on(dataset_id);
    Forecasts forecasts(store, system_clock(), 10s, {.keep = 60s, .give_up = 60s, .wait = 0ms});
    EXPECT_EQ(forecasts.latest(), nullptr) << "nobody waits for the first";
    std::shared_ptr<const Simulation> made;
    ASSERT_TRUE(eventually([&] { return (made = forecasts.latest()) != nullptr; }));
    EXPECT_TRUE(made->complete);
    const Instant now = store::list_typical_runs(store).now;
    EXPECT_NEAR(in_s(made->starts.at(next), now), 60, 10);
    EXPECT_NEAR(in_s(made->starts.at(after), now), 160, 10);
    EXPECT_EQ(made->starts.at(next).basis, RunBasis::typical);
    EXPECT_EQ(forecasts.latest(), made) << "it is kept";
}

// Goal: a job that was paused or preempted is expected to take what it said that was left.
TEST_F(Forecast, a_job_that_goes_on_is_estimated_by_its_own_progress) {
    const std::string resumed = submit_on(dataset_id);
    database.sql("update job set progress = '{\"eta_s\": 3600}' where id = '" + resumed + "'");
    const ForecastInput input = read_forecast_input(store, 10s);
    EXPECT_EQ(input.runs.at(resumed).lasts, 3600s);
    EXPECT_EQ(input.runs.at(resumed).basis, RunBasis::progress);
}

TEST_F(Forecast, what_if_there_were_more_hosts) {
    runs_since(0);
    const std::string waiting = submit_on(dataset_id);
    const WhatIfAnswer answer = ask({.more_hosts = 1});
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.jobs, 1U);
    ASSERT_EQ(answer.sooner.size(), 1U);
    EXPECT_TRUE(answer.later.empty());
    EXPECT_EQ(answer.sooner[0].job_id, waiting);
    EXPECT_NEAR(std::chrono::duration<double>(*answer.sooner[0].before - answer.now).count(), 600,
                2);
    EXPECT_EQ(answer.sooner[0].after, answer.now);
    EXPECT_EQ(count("host"), 1) << "nothing is stored";
}

TEST_F(Forecast, what_if_a_job_were_submitted) {
    runs_since(0);
    const std::string normal = submit_on(dataset_id);
    store::QueuedJob urgent;
    urgent.job_id = "simulated";
    urgent.project = "default";
    urgent.dataset_state = "ready";
    urgent.class_rank = 0;
    urgent.runs_at_most = 50s;
    const WhatIfAnswer answer = ask({.new_job = urgent});
    EXPECT_FALSE(answer.without);
    EXPECT_NEAR(in_s(answer.with, answer.now), 30, 2) << "the running job saves and gives way";
    ASSERT_TRUE(answer.waits);
    EXPECT_EQ(answer.waits->code, "preempting");
    ASSERT_EQ(answer.later.size(), 1U);
    EXPECT_EQ(answer.later[0].job_id, normal);
    EXPECT_EQ(count("queue"), 1) << "nothing is stored";
    urgent.cores = 8;
    const WhatIfAnswer never = ask({.new_job = urgent});
    EXPECT_FALSE(never.with);
    EXPECT_EQ(never.waits->code, "waiting_for_cores");
    EXPECT_TRUE(ask({.new_job = urgent, .more_hosts = 1}).with);
}

TEST_F(Forecast, what_if_a_queued_job_had_another_class) {
    runs_since(0);
    const std::string first = submit_on(dataset_id);
    const std::string second = submit_on(dataset_id);
    const WhatIfAnswer answer = ask({.job_id = second, .class_rank = 1});
    EXPECT_NEAR(in_s(answer.without, answer.now), 1200, 2);
    EXPECT_NEAR(in_s(answer.with, answer.now), 30, 2);
    ASSERT_EQ(answer.later.size(), 1U);
    EXPECT_EQ(answer.later[0].job_id, first);
    EXPECT_EQ(store::code_of([&] { ask({.job_id = new_id("job")}); }), ErrorCode::not_found);
}

// Goal: a simulation of a long queue is bounded. Method: 3,000 jobs, of which the first 1,000 and
// the heads of each shape are simulated.
TEST_F(Forecast, a_long_queue_is_simulated_as_far_as_the_bounds_say) {
    insert_jobs(3000, dataset_id, "cores", "1");
    const ForecastInput input = read_forecast_input(store, 10s);
    EXPECT_EQ(input.snapshot.queue.size(), std::size_t(forecast_jobs_max));
    const Tick began = system_clock().tick();
    const Simulation found = simulate(input.snapshot, input.runs, forecast_bounds(system_clock()));
    EXPECT_LT(system_clock().tick() - began, 2 * forecast_time_max + 1s) << "also when sanitized";
    EXPECT_GT(found.starts.size(), 10U);
}

}    // namespace
}    // namespace slipway
