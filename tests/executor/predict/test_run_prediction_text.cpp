// Goal: a language model says how well it knows each row of a text, read with the tokenizer that it
// was trained with. Method: rows' losses add up to the evaluation's; a text that the tokenizer
// would have trained other characters from is read all the same.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/executor/predict/prediction_fixture.h"

namespace slipway {
namespace {

class TextPrediction : public PredictionRunTest, public testing::WithParamInterface<Arch> {
protected:
    AttemptPlan trained(KeepingReporter& reporter) {
        AttemptPlan one = plan(8);
        one.spec.model.arch = GetParam();
        one.spec.task = {.type = *language_task(GetParam()),
                         .metrics = {TaskMetric::loss, TaskMetric::accuracy}};
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
        run_training(one, reporter);
        return one;
    }
};

TEST_P(TextPrediction, adds_up_to_the_evaluation_and_reads_other_texts_with_the_same_tokenizer) {
    KeepingReporter reporter;
    const AttemptPlan one = trained(reporter);
    AttemptPlan plan = predicting(one, 4);
    plan.inference->data.part = "valid";
    const Csv csv(result_of(plan));
    EXPECT_EQ(csv.names, (std::vector<std::string>{"sample", "part", "tokens", "loss", "perplexity",
                                                   "accuracy"}));
    double tokens = 0, loss = 0, right = 0;
    for (std::size_t i = 0; i < csv.rows.size(); ++i) {
        EXPECT_EQ(csv.text(i, "part"), "valid");
        const double count = csv.number(i, "tokens");
        tokens += count;
        loss += count * csv.number(i, "loss");
        right += count * csv.number(i, "accuracy");
        EXPECT_NEAR(csv.number(i, "perplexity"), std::exp(csv.number(i, "loss")), 1e-6);
    }
    EXPECT_NEAR(loss / tokens, reporter.values_of("val_loss").back(), 1e-5);
    EXPECT_NEAR(right / tokens, reporter.values_of("val_accuracy").back(), 1e-6);

    plan = predicting(one, 4);
    // Fewer characters, and one that the training text does not have.
    plan.dataset_path = folder_.write("other/new.txt", "not to be X to");
    const Csv other(result_of(plan));
    ASSERT_EQ(other.rows.size(), 2U);
    EXPECT_EQ(other.names[1], "tokens");
    EXPECT_TRUE(std::isfinite(other.number(0, "loss")));
    std::filesystem::remove(plan.inference->checkpoint() / "tokenizer_spec.json");
    std::filesystem::remove(plan.report_folder / predictions_file_name);
    EXPECT_NE(refusal_of(plan).find("tokenizer_spec.json"), std::string::npos) << refusal_of(plan);
}

INSTANTIATE_TEST_SUITE_P(Architectures, TextPrediction,
                         testing::Values(Arch::bert_tiny, Arch::gpt_tiny),
                         [](const auto& one) { return std::string(to_string(one.param)); });

}    // namespace
}    // namespace slipway
