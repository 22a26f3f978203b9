// Goal: a job trains a language model on text: resumed anywhere and on any number of cores with the
// same bits, dropout and masks and all.
// Method: whole runs of bert_tiny and gpt_tiny on a small text of two parts.
#include <gtest/gtest.h>

#include <cmath>

#include "executor/text/tokenizer_files.h"
#include "executor/train/train_error.h"
#include "tests/executor/train/run_fixture.h"

namespace slipway {
namespace {

class LanguageRun : public Run, public testing::WithParamInterface<Arch> {
protected:
    AttemptPlan text_plan(std::int64_t cores = 1) {
        AttemptPlan one = plan(cores);
        one.spec.model.arch = GetParam();
        one.spec.task = {.type = *language_task(GetParam()),
                         .metrics = {TaskMetric::loss, TaskMetric::perplexity}};
        one.spec.data.max_length = 8;
        one.spec.data.split.train_part = "train";
        one.spec.data.split.val_part = "valid";
        one.spec.train.epochs = 2;
        one.spec.train.batch_size_per_core = 8 / cores;
        one.spec.train.optimizer.lr = 0.001;
        one.dataset_format = "text";
        folder_.write("text/train.txt", words(8 * 16 + 3));
        folder_.write("text/valid.txt", words(45));
        one.dataset_path = folder_.path() / "text";
        return one;
    }

    static bool said(const KeepingReporter& reporter, const std::string& words) {
        return std::ranges::any_of(reporter.logs, [&](const std::string& line) {
            return line.find(words) != std::string::npos;
        });
    }

