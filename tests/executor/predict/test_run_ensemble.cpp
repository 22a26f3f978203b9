// Goal: several checkpoints predict and are measured as one network that says the mean of them all,
// whatever each was trained on.
// Method: small networks of one table, with moments and widths of their own; what they predict
// together is compared with the mean of what each predicts alone, and the metrics with those of the
// predictions.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "api/spec/evaluation_spec.h"
#include "executor/predict/run_evaluation.h"
#include "tests/executor/predict/prediction_fixture.h"

namespace slipway {
namespace {

constexpr double mean_tolerance = 1e-6;    ///< of numbers that files round to f32
constexpr double loss_tolerance = 1e-5;    ///< of sums of f32 over some samples

class EnsembleRunTest : public PredictionRunTest {
protected:
    /// Networks of the plan's dataset that differ in their samples, so in their moments; the last
    /// one is wider.
    std::vector<AttemptPlan> train_members(const AttemptPlan& like, int count) {
        std::vector<AttemptPlan> members;
        for (int i = 0; i < count; ++i) {
            AttemptPlan one = like;
            one.spec.data.dataset = "points";    // a stored spec has one
            one.spec.data.split.seed = i;
            one.spec.train.seed = i;
            one.spec.train.epochs = 1 + i;
            if (i + 1 == count) one.spec.model.width = 12;
            one.checkpoint_folder = folder_.path() / fmt::format("member_{}", folders_++);
            KeepingReporter reporter;
            run_training(one, reporter);
            members.push_back(one);
        }
        return members;
    }
    AttemptPlan together(const std::vector<AttemptPlan>& members, std::int64_t batch = 32,
                         std::int64_t cores = 1) {
        AttemptPlan plan = predicting(members.front(), batch, cores);
        for (std::size_t i = 1; i < members.size(); ++i)
            plan.inference->checkpoints.push_back(*newest_checkpoint(members[i].checkpoint_folder));
        return plan;
    }
    std::vector<Csv> alone(const std::vector<AttemptPlan>& members) {
        std::vector<Csv> results;
        for (const AttemptPlan& member : members)
            results.emplace_back(result_of(predicting(member)));
        return results;
    }
    AttemptPlan measuring(const std::vector<AttemptPlan>& members, std::int64_t cores = 1) {
        AttemptPlan plan = together(members);
        plan.inference->needs_labels = true;
        plan.inference->batch_size_per_core = 0;
        EvaluationSpec request;
        request.data.split = PredictedSplit::all;
        request.accelerator.cores = cores;
        plan.spec = evaluating_job(members.front().spec, request, true);
        plan.report_folder = folder_.path() / fmt::format("evaluation_{}", cores);
        return plan;
    }
    static Json measured(const AttemptPlan& plan) {
        KeepingReporter reporter;
        EXPECT_EQ(run_evaluation(plan, reporter).stopped, StopReason::none);
        EXPECT_EQ(reporter.last_progress.step, reporter.last_progress.steps_total);
        return Json::parse(read_file(plan.report_folder / "evaluation.json"));
    }
    /// The table with numbers in the place of the class.
    AttemptPlan numbers_plan(TaskType type) {
        AttemptPlan one = plan();
        one.spec.task.type = type;
        one.spec.task.metrics = usual_metrics(type);
        std::string text = "a,b,first,second\n";
        for (int row = 0; row < 60; ++row)
            text += fmt::format("{},{},{},{}\n", row % 7, row % 5, row % 2, row % 3 == 0 ? 1 : 0);
        one.dataset_path = folder_.write("numbers/points.csv", text);
        one.spec.data.columns.emplace().labels = {"first", "second"};
        return one;
    }
};

/// The mean and the standard deviation of a column over the files.
struct ColumnMean {
    double mean = 0, deviation = 0;
    ColumnMean(const std::vector<Csv>& files, std::size_t row, const std::string& name) {
        for (const Csv& file : files)
            mean += file.number(row, name) / double(files.size());
        for (const Csv& file : files)
            deviation += std::pow(file.number(row, name) - mean, 2) / double(files.size() - 1);
        deviation = std::sqrt(deviation);
    }
};

TEST_F(EnsembleRunTest, predicts_the_mean_of_what_each_network_predicts_alone) {
    const std::vector<AttemptPlan> members = train_members(plan(), 3);
    const std::vector<Csv> files = alone(members);
    KeepingReporter reporter;
    run_prediction(together(members), reporter);
    EXPECT_EQ(reporter.programs.size(), 2U) << "two networks are alike";
    const Csv csv(result_of(together(members)));
    EXPECT_EQ(csv.names,
              (std::vector<std::string>{"sample", "label", "predicted", "predicted_index", "p_no",
                                        "p_yes", "std_predicted"}));
    ASSERT_EQ(csv.rows.size(), 120U);
    double widest = 0;
    for (std::size_t i = 0; i < csv.rows.size(); ++i) {
        EXPECT_EQ(csv.text(i, "sample"), files[0].text(i, "sample"));
        EXPECT_EQ(csv.text(i, "label"), files[0].text(i, "label"));
        const ColumnMean no(files, i, "p_no"), yes(files, i, "p_yes");
        EXPECT_NEAR(csv.number(i, "p_no"), no.mean, mean_tolerance);
        EXPECT_NEAR(csv.number(i, "p_yes"), yes.mean, mean_tolerance);
        const bool is_no = csv.number(i, "p_no") >= csv.number(i, "p_yes");
        EXPECT_EQ(csv.text(i, "predicted"), is_no ? "no" : "yes");
        EXPECT_NEAR(csv.number(i, "std_predicted"), is_no ? no.deviation : yes.deviation,
                    mean_tolerance);
        widest = std::max(widest, csv.number(i, "std_predicted"));
    }
    EXPECT_GT(widest, 0.01) << "the networks are different ones";
}

TEST_F(EnsembleRunTest, has_the_same_bytes_on_one_core_as_on_eight_and_with_any_number_of_threads) {
    const std::vector<AttemptPlan> members = train_members(plan(), 2);
    AttemptPlan other = together(members, 8, 1);
    const std::string bytes = result_of(other);
    other.worker_threads = 1;
    EXPECT_EQ(result_of(other), bytes);
    EXPECT_EQ(result_of(together(members, 1, 8)), bytes);
}

TEST_F(EnsembleRunTest, of_labels_and_of_numbers_has_their_means_and_deviations) {
    for (const auto& [type, prefix] :
         {std::pair(TaskType::multilabel, "p_"), std::pair(TaskType::regression, "predicted_")}) {
        const std::vector<AttemptPlan> members = train_members(numbers_plan(type), 3);
        const std::vector<Csv> files = alone(members);
        const Csv csv(result_of(together(members)));
        ASSERT_EQ(csv.rows.size(), 60U);
        for (std::size_t i = 0; i < csv.rows.size(); ++i) {
            for (const std::string label : {"first", "second"}) {
                const ColumnMean mean(files, i, prefix + label);
                EXPECT_NEAR(csv.number(i, prefix + label), mean.mean, mean_tolerance);
                EXPECT_NEAR(csv.number(i, "std_" + label), mean.deviation, mean_tolerance);
            }
        }
    }
}

TEST_F(EnsembleRunTest, is_measured_as_its_predictions_are) {
    AttemptPlan like = plan();
    like.spec.task.metrics = {TaskMetric::accuracy, TaskMetric::confusion_matrix};
    const std::vector<AttemptPlan> members = train_members(like, 3);
    const Csv csv(result_of(together(members)));
    const Json evaluation = measured(measuring(members));
    double loss = 0;
    int correct = 0;
    for (std::size_t i = 0; i < csv.rows.size(); ++i) {
        loss -= std::log(csv.number(i, "p_" + csv.text(i, "label")));
        correct += csv.text(i, "label") == csv.text(i, "predicted") ? 1 : 0;
    }
    EXPECT_EQ(evaluation["samples"], 120);
    EXPECT_NEAR(evaluation["values"]["val_loss"].get<double>(), loss / 120, loss_tolerance);
    EXPECT_NEAR(evaluation["values"]["val_accuracy"].get<double>(), correct / 120.0, 1e-9);
    const Json& counts = evaluation["confusion_matrix"]["counts"];
    EXPECT_EQ(counts[0][0].get<int>() + counts[1][1].get<int>(), correct);
    EXPECT_EQ(measured(measuring(members, 8)), evaluation) << "the global batch is the same";
}

TEST_F(EnsembleRunTest, of_numbers_is_measured_by_its_means) {
    const std::vector<AttemptPlan> members = train_members(numbers_plan(TaskType::regression), 2);
    const Csv csv(result_of(together(members)));
    const Json evaluation = measured(measuring(members));
    double error = 0;
    for (std::size_t i = 0; i < csv.rows.size(); ++i)
        for (const std::string label : {"first", "second"})
            error +=
                std::abs(csv.number(i, "predicted_" + label) - csv.number(i, "label_" + label));
    EXPECT_NEAR(evaluation["values"]["val_mae"].get<double>(), error / 120, loss_tolerance);
}

TEST_F(EnsembleRunTest, of_one_network_twice_is_measured_as_that_network) {
    for (const TaskType type : {TaskType::classification, TaskType::multilabel}) {
        const std::vector<AttemptPlan> members =
            train_members(type == TaskType::classification ? plan() : numbers_plan(type), 1);
        AttemptPlan one = measuring(members);
        const Json single = measured(one);
        one.inference->checkpoints.push_back(one.inference->checkpoint());
        const Json twice = measured(one);
        for (const auto& [name, value] : single["values"].items())
            EXPECT_NEAR(twice["values"][name].get<double>(), value.get<double>(), loss_tolerance)
                << name;
    }
}

TEST_F(EnsembleRunTest, of_networks_that_read_other_samples_or_labels_is_refused) {
    const std::vector<AttemptPlan> members = train_members(plan(), 2);
    AttemptPlan other = members.back();
    other.checkpoint_folder = folder_.path() / "narrow";
    other.spec.data.columns.emplace().features = {"a", "b"};
    KeepingReporter reporter;
    run_training(other, reporter);
    const AttemptPlan mixed = together({members.front(), other});
    EXPECT_EQ(refusal_of(mixed).find("spec_error: the networks of an ensemble read the same"), 0U)
        << refusal_of(mixed);
}

TEST_F(EnsembleRunTest, whose_weights_do_not_fit_the_memory_limit_is_refused) {
    const std::vector<AttemptPlan> members = train_members(plan(), 3);
    KeepingReporter reporter;
    run_prediction(together(members), reporter);
    std::int64_t peak = 0;
    for (const CompiledProgram& program : reporter.programs)
        peak = std::max(peak, program.peak_bytes);
    AttemptPlan tight = together(members);
    std::filesystem::remove(tight.report_folder / predictions_file_name);
    tight.memory_bytes_max = peak;
    EXPECT_EQ(refusal_of(tight).find("out_of_memory: the weights of "), 0U) << refusal_of(tight);
    tight.inference->checkpoints.resize(1);
    EXPECT_EQ(refusal_of(tight), "none") << "one of them fits";
}

}    // namespace
}    // namespace slipway
