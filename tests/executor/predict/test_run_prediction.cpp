// Goal: a prediction has one row for each sample in order, with what the trained network says of
// it, however many cores and samples compute at once.
// Method: small networks are trained; what they predict is compared with their evaluation, and with
// a network of float64 that reads the same weights.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "executor/data/split/make.h"
#include "executor/train/trained_samples.h"
#include "tests/executor/predict/prediction_fixture.h"

namespace slipway {
namespace {

constexpr double f32_tolerance = 1e-5;    ///< of shares: a few roundings of f32 in three layers

class Prediction : public PredictionRunTest {
protected:
    AttemptPlan trained(KeepingReporter& reporter) {
        AttemptPlan one = plan(8);
        one.spec.train.ema.emplace().decay = 0.9;    // what is evaluated is what predicts
        run_training(one, reporter);
        return one;
    }
    AttemptPlan trained() {
        KeepingReporter reporter;
        return trained(reporter);
    }
    /// The first rows of the table.
    std::filesystem::path some_rows(int count) {
        const std::string all = table();
        std::size_t end = 0;
        for (int line = 0; line <= count; ++line)
            end = all.find('\n', end) + 1;
        return folder_.write(fmt::format("rows_{}.csv", count), all.substr(0, end));
    }
};

TEST_F(Prediction, counts_the_accuracy_and_the_loss_of_the_evaluation) {
    KeepingReporter reporter;
    AttemptPlan plan = predicting(trained(reporter), 7, 8);
    plan.inference->data.split = PredictedSplit::val;
    const Csv csv(result_of(plan));
    EXPECT_EQ(csv.names, (std::vector<std::string>{"sample", "label", "predicted",
                                                   "predicted_index", "p_no", "p_yes"}));
    ASSERT_EQ(csv.rows.size(), 24U);
    int correct = 0;
    double loss = 0;
    for (std::size_t i = 0; i < csv.rows.size(); ++i) {
        if (i > 0) EXPECT_GT(csv.number(i, "sample"), csv.number(i - 1, "sample"));
        const std::string& label = csv.text(i, "label");
        EXPECT_EQ(label, int(csv.number(i, "sample")) % 2 == 0 ? "no" : "yes");
        EXPECT_EQ(csv.text(i, "predicted"), csv.text(i, "predicted_index") == "0" ? "no" : "yes");
        EXPECT_EQ(csv.text(i, "predicted_index"),
                  csv.number(i, "p_no") >= csv.number(i, "p_yes") ? "0" : "1");
        EXPECT_NEAR(csv.number(i, "p_no") + csv.number(i, "p_yes"), 1, 1e-6);
        correct += label == csv.text(i, "predicted") ? 1 : 0;
        loss -= std::log(csv.number(i, "p_" + label));
    }
    EXPECT_EQ(correct / 24.0, reporter.values_of("val_accuracy").back());
    EXPECT_NEAR(loss / 24, reporter.values_of("val_loss").back(), f32_tolerance);
}

TEST_F(Prediction, has_one_row_for_each_sample_in_order_whatever_computes_it) {
    const AttemptPlan one = trained();
    for (const int samples : {1, 7, 100}) {
        std::vector<std::string> results;
        std::vector<std::int64_t> batches;
        for (const auto& [batch, cores] :
             {std::pair(32, 1), std::pair(7, 1), std::pair(1, 1), std::pair(8, 1), std::pair(32, 8),
              std::pair(7, 8), std::pair(1, 8)}) {
            AttemptPlan plan = predicting(one, batch, cores);
            plan.dataset_path = some_rows(samples);
            results.push_back(result_of(plan));
            batches.push_back(batch * cores);
            const Csv csv(results.back()), first(results.front());
            ASSERT_EQ(csv.rows.size(), std::size_t(samples)) << batch << " x " << cores;
            for (std::size_t i = 0; i < csv.rows.size(); ++i) {
                EXPECT_EQ(csv.text(i, "sample"), std::to_string(i));
                EXPECT_EQ(csv.text(i, "predicted"), first.text(i, "predicted"));
                EXPECT_NEAR(csv.number(i, "p_yes"), first.number(i, "p_yes"), f32_tolerance);
            }
        }
        EXPECT_EQ(results[3], results[6]) << "8 on one core, one on each of eight";
    }
}

/// An mlp in float64, with the weights and the samples' moments as they were saved.
double share_of_yes(const std::filesystem::path& checkpoint, std::vector<double> x) {
    const TrainedSamples trained = read_trained_samples(checkpoint);
    for (std::size_t i = 0; i < x.size(); ++i)
        x[i] = (x[i] - double(trained.mean[i])) / double(trained.deviation[i]);
    const Checkpoint saved = load_checkpoint(checkpoint).value();
    const auto find = [&](const std::string& name) {
        const auto found = std::ranges::find(saved.weights, name, &NamedArray::name);
        EXPECT_NE(found, saved.weights.end()) << name;
        return found->array.as<float>();
    };
    for (int layer = 0; layer < 3; ++layer) {
        const auto weight = find(fmt::format("layers.{}.weight", layer));
        const auto bias = find(fmt::format("layers.{}.bias", layer));
        std::vector<double> y(bias.begin(), bias.end());
        for (std::size_t i = 0; i < y.size(); ++i) {
            for (std::size_t j = 0; j < x.size(); ++j)
                y[i] += double(weight[i * x.size() + j]) * x[j];
            if (layer < 2) y[i] = std::max(y[i], 0.0);
        }
        x = y;
    }
    return 1 / (1 + std::exp(x[0] - x[1]));
}

TEST_F(Prediction, is_what_a_network_of_float64_says_of_samples_by_the_training_sets_moments) {
    const AttemptPlan one = trained();
    AttemptPlan plan = predicting(one);
    // Other columns, in another order, and moments of their own.
    plan.dataset_path = folder_.write("others.csv",
                                      "extra,d,b,label,c,a\n"
                                      "9,0.5,1.5,yes,-0.25,2\n"
                                      "9,100,-3,yes,1,0\n");
    const Csv csv(result_of(plan));
    ASSERT_EQ(csv.rows.size(), 2U);
    const auto& checkpoint = plan.inference->checkpoint();
    EXPECT_NEAR(csv.number(0, "p_yes"), share_of_yes(checkpoint, {2, 1.5, -0.25, 0.5}),
                f32_tolerance);
    EXPECT_NEAR(csv.number(1, "p_yes"), share_of_yes(checkpoint, {0, -3, 1, 100}), f32_tolerance);
}

/// What was predicted of the validation part has the loss that training found there last.
void expect_evaluated_loss(const Csv& csv, const KeepingReporter& reporter) {
    double loss = 0;
    for (std::size_t i = 0; i < csv.rows.size(); ++i)
        loss -= std::log(csv.number(i, "p_" + csv.text(i, "label")));
    EXPECT_NEAR(loss / double(csv.rows.size()), reporter.values_of("val_loss").back(),
                f32_tolerance);
}

TEST_F(Prediction, reads_the_statistics_of_batch_norm_with_a_batch_of_one) {
    AttemptPlan one = plan(1);
    one.spec.model.arch = Arch::layers;
    one.spec.model.layers = {{.type = LayerType::linear, .name = "a", .out_features = 4},
                             {.type = LayerType::batch_norm, .name = "norm"},
                             {.type = LayerType::relu},
                             {.type = LayerType::linear, .name = "b"}};
    KeepingReporter reporter;
    run_training(one, reporter);
    AttemptPlan plan = predicting(one, 1);
    plan.inference->data.split = PredictedSplit::val;
    const Csv csv(result_of(plan));
    expect_evaluated_loss(csv, reporter);
}

TEST_F(Prediction, reads_codes_as_they_are_and_refuses_those_without_a_row) {
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
    KeepingReporter reporter;
    run_training(one, reporter);
    AttemptPlan plan = predicting(one, 7);
    plan.inference->data.split = PredictedSplit::val;
    const Csv csv(result_of(plan));
    expect_evaluated_loss(csv, reporter);
    plan.inference->data.split = PredictedSplit::all;
    plan.report_folder = folder_.path() / "refused";
    plan.dataset_path = folder_.write("others.csv",
                                      "a,b,c,d,label,e\n0,0,0,0,no,39\n"
                                      "0,0,0,0,no,40\n");
    EXPECT_EQ(refusal_of(plan),
              "data_error: others.csv, row 3, field e: 40 is not a category of model.layers[1] "
              "(embedding \"code\"): its categories are the whole numbers from 0 to 39; "
              "correct the table, or train with a larger num_embeddings");
}

TEST_F(Prediction, that_is_stopped_leaves_nothing_and_tried_again_gives_the_same_bytes) {
    class StoppingReporter : public KeepingReporter {
    public:
        int asked = 0;
        StopReason stop_requested() override {
            return ++asked > 2 ? StopReason::cancel : StopReason::none;
        }
    };
    const AttemptPlan plan = predicting(trained(), 7);
    const std::string undisturbed = result_of(plan);
    std::filesystem::remove(plan.report_folder / predictions_file_name);
    StoppingReporter stopping;
    EXPECT_EQ(run_prediction(plan, stopping).stopped, StopReason::cancel);
    EXPECT_TRUE(std::filesystem::is_empty(plan.report_folder));
    folder_.write("prediction/predictions.csv.tmp", "sample,label\n0,ye");    // kill -9
    EXPECT_EQ(result_of(plan), undisturbed);
}

TEST_F(Prediction, of_the_fold_that_validated_counts_its_accuracy) {
    AttemptPlan one = plan(1);
    const MadeSplit made = make_split({.format = one.dataset_format,
                                       .path = one.dataset_path,
                                       .request = {.method = SplitMethod::kfold, .folds = 2}});
    one.spec.data.split.id = "spl_1";
    one.spec.data.split.fold = 1;
    one.split_file = SplitFile{.path = folder_.write("split.json", made.manifest)};
    KeepingReporter reporter;
    run_training(one, reporter);
    AttemptPlan plan = predicting(one, 7, 8);
    plan.inference->data.split = PredictedSplit::val;
    PredictionSpec prediction;
    prediction.data.split = PredictedSplit::val;
    prediction.accelerator.cores = 8;
    plan.spec = predicting_job(one.spec, prediction);
    const Csv csv(result_of(plan));
    ASSERT_EQ(csv.rows.size(), 60U);
    int correct = 0;
    for (std::size_t i = 0; i < csv.rows.size(); ++i)
        correct += csv.text(i, "label") == csv.text(i, "predicted") ? 1 : 0;
    EXPECT_NEAR(correct / 60.0, reporter.values_of("val_accuracy").back(), 1e-6);
}

TEST_F(Prediction, chooses_the_samples_of_a_side_of_the_split_or_of_a_part) {
    const AttemptPlan one = trained();
    AttemptPlan plan = predicting(one);
    std::set<std::string> samples;
    for (const PredictedSplit side : {PredictedSplit::train, PredictedSplit::val}) {
        plan.inference->data.split = side;
        const Csv csv(result_of(plan));
        EXPECT_EQ(csv.rows.size(), side == PredictedSplit::train ? 96U : 24U);
        for (std::size_t i = 0; i < csv.rows.size(); ++i)
            samples.insert(csv.text(i, "sample"));
    }
    EXPECT_EQ(samples.size(), 120U);
    plan = predicting(one);
    plan.dataset_path = folder_.path() / "parts";
    folder_.write("parts/old.csv", "a,b,c,d,label\n1,2,3,4,no\n");
    folder_.write("parts/young.csv", "a,b,c,d,label\n5,6,7,8,yes\n");
    plan.inference->data.part = "young";
    const Csv csv(result_of(plan));
    ASSERT_EQ(csv.rows.size(), 1U);
    EXPECT_EQ(csv.text(0, "sample"), "1");
    plan.inference->data.part = "middle";
    std::filesystem::remove(plan.report_folder / predictions_file_name);
    EXPECT_NE(refusal_of(plan).find("old, young"), std::string::npos) << refusal_of(plan);
}

TEST_F(Prediction, of_data_that_do_not_fit_names_both) {
    const AttemptPlan one = trained();
    const auto refused = [&](const std::string& text) {
        AttemptPlan plan = predicting(one);
        plan.dataset_path = folder_.write("wrong.csv", text);
        return refusal_of(plan);
    };
    const std::string classes = refused("a,b,c,d,label\n1,2,3,4,no\n1,2,3,4,maybe\n");
    EXPECT_EQ(classes.find("data_error: the dataset's classes are 2 (maybe, no), and the "
                           "checkpoint's are 2 (no, yes); "),
              0U)
        << classes;
    const std::string columns = refused("a,b,c,label\n1,2,3,no\n");
    EXPECT_NE(columns.find("wrong.csv"), std::string::npos) << columns;
    EXPECT_NE(columns.find('d'), std::string::npos) << columns;
    AttemptPlan old = predicting(one);
    std::filesystem::remove(old.inference->checkpoint() / "samples.json");
    EXPECT_EQ(refusal_of(old).find("checkpoint_corrupt: "), 0U) << refusal_of(old);
}

TEST_F(Prediction, a_class_of_its_own_stands_for_no_label) {
    AttemptPlan plan = predicting(trained());
    plan.dataset_path = folder_.write("unknown.csv", "a,b,c,d,label\n1,2,3,4,?\n");
    const Csv csv(result_of(plan));
    EXPECT_EQ(csv.text(0, "label"), "?");
    EXPECT_EQ(csv.text(0, "predicted"), csv.text(0, "predicted_index") == "0" ? "no" : "yes");
}

class NumbersPrediction : public PredictionRunTest {
protected:
    AttemptPlan trained(TaskType type, KeepingReporter& reporter) {
        AttemptPlan one = plan(8);
        one.spec.task = {.type = type, .metrics = usual_metrics(type)};
        std::string text = "a,b,first,second\n";
        for (int row = 0; row < 40; ++row)
            text += fmt::format("{},{},{},{}\n", row % 7, row % 5, row % 2, row % 3 == 0 ? 1 : 0);
        one.dataset_path = folder_.write("numbers/points.csv", text);
        one.spec.data.columns.emplace().labels = {"first", "second"};
        run_training(one, reporter);
        return one;
    }
};

TEST_F(NumbersPrediction, of_several_labels_has_a_chance_for_each) {
    KeepingReporter reporter;
    AttemptPlan plan = predicting(trained(TaskType::multilabel, reporter), 3);
    plan.inference->data.split = PredictedSplit::val;
    const Csv csv(result_of(plan));
    EXPECT_EQ(csv.names, (std::vector<std::string>{"sample", "label_first", "label_second",
                                                   "p_first", "p_second"}));
    int right = 0;
    for (std::size_t i = 0; i < csv.rows.size(); ++i)
        for (const char* name : {"first", "second"})
            right += (csv.number(i, std::string("p_") + name) >= 0.5) ==
                             (csv.text(i, std::string("label_") + name) == "1")
                         ? 1
                         : 0;
    EXPECT_NEAR(right / double(2 * csv.rows.size()), reporter.values_of("val_accuracy").back(),
                1e-6);
}

TEST_F(NumbersPrediction, of_numbers_has_the_numbers) {
    KeepingReporter reporter;
    AttemptPlan plan = predicting(trained(TaskType::regression, reporter), 3);
    plan.inference->data.split = PredictedSplit::val;
    const Csv csv(result_of(plan));
    double squares = 0;
    for (std::size_t i = 0; i < csv.rows.size(); ++i)
        for (const char* name : {"first", "second"})
            squares += std::pow(csv.number(i, std::string("predicted_") + name) -
                                    csv.number(i, std::string("label_") + name),
                                2);
    EXPECT_NEAR(squares / double(2 * csv.rows.size()), reporter.values_of("val_loss").back(),
                f32_tolerance);
    plan.spec.data.columns->labels = {"second", "first"};
    std::filesystem::remove(plan.report_folder / predictions_file_name);
    EXPECT_EQ(refusal_of(plan).find("data_error: the dataset's labels are 2 (second, first), and "
                                    "the checkpoint's are 2 (first, second)"),
              0U)
        << refusal_of(plan);
}

}    // namespace
}    // namespace slipway