    static std::string words(std::size_t count) {
        std::string text;
        while (text.size() < count)
            text += "to be or not to be, ";
        return text.substr(0, count);
    }
};

TEST_P(LanguageRun, resumed_with_dropout_it_ends_with_the_same_bits) {
    const AttemptPlan undisturbed = text_plan();
    AttemptPlan broken = text_plan();
    KeepingReporter whole;
    run_training(undisturbed, whole);
    ASSERT_EQ(whole.values_of("train_loss").size(), 4U);
    EXPECT_EQ(losses_of_broken_run(broken, 3), whole.values_of("train_loss"));
    expect_same_bits(broken, undisturbed);
    const double loss = whole.values_of("val_loss").back();
    EXPECT_EQ(whole.values_of("val_perplexity").back(), std::exp(loss));
    EXPECT_TRUE(whole.values_of("val_accuracy").empty());
    // 258 tokens alike at first.
    EXPECT_NEAR(whole.values_of("train_loss").front(), std::log(258.0), 0.3);
}

// Four steps away from the same weights; dropout draws the same places. A bf16 number is off by up
// to 0.2 % of its size: 2 % of a loss of 5.5 after some tens of layers.
TEST_P(LanguageRun, in_bf16_true_the_losses_are_about_those_of_f32) {
    AttemptPlan narrow = text_plan();
    narrow.spec.train.precision = Precision::bf16_true;
    KeepingReporter in_f32, in_bf16;
    run_training(text_plan(), in_f32);
    run_training(narrow, in_bf16);
    for (const char* name : {"train_loss", "val_loss"}) {
        const auto expected = in_f32.values_of(name), found = in_bf16.values_of(name);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_NEAR(found[i], expected[i], 0.02 * expected[i]) << name << i;
    }
}

TEST_P(LanguageRun, each_checkpoint_keeps_what_reads_its_tokens) {
    AttemptPlan one = text_plan();
    one.spec.train.epochs.reset();
    one.spec.train.steps = 1;
    one.spec.data.tokenizer.emplace().type = TokenizerType::character;
    KeepingReporter reporter;
    run_training(one, reporter);
    const auto newest = newest_checkpoint(one.checkpoint_folder);
    ASSERT_TRUE(newest);
    const auto tokenizer = load_tokenizer(*newest);
    std::vector<std::int32_t> tokens;
    tokenizer->encode("not to be", tokens);
    EXPECT_EQ(tokenizer->decode(tokens), "not to be");
    const auto& files = reporter.checkpoints.back().files;
    EXPECT_EQ(std::ranges::count(files, "tokenizer_spec.json", &SavedFile::name), 1);
}

TEST_P(LanguageRun, rows_from_a_shared_copy_have_the_same_bits_and_tokenizer) {
    AttemptPlan alone = text_plan();
    alone.spec.train.epochs = 1;
    alone.spec.data.tokenizer.emplace().type = TokenizerType::character;
    AttemptPlan first = alone, second = alone;
    for (AttemptPlan* shared : {&first, &second}) {
        shared->checkpoint_folder = folder_.path() / fmt::format("shared_{}", folders_++);
        shared->sharing.folder = folder_.path() / "copies";
        shared->sharing.settled_after = std::chrono::seconds(0);
    }
    KeepingReporter reporters[3];
    run_training(alone, reporters[0]);
    run_training(first, reporters[1]);
    run_training(second, reporters[2]);
    EXPECT_TRUE(said(reporters[1], "the dataset was read now, for other jobs as well"));
    EXPECT_TRUE(said(reporters[2], "the dataset was read by an earlier job"));
    for (const AttemptPlan* shared : {&first, &second}) {
        expect_same_bits(alone, *shared);
        for (const char* name : {"characters.json", "tokenizer_spec.json"}) {
            EXPECT_EQ(read_file(*newest_checkpoint(shared->checkpoint_folder) / name),
                      read_file(*newest_checkpoint(alone.checkpoint_folder) / name));
        }
    }
    // Another tokenizer has other tokens.
    second.spec.data.tokenizer->type = TokenizerType::byte;
    second.checkpoint_folder = folder_.path() / "bytes";
    KeepingReporter other;
    run_training(second, other);
    EXPECT_TRUE(said(other, "the dataset was read now"));
}

TEST_P(LanguageRun, a_text_too_short_to_be_divided_is_told_of_max_length) {
    AttemptPlan one = text_plan();
    one.spec.data.split.train_part.clear();
    one.spec.data.split.val_part.clear();
    one.spec.data.split.val_fraction = 0.1;
    one.dataset_path = folder_.write("short/all.txt", words(6)).parent_path();
    KeepingReporter reporter;
    try {
        run_training(one, reporter);
        ADD_FAILURE() << "one row was divided";
    } catch (const TrainError& error) {
        EXPECT_EQ(error.reason(), "data_error");
        EXPECT_NE(std::string(error.what()).find("data.max_length"), std::string::npos)
            << error.what();
    }
}

TEST_P(LanguageRun, eight_cores_give_the_bits_of_one) {
    const AttemptPlan one = text_plan(1), eight = text_plan(8);
    expect_same_run(one, eight);
}

TEST_P(LanguageRun, a_resumed_job_reads_the_tokenizer_of_its_checkpoint) {
    AttemptPlan one = text_plan();
    one.spec.data.tokenizer.emplace().type = TokenizerType::character;
    KeepingReporter first, second;
    first.stop_at_step = 2;
    run_training(one, first);
    one.resume_from = newest_checkpoint(one.checkpoint_folder);
    one.attempt = 2;
    std::string changed = words(8 * 16 + 3);
    std::ranges::replace(changed, 'n', 'x');    // as many characters, in another order
    folder_.write("text/train.txt", changed);
    run_training(one, second);
    const auto newest = newest_checkpoint(one.checkpoint_folder);
    ASSERT_NE(newest, one.resume_from);
    std::vector<std::int32_t> tokens;
    load_tokenizer(*newest)->encode("not", tokens);
    EXPECT_EQ(load_tokenizer(*one.resume_from)->decode(tokens), "not");
    one.resume_from = folder_.path();
    try {
        run_training(one, second);
        ADD_FAILURE() << "there is no tokenizer";
    } catch (const TrainError& error) {
        EXPECT_EQ(error.reason(), "checkpoint_corrupt");
    }
}

INSTANTIATE_TEST_SUITE_P(Architectures, LanguageRun,
                         testing::Values(Arch::bert_tiny, Arch::gpt_tiny),
                         [](const auto& one) { return std::string(to_string(one.param)); });

/// A text of several files, drawn from without parts; 9 tokens are a row.
class LittleText : public Run {
protected:
    AttemptPlan text_plan(const std::vector<std::string>& files) {
        AttemptPlan one = plan();
        one.spec.model.arch = Arch::gpt_tiny;
        one.spec.task = {.type = TaskType::causal_lm,
                         .metrics = {TaskMetric::loss, TaskMetric::perplexity}};
        one.spec.data.max_length = 8;
        one.spec.data.split.val_fraction = 0;
        one.spec.train.epochs = 1;
        one.spec.train.batch_size_per_core = 1;
        one.spec.train.optimizer = {.name = OptimizerName::sgd, .lr = 0.1};
        one.dataset_format = "text";
        one.dataset_path = folder_.path() / "text";
        for (std::size_t i = 0; i < files.size(); ++i)
            folder_.write(fmt::format("text/part_{}.txt", i), files[i]);
        return one;
    }
};

// A part of one token predicts none: as a step of its own it has no label.
TEST_F(LittleText, a_step_without_labels_has_loss_0_and_moves_nothing) {
    const AttemptPlan with = text_plan({"to be or ", "x"});
    KeepingReporter reporter;
    run_training(with, reporter);
    std::vector<double> losses = reporter.values_of("train_loss");
    ASSERT_EQ(losses.size(), 2U);
    EXPECT_EQ(std::ranges::count(losses, 0.0), 1);
    std::filesystem::remove(folder_.path() / "text/part_1.txt");
    const AttemptPlan without = text_plan({"to be or "});
    KeepingReporter other;
    run_training(without, other);
    std::erase(losses, 0.0);
    EXPECT_EQ(losses, other.values_of("train_loss"));
    expect_same_bits(with, without);
}

TEST_F(LittleText, without_any_label_it_is_refused_before_the_first_step) {
    KeepingReporter reporter;
    try {
        run_training(text_plan({"x", "y"}), reporter);
        ADD_FAILURE() << "nothing can be predicted";
    } catch (const TrainError& error) {
        EXPECT_EQ(error.reason(), "data_error");
        EXPECT_NE(std::string(error.what()).find("the training part"), std::string::npos);
    }
    EXPECT_TRUE(reporter.states.empty());
}

class RefusedText : public Run {};

TEST_F(RefusedText, a_language_model_needs_a_text_and_no_other_network_does) {
    const auto reason = [](const AttemptPlan& one) -> std::string {
        KeepingReporter reporter;
        try {
            run_training(one, reporter);
        } catch (const TrainError& error) {
            return error.reason() + ": " + error.what();
        }
        return "none";
    };
    AttemptPlan table = plan();
    table.spec.model.arch = Arch::bert_tiny;
    table.spec.task.type = TaskType::masked_lm;
    EXPECT_EQ(reason(table).find("spec_error: bert_tiny needs a text, and this dataset is of the "
                                 "format csv"),
              0U)
        << reason(table);
    AttemptPlan text = plan();
    folder_.write("text/train.txt", "to be or not to be");
    text.dataset_format = "text";
    text.dataset_path = folder_.path() / "text";
    EXPECT_EQ(reason(text).find("spec_error: "), 0U) << reason(text);
}

}    // namespace
}    // namespace slipway
