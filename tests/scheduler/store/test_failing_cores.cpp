// Goal: a core on which job after job crashes takes no more jobs, unless the jobs are at fault or
// it is the last one.
#include <gmock/gmock.h>

#include "scheduler/store/access.h"
#include "scheduler/store/hosts.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FailingCores : public StoreTest {
protected:
    FailingCores() { add_host(host, 2); }

    std::string submit_of(const std::string& parent) {
        NewJob job = new_job();
        if (!parent.empty()) job.parent = JobParent{.id = parent, .key = job.id};
        return submit(job);
    }

    /// A job of the sweep that ends so on the core; its id.
    std::string end_on(int core, const std::string& kind, const std::string& parent = sweep) {
        const std::string id = submit_of(parent);
        end_again(id, core, kind);
        return id;
    }

    void end_again(const std::string& id, int core, const std::string& kind) {
        const AttemptKey key = place(id, {core});
        AttemptEnd end;
        end.exit_kind = kind;
        end.message = "the executor ended without a done frame (signal 11)";
        end.job_state = kind == "succeeded" ? JobState::succeeded
                        : kind == "failed"  ? JobState::failed
                                            : JobState::queued;
        finish_attempt(store, key, end);
    }

    std::vector<int> drained() { return list_hosts(store).at(0).drained; }

    static inline const std::string sweep = "swp_01jd0000000000000000000000";
};

TEST_F(FailingCores, job_after_job_drains_the_core_and_says_why) {
    end_on(1, "succeeded");
    std::string jobs;
    for (int i = 0; i < 3; ++i) {
        EXPECT_FALSE(drain_failing_core(store, 3).has_value()) << i;
        jobs = end_on(2, i == 1 ? "not_started" : "crashed");
    }
    const auto found = drain_failing_core(store, 3);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->core, 2);
    EXPECT_TRUE(found->drained);
    EXPECT_THAT(found->reason, HasSubstr("3 jobs in a row have crashed on it"));
    EXPECT_THAT(found->reason, HasSubstr(jobs));
    EXPECT_THAT(drained(), ElementsAre(2));
    EXPECT_EQ(list_cores(store).at(1).drain_reason, found->reason);
    const auto audited = list_audit(store, {}, {.action = "core.drain"}).items;
    ASSERT_EQ(audited.size(), 1U);
    EXPECT_EQ(audited[0].object, host + "/2");
    EXPECT_FALSE(drain_failing_core(store, 3).has_value()) << "it is told once";
}

TEST_F(FailingCores, what_goes_well_between_begins_the_count_again) {
    end_on(1, "succeeded");
    for (const char* kind : {"crashed", "crashed", "failed", "crashed", "crashed"})
        end_on(2, kind);
    EXPECT_FALSE(drain_failing_core(store, 3).has_value()) << "the executor itself said failed";
    end_on(2, "crashed");
    EXPECT_TRUE(drain_failing_core(store, 3).has_value());
}

TEST_F(FailingCores, a_sweep_whose_trials_all_crash_drains_nothing) {
    for (int i = 0; i < 10; ++i)
        end_on(1 + i % 2, "crashed");
    end_on(1, "succeeded", "swp_01jd0000000000000000000001");
    EXPECT_FALSE(drain_failing_core(store, 3).has_value());
    EXPECT_THAT(drained(), IsEmpty());
}

TEST_F(FailingCores, a_job_that_crashes_elsewhere_too_is_at_fault_itself) {
    end_on(1, "succeeded");
    const std::string wrong = end_on(2, "crashed");
    end_again(wrong, 1, "crashed");
    end_on(2, "crashed");
    end_on(2, "crashed");
    EXPECT_FALSE(drain_failing_core(store, 3).has_value());
}

TEST_F(FailingCores, one_job_that_crashes_again_and_again_counts_once) {
    end_on(1, "succeeded");
    const std::string id = end_on(2, "crashed");
    end_again(id, 2, "crashed");
    end_again(id, 2, "crashed");
    EXPECT_FALSE(drain_failing_core(store, 3).has_value());
}

TEST_F(FailingCores, jobs_of_nobody_count_when_they_succeed_elsewhere) {
    std::vector<std::string> jobs;
    for (int i = 0; i < 3; ++i)
        jobs.push_back(end_on(2, "crashed", ""));
    EXPECT_FALSE(drain_failing_core(store, 3).has_value());
    for (const std::string& id : jobs)
        end_again(id, 1, "succeeded");
    EXPECT_TRUE(drain_failing_core(store, 3).has_value());
}

TEST_F(FailingCores, the_last_core_goes_on_and_says_so) {
    end_on(1, "succeeded");
    drain_core(store, host, 1, true);
    for (int i = 0; i < 3; ++i)
        end_on(2, "crashed");
    const auto found = drain_failing_core(store, 3);
    ASSERT_TRUE(found.has_value());
    EXPECT_FALSE(found->drained);
    EXPECT_THAT(drained(), ElementsAre(1));
    EXPECT_THAT(list_cores(store).at(1).drain_reason, HasSubstr("it is the last core"));
    EXPECT_FALSE(drain_failing_core(store, 3).has_value()) << "it is told once";
    drain_core(store, host, 1, false);
    EXPECT_TRUE(drain_failing_core(store, 3)->drained) << "now there is another one";
}

TEST_F(FailingCores, who_takes_a_core_back_begins_the_count_again) {
    end_on(1, "succeeded");
    for (int i = 0; i < 3; ++i)
        end_on(2, "crashed");
    ASSERT_TRUE(drain_failing_core(store, 3).has_value());
    EXPECT_TRUE(drain_core(store, host, 2, false));
    EXPECT_EQ(list_cores(store).at(1).drain_reason, "");
    EXPECT_FALSE(drain_failing_core(store, 3).has_value());
    for (int i = 0; i < 3; ++i)
        end_on(2, "crashed");
    EXPECT_TRUE(drain_failing_core(store, 3).has_value());
}

}    // namespace

}    // namespace slipway::store
