// Goal: jobs of every task learn, report what their task measures, and say what is wrong with the
// data in the terms of their task. Method: whole runs on small tables.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "api/spec/documents.h"
#include "executor/train/train_error.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {
namespace {

/// 120 rows: `sum` and `gap` are linear in a and b, `high` and `low` say where sum is.
std::string numbers() {
    std::string text = "a,b,sum,gap,high,low,kind,who\n";
    RandomStream stream(12, site_augment, 0);
    for (int row = 0; row < 120; ++row) {
        const float a = stream.next_normal();
        const float b = stream.next_normal();
        text += fmt::format("{:.6f},{:.6f},{:.6f},{:.6f},{},{},{},{}\n", a, b, a + b, 2 * (a - b),
                            a + b > 0.5F ? 1 : 0, a + b < -0.5F ? 1 : 0, a + b > 0 ? "up" : "down",
                            row % 10);
    }
    return text;
}

class TaskRun : public Run {
protected:
    AttemptPlan numbers_plan(TaskType type, const std::vector<std::string>& labels) {
        AttemptPlan plan = this->plan(8);
        plan.spec.task.type = type;
        plan.spec.task.metrics = usual_metrics(type);
        plan.dataset_path = folder_.write("numbers/points.csv", numbers());
        plan.dataset_options = R"({"feature_columns": ["a", "b"], "label_column": "kind"})";
        if (!labels.empty()) plan.spec.data.columns.emplace().labels = labels;
        plan.report_folder = folder_.path() / "report";
        plan.spec.checkpoint.every_epochs = 0;
        return plan;
    }
    Json evaluation() const {
        return Json::parse(std::ifstream(folder_.path() / "report/evaluation.json"));
    }
    static std::string reason_of(const AttemptPlan& plan, std::string* message = nullptr) {
        KeepingReporter reporter;
        try {
            run_training(plan, reporter);
        } catch (const TrainError& error) {
            if (message != nullptr) *message = error.what();
            return error.reason();
        }
        return "none";
    }
};

TEST_F(TaskRun, several_labels_are_learnt_each_by_itself) {
    AttemptPlan plan = numbers_plan(TaskType::multilabel, {"high", "low"});
    plan.spec.train.epochs = 12;
    plan.spec.checkpoint.best = {"val_auc", MetricMode::max, 1};
    KeepingReporter reporter;
    const TrainOutcome outcome = run_training(plan, reporter);
    EXPECT_LT(reporter.values_of("val_loss").back(), 0.3);
    EXPECT_GT(reporter.values_of("val_accuracy").back(), 0.9);
    EXPECT_GT(reporter.values_of("val_auc").back(), 0.95);
    EXPECT_EQ(reporter.values_of("val_auc").size(), 12U);
    EXPECT_EQ(reporter.values_of("train_auc").size(), 0U);
    EXPECT_EQ(reporter.values_of("train_accuracy").size(), reporter.values_of("train_loss").size());
    ASSERT_TRUE(outcome.best);
    EXPECT_EQ(outcome.best->second, reporter.values_of("val_auc").back());    // the only save
    const Json found = evaluation();
    EXPECT_EQ(found["samples"], 24);
    EXPECT_EQ(found["epoch"], 12);
    EXPECT_EQ(found["labels"][1]["name"], "low");
    EXPECT_EQ(found["values"]["val_auc_low"], found["labels"][1]["auc"]);
    EXPECT_NEAR(
        found["values"]["val_auc"].get<double>(),
        (found["labels"][0]["auc"].get<double>() + found["labels"][1]["auc"].get<double>()) / 2,
        1e-12);
}

TEST_F(TaskRun, numbers_are_learnt) {
    AttemptPlan plan = numbers_plan(TaskType::regression, {"sum", "gap"});
    plan.spec.model.hidden.emplace();    // linear
    plan.spec.train.epochs = 30;
    plan.spec.train.optimizer.lr = 0.05;
    KeepingReporter reporter;
    run_training(plan, reporter);
    EXPECT_LT(reporter.values_of("val_loss").back(), 0.01);
    EXPECT_LT(reporter.values_of("val_mae").back(), 0.1);
    EXPECT_GT(reporter.values_of("val_r2").back(), 0.99);
    EXPECT_EQ(reporter.values_of("train_mae").size(), reporter.values_of("train_loss").size());
    EXPECT_TRUE(reporter.values_of("val_accuracy").empty());
    EXPECT_EQ(evaluation()["labels"].size(), 2U);
}

// One step of a rate that ruins the weights: its own loss was taken before, and is a number.
TEST_F(TaskRun, an_evaluation_names_what_is_no_number) {
    AttemptPlan plan = numbers_plan(TaskType::regression, {"sum", "gap"});
    plan.spec.train.epochs.reset();
    plan.spec.train.steps = 1;
    plan.spec.train.optimizer = {.name = OptimizerName::sgd, .lr = 1e30};
    EXPECT_EQ(reason_of(plan), "nan_loss");
    const Json found = evaluation();
    for (const Problem& problem : check_document("Evaluation", found))
        ADD_FAILURE() << problem.pointer << " " << problem.message;
    for (const char* name : {"val_loss", "val_r2"}) {
        EXPECT_EQ(found["values"][name], nullptr);
        EXPECT_TRUE(found.value("nonfinite", Json()).contains(name)) << found.dump();
    }
    ASSERT_EQ(found["labels"].size(), 2U);
    for (const Json& label : found["labels"]) {
        EXPECT_EQ(label["mse"], nullptr);
        EXPECT_TRUE(label.value("nonfinite", Json()).contains("mse")) << label.dump();
        EXPECT_TRUE(label.value("nonfinite", Json()).contains("r2")) << label.dump();
    }
}

// Goal: the mean of a loss is over all labels of the step, on one core and on eight, in one batch
// and in several.
TEST_F(TaskRun, cores_and_accumulation_change_no_loss_of_several_labels) {
    std::vector<std::vector<double>> losses;
    for (const auto& [cores, batches] : {std::pair(1, 1), std::pair(8, 1), std::pair(1, 2)}) {
        AttemptPlan plan = numbers_plan(TaskType::regression, {"sum", "gap"});
        plan.spec.accelerator.cores = cores;
        plan.spec.train.batch_size_per_core = 16 / cores / batches;
        plan.spec.train.grad_accumulation = batches;
        KeepingReporter reporter;
        run_training(plan, reporter);
        losses.push_back(reporter.values_of("train_loss"));
    }
    EXPECT_EQ(losses[0], losses[1]);
    ASSERT_EQ(losses[0].size(), losses[2].size());
    for (std::size_t i = 0; i < losses[0].size(); ++i)
        EXPECT_NEAR(losses[2][i], losses[0][i],
                    1e-4);    // another order of f32 sums, 24 steps long
}

TEST_F(TaskRun, a_single_column_of_numbers_may_be_a_label) {
    AttemptPlan plan = numbers_plan(TaskType::regression, {});
    plan.spec.data.columns.emplace().label = "sum";
    EXPECT_EQ(reason_of(plan), "none");
    EXPECT_EQ(evaluation()["labels"][0]["name"], "sum");
    plan.spec.data.columns.reset();
    plan.checkpoint_folder = folder_.path() / "second";
    plan.dataset_options = R"({"feature_columns": ["a", "b"], "label_columns": ["gap", "sum"]})";
    EXPECT_EQ(reason_of(plan), "none");
    EXPECT_EQ(evaluation()["labels"].size(), 2U);
}

// They tell what is to be found out: a network that sees sum need not learn it.
TEST_F(TaskRun, labels_and_groups_that_a_job_inputs_out_are_no_features) {
    AttemptPlan plan = numbers_plan(TaskType::regression, {"gap"});
    plan.spec.model.hidden.emplace();    // one weight for each feature: a, b, who
    plan.dataset_options =
        R"({"label_columns": ["sum", "gap", "high", "low"], "group_column": "kind"})";
    EXPECT_EQ(reason_of(plan), "none");
    EXPECT_EQ(weights_of(plan)[0].array.shape().dims, (Dims{1, 3}));
    plan.checkpoint_folder = folder_.path() / "second";
    plan.spec.task = TaskSpec{};
    plan.spec.data.columns->labels.clear();
    plan.spec.data.columns->label = "high";
    EXPECT_EQ(reason_of(plan), "none");
    EXPECT_EQ(weights_of(plan)[0].array.shape().dims, (Dims{2, 3}));
    plan.checkpoint_folder = folder_.path() / "third";
    plan.spec.data.columns->features = {"a", "gap"};    // named: wanted
    EXPECT_EQ(reason_of(plan), "none");
    EXPECT_EQ(weights_of(plan)[0].array.shape().dims, (Dims{2, 2}));
}

TEST_F(TaskRun, the_confusion_matrix_of_the_last_evaluation_is_kept) {
    AttemptPlan plan = numbers_plan(TaskType::classification, {});
    plan.spec.task.metrics = {TaskMetric::loss, TaskMetric::accuracy, TaskMetric::confusion_matrix,
                              TaskMetric::top5_accuracy};
    plan.spec.train.epochs = 2;
    KeepingReporter reporter;
    run_training(plan, reporter);
    const Json found = evaluation();
    EXPECT_EQ(found["confusion_matrix"]["classes"], Json({"down", "up"}));
    const Json& counts = found["confusion_matrix"]["counts"];
    const auto at = [&](int row, int column) { return counts[row][column].get<double>(); };
    EXPECT_EQ(at(0, 0) + at(0, 1) + at(1, 0) + at(1, 1), 24);
    EXPECT_EQ((at(0, 0) + at(1, 1)) / 24, reporter.values_of("val_accuracy").back());
    EXPECT_EQ(reporter.values_of("val_top5_accuracy").back(), 1);
    EXPECT_EQ(found["step"], reporter.last_progress.step);
}

TEST_F(TaskRun, label_smoothing_is_in_the_training_loss_alone) {
    AttemptPlan plan = numbers_plan(TaskType::classification, {});
    plan.spec.train.optimizer.lr = 1e-9;    // the network stays as it is
    KeepingReporter plain, smoothed;
    run_training(plan, plain);
    plan.spec.task.label_smoothing = 0.3;
    plan.checkpoint_folder = folder_.path() / "smoothed";
    run_training(plan, smoothed);
    EXPECT_NE(plain.values_of("train_loss")[0], smoothed.values_of("train_loss")[0]);
    EXPECT_NEAR(plain.values_of("val_loss")[0], smoothed.values_of("val_loss")[0], 1e-6);
}

TEST_F(TaskRun, every_precision_measures_in_f32) {
    for (const Precision precision : {Precision::bf16, Precision::bf16_true}) {
        AttemptPlan plan = numbers_plan(TaskType::regression, {"sum", "gap"});
        plan.spec.train.precision = precision;
        plan.spec.model.hidden.emplace();
        plan.spec.train.epochs = 20;
        plan.spec.train.optimizer.lr = 0.05;
        KeepingReporter reporter;
        run_training(plan, reporter);
        EXPECT_GT(reporter.values_of("val_r2").back(), 0.9) << to_string(precision);
    }
}

TEST_F(TaskRun, a_classification_of_one_class_is_refused_before_the_first_step) {
    AttemptPlan plan = this->plan();
    plan.dataset_path = folder_.write("one/points.csv", "x,label\n1,a\n2,a\n3,a\n4,a\n");
    KeepingReporter reporter;
    try {
        run_training(plan, reporter);
        ADD_FAILURE() << "it trained to say a";
    } catch (const TrainError& error) {
        EXPECT_EQ(error.reason(), "data_error");
        EXPECT_NE(std::string(error.what()).find("label_column"), std::string::npos)
            << error.what();
    }
    EXPECT_TRUE(reporter.points.empty());
}

TEST_F(TaskRun, labels_that_do_not_fit_the_task_are_named) {
    struct Case {
        const char* about;
        const char* reason;
        const char* says;
        void (*spoil)(AttemptPlan&);
    };
    const std::vector<Case> cases{
        {"numbers as chances", "data_error", "points.csv, row 2, field sum: a label of this task",
         [](AttemptPlan& plan) {
             plan.spec.data.columns->labels = {"sum", "high"};
         }},
        {"words as numbers", "data_error", "field kind: ",
         [](AttemptPlan& plan) {
             plan.spec.data.columns->labels = {"high", "kind"};
         }},
        {"no such column", "data_error", "field weight: there is no such column",
         [](AttemptPlan& plan) { plan.spec.data.columns->labels = {"weight"}; }},
        {"a label that is a feature", "spec_error", "is a label column and a feature column",
         [](AttemptPlan& plan) {
             plan.spec.data.columns->labels = {"high", "a"};
         }},
        {"another number of outputs", "spec_error", "the dataset has 2 labels; leave it out",
         [](AttemptPlan& plan) { plan.spec.model.num_classes = 3; }},
        {"images of classes", "spec_error", "datasets of the formats csv, image_csv, tfrecord",
         [](AttemptPlan& plan) { plan.dataset_format = "idx"; }},
        {"classes of numbers", "spec_error", "name a column in data.columns.label",
         [](AttemptPlan& plan) {
             plan.spec.task = TaskSpec{};
             plan.spec.data.columns.reset();
             plan.dataset_options = R"({"label_columns": ["high", "low"]})";
         }},
    };
    for (const Case& one : cases) {
        AttemptPlan plan = numbers_plan(TaskType::multilabel, {"high", "low"});
        one.spoil(plan);
        std::string message;
        EXPECT_EQ(reason_of(plan, &message), one.reason) << one.about;
        EXPECT_NE(message.find(one.says), std::string::npos) << one.about << ": " << message;
    }
}

TEST_F(TaskRun, a_class_without_training_samples_is_named) {
    const TempFolder folder;
    folder.write("train.csv", table());
    folder.write("val.csv", "a,b,c,d,label\n1,2,3,4,yes\n4,3,2,1,maybe\n");
    AttemptPlan plan = this->plan();
    plan.dataset_path = folder.path();
    plan.spec.train.epochs = 1;
    plan.spec.data.split.train_part = "train";
    plan.spec.data.split.val_part = "val";
    KeepingReporter reporter;
    run_training(plan, reporter);
    EXPECT_TRUE(std::ranges::any_of(reporter.logs, [](const std::string& line) {
        return line.starts_with("1 of 3 classes have validation samples and no training sample");
    }));
}

TEST_F(TaskRun, a_warm_up_longer_than_the_schedule_is_named) {
    for (const std::int64_t steps : {3, 500}) {
        AttemptPlan plan = this->plan();
        plan.spec.train.epochs = 1;
        plan.spec.train.schedule.name = ScheduleName::linear;
        plan.spec.train.schedule.warmup_steps = steps;
        KeepingReporter reporter;
        run_training(plan, reporter);
        EXPECT_EQ(
            std::ranges::any_of(reporter.logs,
                                [](const std::string& line) {
                                    return line.starts_with("train.schedule.warmup_steps is 500");
                                }),
            steps == 500);
    }
}

TEST_F(TaskRun, named_parts_are_not_pooled_without_a_warning) {
    const auto warning = [&](const std::vector<std::string>& parts, const char* train_part = "",
                             const char* val_part = "") {
        const TempFolder folder;
        for (const std::string& name : parts)
            folder.write(name + ".csv", table());
        AttemptPlan plan = this->plan();
        plan.dataset_path = folder.path();
        plan.spec.train.epochs = 1;
        plan.spec.data.split.train_part = train_part;
        plan.spec.data.split.val_part = val_part;
        KeepingReporter reporter;
        run_training(plan, reporter);
        const auto found = std::ranges::find_if(reporter.logs, [](const std::string& line) {
            return line.find("set data.split.train") != line.npos;
        });
        return found == reporter.logs.end() ? "" : *found;
    };
    EXPECT_NE(warning({"test", "train"})
                  .find("from test; set data.split.train to train and data.split.val to test"),
              std::string::npos);
    EXPECT_NE(warning({"train", "test", "valid"})
                  .find("from test; set data.split.train to train and data.split.val to valid"),
              std::string::npos);
    EXPECT_EQ(warning({"test", "train"}, "train", "test"), "");
    for (const std::vector<std::string>& parts :
         {std::vector<std::string>{"monday", "tuesday"}, {"train_1", "train_2"}, {"test", "val"}})
        EXPECT_EQ(warning(parts), "") << parts[0];
}

}    // namespace
}    // namespace slipway
