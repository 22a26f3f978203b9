#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "executor/predict/run_prediction.h"
#include "executor/train/train_error.h"
#include "tests/executor/train/run_fixture.h"

/// Predictions with what a run of the fixture Run has trained.
namespace slipway {

/// A CSV without quotes: its header and rows as fields.
struct Csv {
    std::vector<std::string> names;
    std::vector<std::vector<std::string>> rows;

    explicit Csv(const std::string& text) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            std::vector<std::string> fields(1);
            for (const char c : line) {
                if (c == ',')
                    fields.emplace_back();
                else
                    fields.back() += c;
            }
            if (names.empty())
                names = fields;
            else
                rows.push_back(fields);
        }
    }
    std::size_t column(const std::string& name) const {
        const auto found = std::ranges::find(names, name);
        EXPECT_NE(found, names.end()) << name;
        return std::size_t(found - names.begin());
    }
    const std::string& text(std::size_t row, const std::string& name) const {
        return rows[row][column(name)];
    }
    double number(std::size_t row, const std::string& name) const {
        return std::stod(text(row, name));
    }
};

class PredictionRunTest : public Run {
protected:
    /// A prediction of the plan's dataset by its newest checkpoint.
    AttemptPlan predicting(const AttemptPlan& trained, std::int64_t batch = 32,
                           std::int64_t cores = 1) {
        AttemptPlan plan = trained;
        plan.inference.emplace().checkpoints = {*newest_checkpoint(trained.checkpoint_folder)};
        plan.inference->batch_size_per_core = batch;
        PredictionSpec prediction;
        prediction.batch_size_per_core = batch;
        prediction.accelerator.cores = cores;
        plan.spec = predicting_job(trained.spec, prediction);
        plan.checkpoint_folder = folder_.path() / "none";
        plan.report_folder = folder_.path() / "prediction";
        return plan;
    }
    static std::string result_of(const AttemptPlan& plan) {
        KeepingReporter reporter;
        EXPECT_EQ(run_prediction(plan, reporter).stopped, StopReason::none);
        EXPECT_EQ(reporter.last_progress.phase, "predict");
        EXPECT_EQ(reporter.last_progress.step, reporter.last_progress.steps_total);
        return read_file(plan.report_folder / predictions_file_name);
    }
    /// "reason: message" of the failure.
    static std::string refusal_of(const AttemptPlan& plan) {
        KeepingReporter reporter;
        try {
            run_prediction(plan, reporter);
        } catch (const TrainError& error) {
            EXPECT_FALSE(std::filesystem::exists(plan.report_folder / predictions_file_name));
            return error.reason() + ": " + error.what();
        }
        return "none";
    }
};

}    // namespace slipway
