// Goal: a run says what it should, stops when asked, and goes on from a checkpoint with the same
// bits. Method: whole runs on a small table, with a Reporter that keeps everything and asks to stop
// at a chosen step.
#include "executor/train/run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "executor/checkpoint/checkpoint.h"
#include "executor/tensor/random.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

class KeepingReporter final : public Reporter {
public:
    std::int64_t stop_at_step = -1;    ///< asks to stop once a checkpoint or metric says this step
    StopReason reason = StopReason::drain;

    std::vector<std::string> states, logs;
    std::vector<MetricPoint> points;
    std::vector<SavedCheckpoint> checkpoints;
    std::vector<CompiledProgram> programs;
    Progress last_progress;

    void state(const std::string& state) override { states.push_back(state); }
    void progress(const Progress& progress) override { last_progress = progress; }
    void metric(const MetricPoint& point) override { points.push_back(point); }
    void log(const std::string&, const std::string& message) override { logs.push_back(message); }
    void warning(const std::string&, const std::string& message) override {
        logs.push_back(message);
    }
    void checkpoint(const SavedCheckpoint& saved) override { checkpoints.push_back(saved); }
    void compiled(const CompiledProgram& program) override { programs.push_back(program); }
    void reported(const WrittenReport&) override {}
    StopReason stop_requested() override {
        return stop_at_step >= 0 && step() >= stop_at_step ? reason : StopReason::none;
    }

    std::int64_t step() const { return points.empty() ? 0 : points.back().step; }
    std::vector<double> values_of(const std::string& name) const {
        std::vector<double> values;
        for (const MetricPoint& point : points) {
            for (const auto& [key, value] : point.values) {
                if (key == name) values.push_back(value);
            }
        }
        return values;
    }
};

/// Two noisy clusters in four columns, 120 rows.
std::string table() {
    std::string text = "a,b,c,d,label\n";
    RandomStream stream(11, site_augment, 0);
    for (int row = 0; row < 120; ++row) {
        const float centre = row % 2 == 0 ? 0.0F : 1.5F;
        for (int column = 0; column < 4; ++column) {
            text += fmt::format("{:.6f},", centre + stream.next_normal());
        }
        text += row % 2 == 0 ? "no\n" : "yes\n";
    }
    return text;
}

class Run : public testing::Test {
protected:
    AttemptPlan plan(std::int64_t cores = 1) {
        AttemptPlan plan;
        plan.spec.model.width = 8;
        plan.spec.data.split.val_fraction = 0.2;
        plan.spec.train.epochs = 4;
        plan.spec.train.batch_size_per_core = 16 / cores;
        plan.spec.train.optimizer.name = OptimizerName::adam;
        plan.spec.train.optimizer.lr = 0.02;
        plan.spec.accelerator.cores = cores;
        plan.spec.monitor.log_every_steps = 1;
        plan.dataset_format = "csv";
        plan.dataset_path = folder_.write("data/points.csv", table());
        plan.checkpoint_folder = folder_.path() / fmt::format("checkpoints_{}", folders_++);
        plan.worker_threads = 2;
        return plan;
    }
    static std::vector<NamedArray> weights_of(const AttemptPlan& plan) {
        return load_checkpoint(*newest_checkpoint(plan.checkpoint_folder)).value().weights;
    }
    static void expect_same_bits(const AttemptPlan& left, const AttemptPlan& right) {
        const auto a = weights_of(left);
        const auto b = weights_of(right);
        ASSERT_EQ(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_TRUE(std::ranges::equal(a[i].array.as<float>(), b[i].array.as<float>()))
                << a[i].name;
        }
    }

    TempFolder folder_;
    int folders_ = 0;
};

TEST_F(Run, says_states_metrics_and_checkpoints_in_order) {
    KeepingReporter reporter;
    const AttemptPlan one = plan();
    const TrainOutcome outcome = run_training(one, reporter);
    EXPECT_EQ(outcome.stopped, StopReason::none);
    EXPECT_EQ(reporter.states, (std::vector<std::string>{"compiling", "running", "finishing"}));
    EXPECT_EQ(reporter.values_of("train_loss").size(), 24U);    // 96 rows / 16, four epochs
    EXPECT_EQ(reporter.values_of("val_loss").size(), 4U);
    EXPECT_EQ(reporter.checkpoints.size(), 4U);
    EXPECT_EQ(reporter.last_progress.step, 24);
    EXPECT_EQ(reporter.programs.size(), 2U);
    EXPECT_LT(reporter.values_of("val_loss").back(), 0.5);
    ASSERT_TRUE(outcome.best);
    EXPECT_EQ(outcome.best->second, std::ranges::min(reporter.values_of("val_loss")));
}

