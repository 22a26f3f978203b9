#include "executor/main/ending.h"
#include "executor/train/train_error.h"

#include <gtest/gtest.h>

#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace slipway {
namespace {

/// A listener for runs that say nothing.
class SilentReporter final : public Reporter {
public:
    void state(JobState) override {}
    void begin(std::int64_t) override {}
    void progress(const Progress&) override {}
    void epoch(const EpochSummary&) override {}
    void metric(const MetricPoint&) override {}
    void log(const std::string&, const std::string&) override {}
    void warning(const std::string& code, const std::string&) override { warned = code; }
    void checkpoint(const SavedCheckpoint&) override {}
    void compiled(const CompiledProgram&) override {}
    void reported(const WrittenReport&) override {}
    StopReason stop_requested() override { return StopReason::none; }

    std::string warned;
};

Ending ending_when(const std::function<TrainOutcome()>& run) {
    SilentReporter reporter;
    return train_to_the_end([&](const AttemptPlan&, Reporter&) { return run(); }, {}, reporter);
}

Ending ending_when_stopped(StopReason reason) {
    return ending_when([reason] {
        TrainOutcome outcome;
        outcome.stopped = reason;
        return outcome;
    });
}

TEST(Ending, every_stop_reason_has_an_outcome_and_an_exit_code) {
    struct Row {
        StopReason reason;
        const char* outcome;
        int exit_code;
    };
    for (const Row& row :
         {Row{StopReason::none, "succeeded", 0}, Row{StopReason::cancel, "cancelled", 0},
          Row{StopReason::timeout, "timed_out", 0}, Row{StopReason::drain, "orphaned", 75},
          Row{StopReason::orphaned, "orphaned", 75}}) {
        const Ending ending = ending_when_stopped(row.reason);
        EXPECT_EQ(to_string(ending.outcome), row.outcome);
        EXPECT_EQ(ending.exit_code, row.exit_code);
        EXPECT_EQ(done_frame(ending).at("outcome"), row.outcome);
    }
}

TEST(Ending, a_failure_of_the_job_alone_leaves_the_process_to_the_next_one) {
    const auto leaves = [](const auto& error) {
        return leaves_process_clean(ending_when([&]() -> TrainOutcome { throw error; }));
    };
    EXPECT_TRUE(leaves_process_clean(ending_when_stopped(StopReason::none)));
    EXPECT_TRUE(leaves_process_clean(ending_when_stopped(StopReason::cancel)));
    EXPECT_FALSE(leaves_process_clean(ending_when_stopped(StopReason::drain)));
    for (const char* reason : {"nan_loss", "spec_error"})
        EXPECT_TRUE(leaves(TrainError(reason, "m"))) << reason;
    for (const char* reason : {"data_error", "out_of_memory", "disk_full", "disk_error",
                               "checkpoint_corrupt", "checkpoint_incompatible"})
        EXPECT_FALSE(leaves(TrainError(reason, "m"))) << reason;
    // What has no reason of its own gets the code of one, and is not known all the same.
    EXPECT_FALSE(leaves(Error{ErrorCode::invalid_argument, "m"}));
    EXPECT_FALSE(leaves(Error{ErrorCode::internal, "m"}));
    EXPECT_FALSE(leaves(std::bad_alloc()));
    EXPECT_FALSE(leaves(std::runtime_error("m")));
}

TEST(Ending, a_result_tells_the_last_and_the_best_numbers) {
    const Ending ending = ending_when([] {
        TrainOutcome outcome;
        outcome.step = 10;
        outcome.epoch = 2;
        outcome.best = {{"val_loss", 0.25}};
        outcome.final_values = {{"val_accuracy", 0.5}};
        return outcome;
    });
    EXPECT_EQ(done_frame(ending).at("result"), Json::parse(R"({"step": 10, "epoch": 2,
        "best": {"metric": "val_loss", "value": 0.25}, "val_accuracy": 0.5})"));
}

TEST(Ending, a_run_that_was_stopped_early_has_succeeded_and_says_why) {
    const Ending ending = ending_when([] {
        TrainOutcome outcome;
        outcome.stopped_early = "val_loss was best at step 5";
        return outcome;
    });
    const Json frame = done_frame(ending);
    EXPECT_EQ(frame.at("outcome"), "succeeded");
    EXPECT_EQ(frame.at("code"), "early_stopping");
    EXPECT_EQ(frame.at("message"), "val_loss was best at step 5");
    EXPECT_EQ(ending.exit_code, 0);
}

TEST(Ending, every_error_has_a_code_that_users_can_act_on) {
    struct Row {
        std::function<void()> fail;
        const char* code;
    };
    const std::vector<Row> rows{
        {[] { throw TrainError("nan_loss", "x"); }, "nan_loss"},
        {[] { throw Error(ErrorCode::exhausted, "x"); }, "disk_full"},
        {[] { throw Error(ErrorCode::invalid_argument, "x"); }, "spec_error"},
        {[] { throw Error(ErrorCode::not_found, "x"); }, "data_error"},
        {[] { throw Error(ErrorCode::internal, "x"); }, "internal"},
        {[] { throw std::bad_alloc(); }, "oom_host"},
        {[] { throw std::runtime_error("x"); }, "internal"},
    };
    for (const Row& row : rows) {
        const Ending ending = ending_when([&row] {
            row.fail();
            return TrainOutcome{};
        });
        EXPECT_EQ(ending.outcome, AttemptOutcome::failed);
        EXPECT_EQ(ending.code, row.code);
        EXPECT_EQ(ending.exit_code, exit_failed);
        EXPECT_FALSE(ending.message.empty());
    }
}

TEST(Ending, a_damaged_checkpoint_without_another_fails_the_job) {
    SilentReporter reporter;
    AttemptPlan plan;
    plan.checkpoint_folder = "/nonexistent";
    plan.resume_from = "/nonexistent/step_1";
    const Ending ending = train_to_the_end(
        [](const AttemptPlan&, Reporter&) -> TrainOutcome {
            throw TrainError("checkpoint_corrupt", "bad sum");
        },
        plan, reporter);
    EXPECT_EQ(ending.code, "checkpoint_corrupt");
    EXPECT_TRUE(reporter.warned.empty());
}

}    // namespace
}    // namespace slipway
