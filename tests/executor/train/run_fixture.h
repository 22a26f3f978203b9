#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "executor/checkpoint/checkpoint.h"
#include "executor/tensor/random.h"
#include "executor/train/run.h"
#include "tests/support/temp_folder.h"

/// Whole runs on a small table, with a Reporter that keeps everything and asks to stop at a chosen
/// step.
namespace slipway {

class KeepingReporter : public Reporter {
public:
    std::int64_t stop_at_step = -1;    ///< asks to stop once a checkpoint or metric says this step
    StopReason reason = StopReason::drain;
    std::int64_t save_at_step =
        -1;    ///< asks for a checkpoint, once, when a metric says this step

    std::vector<std::string> states, logs;
    std::vector<MetricPoint> points;
    std::vector<SavedCheckpoint> checkpoints;
    std::vector<CompiledProgram> programs;
    std::vector<std::int64_t> begins;
    std::vector<EpochSummary> epochs;
    std::vector<Progress> progress_said;
    Progress last_progress;

    void state(JobState state) override { states.emplace_back(to_string(state)); }
    void begin(std::int64_t step) override { begins.push_back(step); }
    void progress(const Progress& progress) override {
        progress_said.push_back(progress);
        last_progress = progress;
    }
    void epoch(const EpochSummary& summary) override { epochs.push_back(summary); }
    void metric(const MetricPoint& point) override { points.push_back(point); }
    void log(const std::string&, const std::string& message) override { logs.push_back(message); }
    void warning(const std::string&, const std::string& message) override {
        logs.push_back(message);
    }
    void checkpoint(const SavedCheckpoint& saved) override { checkpoints.push_back(saved); }
    void compiled(const CompiledProgram& program) override {
        EXPECT_FALSE(program.after_warm_up) << program.program << ": " << program.cause;
        programs.push_back(program);
    }
    void reported(const WrittenReport&) override {}
    bool save_requested() override {
        if (save_at_step < 0 || step() < save_at_step) return false;
        save_at_step = -1;
        return true;
    }
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
inline std::string table() {
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
        plan.keeps_workers = true;    // what is compared is of so many
        return plan;
    }
    static std::vector<NamedArray> weights_of(const AttemptPlan& plan) {
        return load_checkpoint(*newest_checkpoint(plan.checkpoint_folder)).value().weights;
    }
    /// Stops at a step, goes on from the checkpoint made there, and gives all losses of both.
    std::vector<double> losses_of_broken_run(AttemptPlan& plan, std::int64_t stop) {
        KeepingReporter first, second;
        first.stop_at_step = stop;
        EXPECT_EQ(run_training(plan, first).stopped, StopReason::drain);
        plan.resume_from = newest_checkpoint(plan.checkpoint_folder);
        plan.attempt = 2;
        run_training(plan, second);
        std::vector<double> losses = first.values_of("train_loss");
        for (const double loss : second.values_of("train_loss"))
            losses.push_back(loss);
        return losses;
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

    /// Both plans, run here, report the same losses and end with the same weights.
    static void expect_same_run(const AttemptPlan& left, const AttemptPlan& right) {
        KeepingReporter first, second;
        run_training(left, first);
        run_training(right, second);
        EXPECT_EQ(first.values_of("train_loss"), second.values_of("train_loss"));
        EXPECT_EQ(first.values_of("val_loss"), second.values_of("val_loss"));
        expect_same_bits(left, right);
    }

    TempFolder folder_;
    int folders_ = 0;
};

}    // namespace slipway
