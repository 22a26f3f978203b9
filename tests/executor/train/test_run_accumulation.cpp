// Goal: a step over N batches is a step over one batch N times as large, with the laws of any run.
// Method: whole runs on a small table beside runs with the large batch; one step against the naive
// evaluator is in test_step.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/train/train_error.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {
namespace {

class RunAccumulation : public Run {
protected:
    /// Steps of `batches` batches; each core computes `batch_size` samples at once.
    AttemptPlan accumulating(std::int64_t cores, std::int64_t batch_size, std::int64_t batches) {
        AttemptPlan one = plan(cores);
        one.spec.train.batch_size_per_core = batch_size;
        one.spec.train.grad_accumulation = batches;
        return one;
    }
    /// 2e-6 of losses near 1: two orders of f32 sums, 2^-24 each, carried on for 24 steps of Adam.
    static void expect_near(const KeepingReporter& found, const KeepingReporter& expected) {
        for (const std::string name : {"train_loss", "train_accuracy", "lr", "val_loss"}) {
            const auto left = found.values_of(name), right = expected.values_of(name);
            ASSERT_EQ(left.size(), right.size()) << name;
            for (std::size_t i = 0; i < left.size(); ++i)
                EXPECT_NEAR(left[i], right[i], 2e-6) << name << " " << i;
        }
        EXPECT_EQ(found.last_progress.step, expected.last_progress.step);
        EXPECT_EQ(found.last_progress.samples, expected.last_progress.samples);
    }
};

TEST_F(RunAccumulation, many_batches_are_one_large_batch) {
    KeepingReporter small, large;
    run_training(accumulating(1, 4, 4), small);
    run_training(accumulating(1, 16, 1), large);
    expect_near(small, large);
}

TEST_F(RunAccumulation, many_batches_are_one_large_batch_on_eight_cores) {
    KeepingReporter small, large;
    run_training(accumulating(8, 1, 2), small);
    run_training(accumulating(8, 2, 1), large);
    expect_near(small, large);
}

TEST_F(RunAccumulation, what_is_left_of_an_epoch_counts_by_its_samples) {
    // 96 samples: 20, 20, 20, 20 and 16, which are three full batches of 5 and one sample.
    for (const bool drop_last : {false, true}) {
        AttemptPlan small_plan = accumulating(1, 5, 4), large_plan = accumulating(1, 20, 1);
        small_plan.spec.train.drop_last = large_plan.spec.train.drop_last = drop_last;
        KeepingReporter small, large;
        run_training(small_plan, small);
        run_training(large_plan, large);
        expect_near(small, large);
        EXPECT_EQ(small.last_progress.samples, 4 * (drop_last ? 80 : 96));
    }
}

TEST_F(RunAccumulation, resumed_anywhere_it_ends_with_the_same_bits) {
    const AttemptPlan undisturbed = accumulating(8, 1, 3);
    KeepingReporter whole;
    run_training(undisturbed, whole);
    for (const std::int64_t stop : {1, 4, 9}) {
        AttemptPlan broken = accumulating(8, 1, 3);
        EXPECT_EQ(losses_of_broken_run(broken, stop), whole.values_of("train_loss"))
            << "stopped at " << stop;
        expect_same_bits(broken, undisturbed);
    }
}

/// Asks to stop when it has been asked so often.
class ImpatientReporter final : public KeepingReporter {
public:
    explicit ImpatientReporter(int patience) : patience_(patience) {}
    StopReason stop_requested() override {
        return patience_-- > 0 ? StopReason::none : StopReason::drain;
    }

private:
    int patience_;
};

TEST_F(RunAccumulation, a_stop_amid_a_step_goes_back_to_its_beginning) {
    const AttemptPlan undisturbed = accumulating(8, 1, 4);
    KeepingReporter whole;
    run_training(undisturbed, whole);
    AttemptPlan broken = accumulating(8, 1, 4);
    ImpatientReporter first(6);    // a step of four batches, and two of the next
    EXPECT_EQ(run_training(broken, first).stopped, StopReason::drain);
    EXPECT_EQ(first.step(), 1);
    broken.resume_from = newest_checkpoint(broken.checkpoint_folder);
    broken.attempt = 2;
    KeepingReporter second;
    run_training(broken, second);
    EXPECT_EQ(second.points.front().step, 2);
    expect_same_bits(broken, undisturbed);
}

TEST_F(RunAccumulation, neither_threads_nor_cores_change_a_bit) {
    const AttemptPlan reference = accumulating(1, 8, 3);
    KeepingReporter alone;
    run_training(reference, alone);
    for (const int threads : {1, 2, 8}) {
        AttemptPlan other = accumulating(8, 1, 3);
        other.worker_threads = threads;
        KeepingReporter reporter;
        run_training(other, reporter);
        EXPECT_EQ(reporter.values_of("train_loss"), alone.values_of("train_loss"));
        expect_same_bits(other, reference);
    }
}

TEST_F(RunAccumulation, more_batches_are_no_other_programs) {
    std::vector<std::vector<std::string>> hashes;
    for (const std::int64_t batches : {2, 5, 96}) {
        KeepingReporter reporter;
        run_training(accumulating(1, 1, batches), reporter);
        hashes.emplace_back();
        for (const CompiledProgram& program : reporter.programs) {
            hashes.back().push_back(program.program + " " + program.hash);
            EXPECT_FALSE(program.after_warm_up);
        }
    }
    EXPECT_EQ(hashes[0].size(), 3U);    // train_step, accumulation_step, evaluation_step
    EXPECT_EQ(hashes[1], hashes[0]);
    EXPECT_EQ(hashes[2], hashes[0]);
}

TEST_F(RunAccumulation, goes_with_every_precision) {
    for (const Precision precision : {Precision::bf16, Precision::bf16_true}) {
        AttemptPlan one = accumulating(8, 1, 2);
        one.spec.train.precision = precision;
        KeepingReporter reporter;
        run_training(one, reporter);
        EXPECT_LT(reporter.values_of("val_loss").back(), 0.5) << to_string(precision);
    }
}

TEST_F(RunAccumulation, a_step_larger_than_the_training_part_is_refused) {
    KeepingReporter reporter;
    try {
        run_training(accumulating(8, 1, 13), reporter);    // 104 samples of 96
        ADD_FAILURE() << "it trained";
    } catch (const TrainError& error) {
        EXPECT_EQ(error.reason(), "spec_error");
        EXPECT_THAT(error.what(), testing::HasSubstr("grad_accumulation of at most 12"));
    }
}

}    // namespace
}    // namespace slipway
