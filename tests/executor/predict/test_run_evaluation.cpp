// Goal: an evaluation says of a checkpoint what the last evaluation of its training said, to the
// last bit, on any number of cores; other datasets are measured by the names of their classes.
// Method: small networks are trained; the whole evaluation.json is compared, whose numbers have
// every digit.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "api/spec/evaluation_spec.h"
#include "executor/data/split/make.h"
#include "executor/predict/run_evaluation.h"
#include "tests/executor/predict/prediction_fixture.h"

namespace slipway {
namespace {

class EvaluationRunTest : public PredictionRunTest {
protected:
    /// Trains with every metric of the task, and keeps what the training said last.
    void train(AttemptPlan& plan) {
        plan.spec.task.metrics = usual_metrics(plan.spec.task.type);
        if (plan.spec.task.type == TaskType::classification)
            plan.spec.task.metrics.push_back(TaskMetric::confusion_matrix);
        plan.spec.data.dataset = "points";    // a stored spec has one
        plan.report_folder = folder_.path() / "training";
        KeepingReporter reporter;
        run_training(plan, reporter);
        said_ = read_file(plan.report_folder / "evaluation.json");
        ASSERT_NE(said_.find("val_loss"), std::string::npos);
    }
    AttemptPlan evaluating(const AttemptPlan& trained, std::int64_t cores,
                           PredictedSplit split = PredictedSplit::val) {
        AttemptPlan plan = trained;
        plan.inference.emplace().checkpoints = {*newest_checkpoint(trained.checkpoint_folder)};
        plan.inference->data.split = split;
        plan.inference->needs_labels = true;
        EvaluationSpec request;
        request.data.split = split;
        request.accelerator.cores = cores;
        request.precision = trained.spec.train.precision;
        plan.spec = evaluating_job(trained.spec, request, true);
        plan.checkpoint_folder = folder_.path() / "none";
        plan.report_folder = folder_.path() / "evaluation";
        plan.worker_threads = int(cores);
        return plan;
    }
    static std::string result_of(const AttemptPlan& plan) {
        KeepingReporter reporter;
        const TrainOutcome outcome = run_evaluation(plan, reporter);
        EXPECT_EQ(outcome.stopped, StopReason::none);
        EXPECT_EQ(reporter.last_progress.phase, "evaluate");
        EXPECT_EQ(reporter.last_progress.step, reporter.last_progress.steps_total);
        EXPECT_EQ(reporter.points.size(), 1U);
        EXPECT_EQ(reporter.points.at(0).values.at(0), outcome.final_values.at(0));
        EXPECT_EQ(outcome.final_values.back().first, "samples");
        return read_file(plan.report_folder / "evaluation.json");
    }
    static std::string evaluation_refusal(const AttemptPlan& plan) {
        KeepingReporter reporter;
        try {
            run_evaluation(plan, reporter);
        } catch (const TrainError& error) {
            EXPECT_FALSE(std::filesystem::exists(plan.report_folder / "evaluation.json"));
            return error.reason() + ": " + error.what();
        }
        return "none";
    }
    /// The training's own validation samples, on one core and on eight.
    void expect_the_same_bits(const AttemptPlan& trained) {
        for (const std::int64_t cores : {1, 8})
            EXPECT_EQ(result_of(evaluating(trained, cores)), said_) << cores;
    }