TEST_F(Run, resumed_anywhere_it_ends_with_the_same_bits) {
    const AttemptPlan undisturbed = plan(8);
    KeepingReporter whole;
    run_training(undisturbed, whole);
    for (const std::int64_t stop : {1, 6, 13}) {
        AttemptPlan broken = plan(8);
        KeepingReporter first;
        first.stop_at_step = stop;
        EXPECT_EQ(run_training(broken, first).stopped, StopReason::drain);
        broken.resume_from = newest_checkpoint(broken.checkpoint_folder);
        broken.attempt = 2;
        KeepingReporter second;
        run_training(broken, second);
        auto losses = first.values_of("train_loss");
        for (const double loss : second.values_of("train_loss"))
            losses.push_back(loss);
        EXPECT_EQ(losses, whole.values_of("train_loss")) << "stopped at " << stop;
        expect_same_bits(broken, undisturbed);
    }
}

TEST_F(Run, the_number_of_threads_changes_no_bit) {
    AttemptPlan one = plan(8), two = plan(8);
    one.worker_threads = 1;
    KeepingReporter first, second;
    run_training(one, first);
    run_training(two, second);
    expect_same_bits(one, two);
}

TEST_F(Run, one_core_gives_the_bits_of_eight_with_the_same_global_batch) {
    const AttemptPlan one = plan(1), eight = plan(8);
    KeepingReporter first, second;
    run_training(one, first);
    run_training(eight, second);
    EXPECT_EQ(first.values_of("train_loss"), second.values_of("train_loss"));
    EXPECT_EQ(first.values_of("val_loss"), second.values_of("val_loss"));
    expect_same_bits(one, eight);
}

TEST_F(Run, a_job_that_need_not_be_deterministic_computes_its_batch_whole) {
    AttemptPlan whole = plan(1);
    whole.spec.train.deterministic = false;
    KeepingReporter first, second;
    run_training(whole, first);
    run_training(plan(1), second);
    const auto losses = first.values_of("train_loss");
    const auto expected = second.values_of("train_loss");
    ASSERT_EQ(losses.size(), expected.size());
    // 1e-3: two orders of float32 sums, carried on for 24 steps.
    for (std::size_t i = 0; i < losses.size(); ++i)
        EXPECT_NEAR(losses[i], expected[i], 1e-3);
}

TEST_F(Run, cancelled_work_is_not_saved) {
    KeepingReporter reporter;
    reporter.stop_at_step = 3;
    reporter.reason = StopReason::cancel;
    EXPECT_EQ(run_training(plan(), reporter).stopped, StopReason::cancel);
    EXPECT_TRUE(reporter.checkpoints.empty());
}

TEST_F(Run, counted_in_steps_it_ends_there) {
    AttemptPlan one = plan();
    one.spec.train.epochs.reset();
    one.spec.train.steps = 8;
    KeepingReporter reporter;
    EXPECT_EQ(run_training(one, reporter).step, 8);
    EXPECT_EQ(reporter.values_of("val_loss").size(), 2U);    // after the epoch and at the end
}

struct BadPlan {
    const char* reason;
    void (*spoil)(AttemptPlan&);
};

TEST_F(Run, what_cannot_be_trained_fails_with_its_reason) {
    const std::vector<BadPlan> cases{
        {"spec_error", [](AttemptPlan& p) { p.spec.model.num_classes = 1; }},
        {"spec_error", [](AttemptPlan& p) { p.spec.model.arch = Arch::lenet; }},
        {"data_error", [](AttemptPlan& p) { p.spec.data.split.group_by = "family"; }},
        {"spec_error", [](AttemptPlan& p) { p.spec.train.batch_size_per_core = 1000; }},
        {"nan_loss",
         [](AttemptPlan& p) { p.spec.train.optimizer = {.name = OptimizerName::sgd, .lr = 1e30}; }},
        {"data_error", [](AttemptPlan& p) { p.dataset_path = "/nowhere"; }},
        {"checkpoint_corrupt", [](AttemptPlan& p) { p.resume_from = "/nowhere"; }},
        {"out_of_memory", [](AttemptPlan& p) { p.memory_bytes_max = 100; }},
    };
    for (const BadPlan& bad : cases) {
        AttemptPlan one = plan();
        bad.spoil(one);
        KeepingReporter reporter;
        try {
            run_training(one, reporter);
            ADD_FAILURE() << bad.reason << " was not thrown";
        } catch (const TrainError& error) {
            EXPECT_EQ(error.reason(), bad.reason) << error.what();
        }
    }
}

}    // namespace
}    // namespace slipway
