// Goal: what a process keeps of its attempts changes nothing of the next ones but their time.
// Method: the same runs alone and in one process after others of other shapes, rates and ends.

#include "executor/train/kept_parts.h"

#include "executor/train/train_error.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {
namespace {

class Kept : public Run {
protected:
    struct Told {
        std::vector<std::string> states, logs, programs;
        std::vector<double> train_loss, val_loss;
        bool operator==(const Told&) const = default;
    };

    static Told told_by(const AttemptPlan& plan) {
        KeepingReporter reporter;
        run_training(plan, reporter);
        Told told{.states = reporter.states,
                  .logs = reporter.logs,
                  .programs = {},
                  .train_loss = reporter.values_of("train_loss"),
                  .val_loss = reporter.values_of("val_loss")};
        // The last line says where the time went.
        told.logs.pop_back();
        for (const CompiledProgram& program : reporter.programs)
            told.programs.push_back(program.program + program.hash);
        return told;
    }

    KeptParts kept;
};

TEST_F(Kept, programs_give_the_same_bits_and_events) {
    for (const std::int64_t cores : {1, 8}) {
        const AttemptPlan alone = plan(cores);
        const Told expected = told_by(alone);
        AttemptPlan other_rate = plan(cores), other_batch = plan(cores);
        other_rate.spec.train.optimizer.lr = 0.5;
        other_batch.spec.train.batch_size_per_core *= 2;
        for (AttemptPlan* before : {&other_rate, &other_batch}) {
            before->kept = &kept;
            told_by(*before);
        }
        AttemptPlan ruined = plan(cores);
        ruined.kept = &kept;
        ruined.spec.train.optimizer = {.name = OptimizerName::sgd, .lr = 1e30};
        KeepingReporter reporter;
        EXPECT_THROW(run_training(ruined, reporter), TrainError);
        AttemptPlan after = plan(cores);
        after.kept = &kept;
        EXPECT_EQ(told_by(after), expected);
        expect_same_bits(after, alone);
    }
}

TEST_F(Kept, programs_are_compiled_once_for_all_rates_and_seeds) {
    for (int trial = 0; trial < 4; ++trial) {
        AttemptPlan one = plan();
        one.kept = &kept;
        one.spec.train.optimizer.lr = 0.01 * (trial + 1);
        one.spec.train.optimizer.weight_decay = 0.001 * trial;
        one.spec.train.seed = trial;
        one.spec.data.split.seed = trial;
        KeepingReporter reporter;
        run_training(one, reporter);
        ASSERT_EQ(reporter.programs.size(), 2U);
        for (const CompiledProgram& program : reporter.programs)
            EXPECT_EQ(program.cached, trial > 0) << program.program;
    }
    EXPECT_EQ(kept.programs.entries().size(), 2U);
}

// Goal: the report of each job has its programs, whoever compiled them.
TEST_F(Kept, programs_are_in_the_report_of_each_job) {
    for (const char* name : {"first", "second"}) {
        AttemptPlan one = plan();
        one.kept = &kept;
        one.report_folder = folder_.path() / name;
        KeepingReporter reporter;
        run_training(one, reporter);
        for (const CompiledProgram& program : reporter.programs)
            EXPECT_TRUE(
                std::filesystem::exists(one.report_folder / "graphs" / (program.hash + ".json")));
    }
}

}    // namespace
}    // namespace slipway