    std::string said_;
};

TEST_F(EvaluationRunTest, has_the_bits_of_the_training_whatever_the_cores_of_either) {
    for (const std::int64_t cores : {1, 8}) {
        AttemptPlan one = plan(cores);
        one.spec.train.ema.emplace().decay = 0.9;    // what was evaluated is what is measured
        train(one);
        expect_the_same_bits(one);
    }
}

TEST_F(EvaluationRunTest, has_the_bits_of_a_training_that_accumulates_and_whose_batch_is_odd) {
    AttemptPlan one = plan(1);
    one.spec.train.batch_size_per_core = 24;    // eight parts of three
    one.spec.train.grad_accumulation = 2;
    train(one);
    expect_the_same_bits(one);
}

TEST_F(EvaluationRunTest, has_the_bits_of_a_training_in_bf16) {
    AttemptPlan one = plan(8);
    one.spec.train.precision = Precision::bf16;
    train(one);
    expect_the_same_bits(one);
}

TEST_F(EvaluationRunTest, has_the_bits_of_batch_norm_and_says_which_cores_are_idle) {
    for (const std::int64_t cores : {8, 1}) {
        AttemptPlan one = plan(cores);
        if (cores == 1) one.spec.train.batch_size_per_core = 7;
        one.spec.model.arch = Arch::layers;
        one.spec.model.layers = {{.type = LayerType::linear, .out_features = 6},
                                 {.type = LayerType::batch_norm},
                                 {.type = LayerType::relu},
                                 {.type = LayerType::linear, .name = "head"}};
        train(one);
        expect_the_same_bits(one);
        KeepingReporter reporter;
        run_evaluation(evaluating(one, 8), reporter);
        const bool said = std::ranges::any_of(reporter.logs, [](const std::string& line) {
            return line.find("7 of the 8 cores have nothing to do") != std::string::npos;
        });
        EXPECT_EQ(said, cores == 1) << "an odd batch of one core is one part";
    }
}

TEST_F(EvaluationRunTest, has_the_bits_of_categories_beside_numbers) {
    AttemptPlan one = plan(1);
    one.spec.model.arch = Arch::layers;
    one.spec.model.layers = {
        {.type = LayerType::columns, .columns = {"e"}},
        {.type = LayerType::embedding, .name = "code", .num_embeddings = 40, .embedding_dim = 4},
        {.type = LayerType::flatten, .name = "row"},
        {.type = LayerType::columns, .name = "numbers", .inputs = {"input"}, .columns = {"a", "d"}},
        {.type = LayerType::concat, .inputs = {"row", "numbers"}},
        {.type = LayerType::linear, .name = "head"}};
    std::istringstream lines(table());
    std::string line, text;
    for (int row = -1; std::getline(lines, line); ++row)
        text += (row < 0 ? "e" : std::to_string(row % 40)) + "," + line + "\n";
    one.dataset_path = folder_.write("codes.csv", text);
    train(one);
    expect_the_same_bits(one);
}

TEST_F(EvaluationRunTest, has_the_bits_of_the_fold_that_validated) {
    AttemptPlan one = plan(8);
    const MadeSplit made = make_split({.format = one.dataset_format,
                                       .path = one.dataset_path,
                                       .request = {.method = SplitMethod::kfold, .folds = 2}});
    one.spec.data.split.id = "spl_1";
    one.spec.data.split.fold = 1;
    one.split_file = SplitFile{.path = folder_.write("split.json", made.manifest)};
    train(one);
    expect_the_same_bits(one);
}

TEST_F(EvaluationRunTest, of_several_labels_and_of_numbers_has_their_bits_and_tables) {
    for (const TaskType type : {TaskType::multilabel, TaskType::regression}) {
        AttemptPlan one = plan(8);
        one.spec.task.type = type;
        std::string text = "a,b,first,second\n";
        for (int row = 0; row < 40; ++row)
            text += fmt::format("{},{},{},{}\n", row % 7, row % 5, row % 2, row % 3 == 0 ? 1 : 0);
        one.dataset_path = folder_.write("numbers/points.csv", text);
        one.spec.data.columns.emplace().labels = {"first", "second"};
        train(one);
        expect_the_same_bits(one);
        AttemptPlan swapped = evaluating(one, 1);
        swapped.spec.data.columns->labels = {"second", "first"};
        std::filesystem::remove_all(swapped.report_folder);
        EXPECT_EQ(evaluation_refusal(swapped).find("data_error: the dataset's labels are 2 "
                                                   "(second, first)"),
                  0U)
            << evaluation_refusal(swapped);
    }
}

TEST_F(EvaluationRunTest, of_a_text_has_the_bits_of_the_training) {
    for (const Arch arch : {Arch::bert_tiny, Arch::gpt_tiny}) {
        AttemptPlan one = plan(8);
        one.spec.model.arch = arch;
        one.spec.task.type = *language_task(arch);
        one.spec.data.max_length = 8;
        one.spec.data.split.train_part = "train";
        one.spec.data.split.val_part = "valid";
        one.spec.data.tokenizer.emplace().type = TokenizerType::character;
        one.spec.train.epochs.reset();
        one.spec.train.steps = 2;
        one.spec.train.batch_size_per_core = 1;
        one.dataset_format = "text";
        std::string text;
        while (text.size() < 131)
            text += "to be or not to be, ";
        folder_.write("text/train.txt", text);
        folder_.write("text/valid.txt", text.substr(3, 45));
        one.dataset_path = folder_.path() / "text";
        train(one);
        expect_the_same_bits(one);
    }
}

/// Another file of the same samples, whose classes have other numbers.
TEST_F(EvaluationRunTest, of_another_dataset_knows_classes_by_name_and_not_by_number) {
    AttemptPlan one = plan(8);
    train(one);
    const std::string own = result_of(evaluating(one, 8, PredictedSplit::all));
    AttemptPlan other = evaluating(one, 8, PredictedSplit::all);
    other.dataset_path = folder_.write("other/copy.csv", table());
    other.dataset_options = R"({"class_names": ["yes", "no"]})";
    EXPECT_EQ(result_of(other), own);

    std::string header_and_yes, text = table();
    std::istringstream lines(text);
    int rows = 0;
    for (std::string line; std::getline(lines, line);) {
        if (line.ends_with(",no")) continue;
        header_and_yes += line + "\n";
        ++rows;
    }
    other.dataset_options = "{}";
    other.dataset_path = folder_.write("some/yes.csv", header_and_yes);
    const Json all = Json::parse(own)["confusion_matrix"];
    const Json some = Json::parse(result_of(other));
    EXPECT_EQ(some["samples"], rows - 1);
    EXPECT_EQ(some["confusion_matrix"]["classes"], Json({"no", "yes"}));
    EXPECT_EQ(some["confusion_matrix"]["counts"][0], Json({0, 0}));
    EXPECT_EQ(some["confusion_matrix"]["counts"][1], all["counts"][1]);
}

TEST_F(EvaluationRunTest, of_a_part_and_of_every_sample_counts_them) {
    AttemptPlan one = plan(1);
    train(one);
    EXPECT_EQ(Json::parse(result_of(evaluating(one, 1, PredictedSplit::all)))["samples"], 120);
    EXPECT_EQ(Json::parse(result_of(evaluating(one, 1, PredictedSplit::train)))["samples"], 96);
    AttemptPlan parted = evaluating(one, 1, PredictedSplit::all);
    folder_.write("parts/old.csv", table());
    folder_.write("parts/new.csv", "a,b,c,d,label\n1,1,1,1,yes\n");
    parted.dataset_path = folder_.path() / "parts";
    parted.inference->data.part = "new";
    EXPECT_EQ(Json::parse(result_of(parted))["samples"], 1);
}

TEST_F(EvaluationRunTest, without_labels_that_the_network_knows_is_refused) {
    AttemptPlan one = plan(1);
    train(one);
    const auto refused = [&](const std::string& text) {
        AttemptPlan other = evaluating(one, 1, PredictedSplit::all);
        other.dataset_path = folder_.write("wrong.csv", text);
        return evaluation_refusal(other);
    };
    EXPECT_EQ(refused("a,b,c,d,label\n1,2,3,4,?\n"),
              "data_error: the dataset's classes are 1 (?), and the checkpoint's are 2 (no, yes); "
              "evaluate on a dataset whose classes are among them");
    EXPECT_EQ(refused("a,b,c,d,label\n1,2,3,4,no\n1,2,3,4,maybe\n")
                  .find("data_error: the dataset's classes are 2 (maybe, no)"),
              0U);
    EXPECT_EQ(refused("a,b,c,label\n1,2,3,no\n").find("data_error: "), 0U);
    AttemptPlan empty = evaluating(one, 1);
    empty.spec.data.split.val_fraction = 0;
    EXPECT_EQ(evaluation_refusal(empty).find("data_error: there is no sample to evaluate"), 0U);
}

TEST_F(EvaluationRunTest, of_a_checkpoint_that_is_damaged_or_says_too_little_is_refused) {
    AttemptPlan one = plan(1);
    train(one);
    const AttemptPlan other = evaluating(one, 1);
    const std::filesystem::path& checkpoint = other.inference->checkpoint();
    const std::string state = read_file(checkpoint / "state.json");
    const auto with_state = [&](const std::string& text) {
        std::ofstream(checkpoint / "state.json", std::ios::binary) << text;
        return evaluation_refusal(other);
    };
    EXPECT_EQ(with_state(state.substr(0, state.size() / 2)).find("checkpoint_corrupt: "), 0U);
    std::ofstream(checkpoint / "state.json", std::ios::binary) << state;
    std::filesystem::resize_file(checkpoint / "model.safetensors", 100);
    EXPECT_NE(evaluation_refusal(other), "none");
    std::filesystem::remove(checkpoint / "state.json");
    EXPECT_EQ(evaluation_refusal(other).find("checkpoint_corrupt: "), 0U)
        << evaluation_refusal(other);
}

TEST_F(EvaluationRunTest, that_is_stopped_leaves_nothing_and_tried_again_gives_the_same_bytes) {
    class StoppingReporter : public KeepingReporter {
    public:
        int asked = 0;
        StopReason stop_requested() override {
            return ++asked > 2 ? StopReason::cancel : StopReason::none;
        }
    };
    AttemptPlan one = plan(8);
    train(one);
    const AttemptPlan other = evaluating(one, 1, PredictedSplit::all);
    const std::string undisturbed = result_of(other);
    std::filesystem::remove(other.report_folder / "evaluation.json");
    StoppingReporter stopping;
    const TrainOutcome outcome = run_evaluation(other, stopping);
    EXPECT_EQ(outcome.stopped, StopReason::cancel);
    EXPECT_TRUE(outcome.final_values.empty());
    EXPECT_TRUE(stopping.points.empty());
    EXPECT_TRUE(std::filesystem::is_empty(other.report_folder));
    EXPECT_EQ(result_of(other), undisturbed);
}

}    // namespace
}    // namespace slipway
