#include <gtest/gtest.h>

#include "api/spec/cross_validation_spec.h"
#include "api/spec/documents.h"
#include "api/spec/sweep_spec.h"
#include "tests/api/spec/examples.h"

namespace slipway {
namespace {

ParsedJson parsed(const Json& json) {
    return {json, {}};
}

TEST(Requests, every_dataset_example_decodes_and_comes_back) {
    ASSERT_GE(example_names("dataset_").size(), 3U);
    for (const std::string& name : example_names("dataset_")) {
        const auto decoded = decode_dataset_create(parsed(example(name)));
        ASSERT_TRUE(decoded.ok()) << name << joined_messages(decoded.problems);
        const auto again = decode_dataset_create(parsed(encode(decoded.value)));
        ASSERT_TRUE(again.ok()) << name << joined_messages(again.problems);
        EXPECT_TRUE(again.value == decoded.value) << name;
    }
}

TEST(Requests, every_invalid_dataset_gives_its_problems) {
    for (const InvalidCase& one : invalid_cases("invalid_datasets.json")) {
        expect_problems(one, decode_dataset_create(parsed(one.document)).problems);
    }
}

TEST(Requests, a_dataset_keeps_only_the_options_of_its_format) {
    const auto folder = decode_dataset_create(parsed(example("dataset_folder.json"))).value;
    EXPECT_EQ(encode_dataset_options(folder), Json::object());
    const auto images = decode_dataset_create(parsed(example("dataset_images.json"))).value;
    const Json options = encode_dataset_options(images);
    EXPECT_EQ(options["labels_file"], "labels.csv");
    EXPECT_EQ(options["mean"], Json::array({0.5}));
    EXPECT_FALSE(options.contains("feature_columns"));
}

TEST(Requests, every_prediction_example_decodes_and_comes_back) {
    ASSERT_GE(example_names("prediction_").size(), 3U);
    for (const std::string& name : example_names("prediction_")) {
        const auto decoded = decode_prediction(parsed(example(name)));
        ASSERT_TRUE(decoded.ok()) << name << joined_messages(decoded.problems);
        const auto again = decode_prediction(encode(decoded.value));
        ASSERT_TRUE(again.ok()) << name << joined_messages(again.problems);
        EXPECT_TRUE(again.value == decoded.value) << name;
    }
}

TEST(Requests, every_invalid_prediction_gives_its_problems) {
    for (const InvalidCase& one : invalid_cases("invalid_predictions.json")) {
        expect_problems(one, decode_prediction(parsed(one.document)).problems);
    }
}

TEST(Requests, a_prediction_runs_the_job_that_trained_with_its_own_means) {
    JobSpec trained = decode_job_spec(example("valid_fine_tuning.json")).value;
    const auto prediction = decode_prediction(parsed(example("prediction_every_field.json"))).value;
    const JobSpec job = predicting_job(trained, prediction);
    EXPECT_EQ(job.name, "digits of the test part");
    EXPECT_EQ(job.project, "vision");
    EXPECT_EQ(job.data.dataset, "mnist10k");
    EXPECT_EQ(job.train.precision, Precision::bf16);
    EXPECT_EQ(job.accelerator.cores, 8);
    EXPECT_EQ(job.queue.job_class, QueueClass::high);
    EXPECT_FALSE(job.model.init);
    EXPECT_EQ(job.model.arch, trained.model.arch);
    EXPECT_EQ(job.train.batch_size_per_core, trained.train.batch_size_per_core);
    EXPECT_TRUE(decode_job_spec(encode(job)).ok());
    EXPECT_EQ(global_batch(prediction), 512);
    EXPECT_EQ(encode_effective(prediction)["lr"], nullptr);
}

TEST(Requests, a_prediction_of_all_samples_needs_no_stored_split) {
    JobSpec trained;
    trained.data.split.id = "spl_1";
    PredictionSpec prediction;
    EXPECT_EQ(predicting_job(trained, prediction).data.split.id, "");
    prediction.data.split = PredictedSplit::val;
    EXPECT_EQ(predicting_job(trained, prediction).data.split.id, "spl_1");
}

TEST(Requests, every_evaluation_example_decodes_and_comes_back) {
    ASSERT_GE(example_names("evaluation_").size(), 3U);
    for (const std::string& name : example_names("evaluation_")) {
        const auto decoded = decode_evaluation(parsed(example(name)));
        ASSERT_TRUE(decoded.ok()) << name << joined_messages(decoded.problems);
        const auto again = decode_evaluation(encode(decoded.value));
        ASSERT_TRUE(again.ok()) << name << joined_messages(again.problems);
        EXPECT_TRUE(again.value == decoded.value) << name;
    }
}

TEST(Requests, every_invalid_evaluation_gives_its_problems) {
    for (const InvalidCase& one : invalid_cases("invalid_evaluations.json")) {
        expect_problems(one, decode_evaluation(parsed(one.document)).problems);
    }
}

TEST(Requests, an_evaluation_keeps_the_global_batch_of_the_training_on_its_own_cores) {
    JobSpec trained = decode_job_spec(example("valid_fine_tuning.json")).value;
    trained.accelerator.cores = 8;
    trained.train.batch_size_per_core = 4;
    trained.train.grad_accumulation = 2;
    trained.data.version = "abcdef01";
    EvaluationSpec evaluation;
    evaluation.data.dataset = "digits";    // it was found
    evaluation.accelerator.cores = 1;
    const JobSpec own = evaluating_job(trained, evaluation, true);
    EXPECT_EQ(own.train.batch_size_per_core, 32);
    EXPECT_EQ(effective(own).global_batch, 32) << "what accumulates is no batch of an evaluation";
    EXPECT_EQ(own.data.version, "abcdef01");
    EXPECT_FALSE(own.model.init);
    EXPECT_EQ(evaluating_job(trained, evaluation, false).data.version, "");
    EXPECT_TRUE(decode_job_spec(encode(own)).ok());
}

TEST(Requests, every_split_example_decodes_and_comes_back) {
    ASSERT_GE(example_names("split_").size(), 5U);
    for (const std::string& name : example_names("split_")) {
        const auto decoded = decode_split_create(parsed(example(name)));
        ASSERT_TRUE(decoded.ok()) << name << joined_messages(decoded.problems);
        const auto again = decode_split_create(parsed(encode(decoded.value)));
        ASSERT_TRUE(again.ok()) << name << joined_messages(again.problems);
        EXPECT_TRUE(again.value == decoded.value) << name;
    }
}

TEST(Requests, every_invalid_split_gives_its_problems) {
    for (const InvalidCase& one : invalid_cases("invalid_splits.json")) {
        expect_problems(one, decode_split_create(parsed(one.document)).problems);
    }
}

TEST(Requests, every_cross_validation_example_decodes_and_comes_back) {
    ASSERT_GE(example_names("cross_validation_").size(), 2U);
    for (const std::string& name : example_names("cross_validation_")) {
        const auto decoded = decode_cross_validation(parsed(example(name)));
        ASSERT_TRUE(decoded.ok()) << name << joined_messages(decoded.problems);
        EXPECT_EQ(decoded.value.job.project, decoded.value.project);
        const auto again = decode_cross_validation(encode(decoded.value));
        ASSERT_TRUE(again.ok()) << name << joined_messages(again.problems);
        EXPECT_TRUE(again.value == decoded.value) << name;
    }
}

TEST(Requests, every_invalid_cross_validation_gives_its_problems) {
    const auto cases = invalid_cases("invalid_cross_validations.json");
    ASSERT_GE(cases.size(), 30U);
    for (const InvalidCase& one : cases)
        expect_problems(one, decode_cross_validation(parsed(one.document)).problems);
}

TEST(Requests, a_sweep_takes_metrics_with_names_in_any_script) {
    const auto takes = [](const std::string& metric) {
        const Json sweep{{"name", "elsewhere"},
                         {"objective", {{"metric", metric}, {"mode", "max"}}},
                         {"space", {{"x", {{"type", "uniform"}, {"min", 0}, {"max", 1}}}}},
                         {"algorithm", {{"name", "random"}}},
                         {"limits", {{"max_trials", 4}, {"max_concurrent", 1}}}};
        return decode_sweep(sweep).problems.empty();
    };
    for (const std::string metric : {"cost", "val_auc_кошка", "val_auc_肺炎", "\u00A1", "ÂÃ"})
        EXPECT_TRUE(takes(metric)) << metric;
    for (const std::string metric : {"", "a b", "a\tb", "a\u007F", "a\u0085", "a\u00A0b"})
        EXPECT_FALSE(takes(metric)) << metric;
    EXPECT_TRUE(takes(std::string(200, 'x')));
    EXPECT_FALSE(takes(std::string(199, 'x') + "ш"));
}

TEST(Requests, an_upload_says_size_and_hash) {
    const auto upload = decode_upload_create(parsed(example("upload.json")));
    ASSERT_TRUE(upload.ok()) << joined_messages(upload.problems);
    EXPECT_EQ(upload.value.size, 1048576);
    EXPECT_EQ(upload.value.filename, "points.zip");
    EXPECT_EQ(summary_of(decode_upload_create(parsed({{"size", 0}, {"sha256", "E3"}})).problems),
              "/sha256 bad_format\n/size out_of_bounds\n");
    EXPECT_EQ(summary_of(decode_upload_create(parsed(Json::object())).problems),
              "/size missing_field\n");
}

TEST(Requests, a_token_has_a_name_and_a_role) {
    const auto token = decode_token_create(
        parsed({{"name", "ci"}, {"role", "editor"}, {"projects", Json::array({"vision"})}}));
    ASSERT_TRUE(token.ok()) << joined_messages(token.problems);
    EXPECT_EQ(token.value.role, TokenRole::editor);
    EXPECT_EQ(summary_of(decode_token_create(parsed({{"role", "root"}})).problems),
              "/name missing_field\n/role not_allowed\n");
}

TEST(Requests, a_login_needs_a_token) {
    EXPECT_EQ(decode_login(parsed({{"token", "slp_x"}})).value.token, "slp_x");
    EXPECT_EQ(summary_of(decode_login(parsed(Json::object())).problems), "/token missing_field\n");
}

TEST(Requests, a_patch_changes_only_what_it_names) {
    const auto nothing = decode_job_patch(parsed(Json::object()));
    EXPECT_TRUE(nothing.ok());
    EXPECT_FALSE(nothing.value.name || nothing.value.labels || nothing.value.queue.job_class);
    const auto some =
        decode_job_patch(parsed({{"labels", Json::object()}, {"queue", {{"class", "urgent"}}}}));
    ASSERT_TRUE(some.ok());
    EXPECT_TRUE(some.value.labels && some.value.labels->empty());
    EXPECT_EQ(some.value.queue.job_class, QueueClass::urgent);
    EXPECT_FALSE(some.value.queue.pool);
    EXPECT_EQ(decode_job_patch(parsed({{"queue", {{"pool", "slurm"}}}})).value.queue.pool, "slurm");
    EXPECT_FALSE(decode_job_patch(parsed({{"queue", {{"pool", "no pool!"}}}})).ok());
    EXPECT_FALSE(decode_job_patch(parsed({{"queue", {{"pool", ""}}}})).ok());
    EXPECT_EQ(summary_of(decode_job_patch(parsed({{"state", "failed"}})).problems),
              "/state unknown_field\n");
}

}    // namespace
}    // namespace slipway
