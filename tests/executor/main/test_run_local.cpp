#include "executor/main/run_local.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "executor/main/inspect.h"
#include "executor/train/run.h"
#include "executor/train/train_error.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

constexpr const char* job = R"({"model": {"arch": "mlp"}, "task": {"type": "classification"},
    "data": {"dataset": "digits"},
    "train": {"epochs": 1, "optimizer": {"name": "sgd", "lr": 0.1}}})";

/// One run by hand with everything in one folder.
struct ByHand {
    ByHand() {
        options.job = folder.write("job.json", job);
        options.out = folder.path() / "out";
        options.data = folder.path() / "data";
        options.format = "idx";
        std::filesystem::create_directories(options.data);
    }

    int run(const Trainer& trainer) {
        std::FILE* output = std::fopen((folder.path() / "output").c_str(), "w");
        const int code = run_local(options, trainer, system_clock(), output);
        std::fclose(output);
        return code;
    }

    std::string said() const { return read_file(folder.path() / "output"); }

    TempFolder folder;
    RunLocalOptions options;
};

TrainOutcome train_one_epoch(const AttemptPlan& plan, Reporter& reporter) {
    const std::string name = "step_000010_attempt_" + std::to_string(plan.attempt);
    std::filesystem::create_directories(plan.checkpoint_folder / name);
    std::filesystem::create_directories(plan.checkpoint_folder / "old");
    reporter.begin(0);
    MetricPoint point;
    point.step = 10;
    point.epoch = 1;
    point.values = {{"val_accuracy", 0.75}};
    reporter.metric(point);
    SavedCheckpoint saved;
    saved.name = name;
    saved.pruned = {"old", "../out"};
    reporter.checkpoint(saved);
    TrainOutcome outcome;
    outcome.step = 10;
    outcome.final_values = {{"val_accuracy", 0.75}};
    return outcome;
}

TEST(RunLocal, a_run_leaves_metrics_frames_and_checkpoints) {
    ByHand by_hand;
    EXPECT_EQ(by_hand.run(train_one_epoch), 0);
    const auto& out = by_hand.options.out;
    EXPECT_EQ(read_file(out / "metrics.csv"), "step,epoch,val_accuracy\n10,1,0.75\n");
    EXPECT_TRUE(std::filesystem::exists(out / "checkpoints" / "step_000010_attempt_1"));
    EXPECT_FALSE(std::filesystem::exists(out / "checkpoints" / "old"));
    EXPECT_NE(read_file(out / "frames.ndjson").find("\"outcome\":\"succeeded\""),
              std::string::npos);
    EXPECT_NE(by_hand.said().find("val_accuracy 0.75"), std::string::npos);
}

TEST(RunLocal, a_second_run_needs_resume_and_counts_attempts) {
    ByHand by_hand;
    EXPECT_EQ(by_hand.run(train_one_epoch), 0);
    EXPECT_EQ(by_hand.run(train_one_epoch), 1);
    EXPECT_NE(by_hand.said().find("--resume"), std::string::npos);
    by_hand.options.resume = true;
    int attempt = 0;
    EXPECT_EQ(by_hand.run([&](const AttemptPlan& plan, Reporter&) {
        attempt = plan.attempt;
        return TrainOutcome{};
    }),
              0);
    EXPECT_EQ(attempt, 2);
}

TEST(RunLocal, a_damaged_checkpoint_is_named_to_the_resumed_run) {
    ByHand by_hand;
    EXPECT_EQ(by_hand.run(train_one_epoch), 0);
    const auto newest = by_hand.options.out / "checkpoints" / "step_000010_attempt_1";
    std::ofstream(newest / "state.json") << "{";
    by_hand.options.resume = true;
    EXPECT_EQ(by_hand.run([&](const AttemptPlan& plan, Reporter&) {
        EXPECT_FALSE(plan.resume_from);
        EXPECT_EQ(plan.passed_over.size(), 1U);
        return TrainOutcome{};
    }),
              0);
}

TEST(RunLocal, a_resumed_run_repeats_no_row_and_inputs_nothing_half_written) {
    ByHand by_hand;
    const auto& out = by_hand.options.out;
    const auto reports = [](std::vector<std::int64_t> steps) {
        return [steps](const AttemptPlan&, Reporter& reporter) -> TrainOutcome {
            reporter.begin(0);
            for (const std::int64_t step : steps) {
                MetricPoint point;
                point.step = step;
                point.epoch = 1;
                point.values = {{"train_loss", 0.5}};
                reporter.metric(point);
            }
            return {};
        };
    };
    EXPECT_EQ(by_hand.run(reports({1, 2, 3})), 0);
    std::filesystem::create_directories(out / "checkpoints" / "step_000004_attempt_1.tmp");
    by_hand.options.resume = true;
    EXPECT_EQ(by_hand.run(reports({1, 2})), 0) << "there was no checkpoint: from the start";
    EXPECT_EQ(read_file(out / "metrics.csv"), "step,epoch,train_loss\n1,1,0.5\n2,1,0.5\n");
    EXPECT_TRUE(std::filesystem::is_empty(out / "checkpoints"));
}

TEST(RunLocal, a_failure_is_said_with_its_code) {
    ByHand by_hand;
    EXPECT_EQ(by_hand.run([](const AttemptPlan&, Reporter&) -> TrainOutcome {
        throw TrainError("data_error", "labels.csv, row 3: no such file");
    }),
              1);
    EXPECT_NE(by_hand.said().find("data_error: labels.csv, row 3"), std::string::npos);
}

// Names come from whoever made the dataset, and the output may be a terminal.
TEST(RunLocal, names_of_a_data_set_command_no_terminal) {
    ByHand by_hand;
    by_hand.options.format = "image_folder";
    by_hand.folder.write("data/bees/b.png", "no image");
    by_hand.folder.write("data/\x1b]0;ants\x07/a\n.png", "no image either");
    EXPECT_EQ(by_hand.run(run_training), 1);
    const std::string said = by_hand.said();
    EXPECT_EQ(said.find('\x1b'), std::string::npos);
    EXPECT_NE(said.find("\\u001b]0;ants\\u0007/a\\u000a.png"), std::string::npos) << said;
}

TEST(RunLocal, a_problem_of_the_command_line_commands_no_terminal) {
    ByHand by_hand;
    by_hand.options.data = "/nonexistent/\x1b[2J";
    EXPECT_EQ(by_hand.run(train_one_epoch), 1);
    EXPECT_NE(by_hand.said().find("/nonexistent/\\u001b[2J;"), std::string::npos) << by_hand.said();
}

TEST(RunLocal, a_bad_spec_names_every_field) {
    ByHand by_hand;
    by_hand.folder.write("job.json", R"({"model": {"arch": "resnet9000"}, "optimiser": 1})");
    EXPECT_EQ(by_hand.run(train_one_epoch), 1);
    EXPECT_NE(by_hand.said().find("optimiser"), std::string::npos);
    EXPECT_NE(by_hand.said().find("resnet9000"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(by_hand.options.out / "frames.ndjson"));
}

TEST(RunLocal, missing_files_are_named) {
    ByHand by_hand;
    by_hand.options.data = "/nonexistent/data";
    EXPECT_EQ(by_hand.run(train_one_epoch), 1);
    EXPECT_NE(by_hand.said().find("/nonexistent/data"), std::string::npos);
    by_hand.options.job = "/nonexistent/job.json";
    EXPECT_EQ(by_hand.run(train_one_epoch), 1);
    EXPECT_NE(by_hand.said().find("/nonexistent/job.json"), std::string::npos);
}

TEST(GuessFormat, the_names_tell) {
    const TempFolder folder;
    folder.write("idx/train-images-idx3-ubyte.gz", "");
    folder.write("tables/train.csv", "");
    folder.write("labelled/labels.csv", "");
    folder.write("labelled/images/a.jpg", "");
    folder.write("folders/ants/a.jpg", "");
    folder.write("folders/README.txt", "");
    folder.write("books/train.txt", "");
    folder.write("batches/data_batch_1.bin", "");
    folder.write("batches/batches.meta.txt", "");
    folder.write("records/train.tfrecord-00000-of-00001", "");
    folder.write("shards/train-0.tar", "");
    folder.write("arrays/mnist.npz", "");
    folder.write("none/readme.md", "");
    EXPECT_EQ(guess_format(folder.path() / "idx"), "idx");
    EXPECT_EQ(guess_format(folder.path() / "tables"), "csv");
    EXPECT_EQ(guess_format(folder.path() / "tables" / "train.csv"), "csv");
    EXPECT_EQ(guess_format(folder.path() / "labelled"), "image_csv");
    EXPECT_EQ(guess_format(folder.path() / "folders"), "image_folder");
    EXPECT_EQ(guess_format(folder.path() / "batches"), "cifar10");
    EXPECT_EQ(guess_format(folder.path() / "records"), "tfrecord");
    EXPECT_EQ(guess_format(folder.path() / "shards"), "webdataset");
    EXPECT_EQ(guess_format(folder.path() / "arrays"), "npz");
    EXPECT_EQ(guess_format(folder.path() / "arrays" / "mnist.npz"), "npz");
    EXPECT_EQ(guess_format(folder.path() / "books"), "text");
    EXPECT_EQ(guess_format(folder.path() / "none"), "");
}

TEST(InspectToJson, a_table_is_reported_and_its_bad_row_named) {
    const TempFolder folder;
    folder.write("good/a.csv", "x,label\n1,a\n2,b\n3,a\n4,b\n");
    const Json good = Json::parse(
        inspect_to_json({.format = "csv", .path = folder.path() / "good", .unpack = {}}));
    EXPECT_EQ(good.at("problem_count"), 0) << good.dump(1);
    EXPECT_EQ(good.at("samples"), 4);
    folder.write("bad/a.csv", "x,label\n1,a\nzwei,b\n");
    const Json bad = Json::parse(
        inspect_to_json({.format = "csv", .path = folder.path() / "bad", .unpack = {}}));
    EXPECT_EQ(bad.at("problem_count"), 1);
    EXPECT_EQ(bad.at("problems").at(0).at("row"), 3);
}

TEST(InspectToJson, what_cannot_be_read_at_all_is_one_problem) {
    const Json absent = Json::parse(inspect_to_json({.format = "csv", .path = "/nonexistent"}));
    EXPECT_EQ(absent.at("problem_count"), 1);
    EXPECT_EQ(absent.at("error"), "not_found");
    const Json options =
        Json::parse(inspect_to_json({.format = "csv", .path = "/tmp", .options = "{"}));
    EXPECT_EQ(options.at("error"), "invalid_argument");
}

TEST(InspectToJson, an_upload_is_unpacked_first) {
    const TempFolder folder;
    const auto upload = folder.write("upload", "x,label\n1,a\n2,b\n");
    const Json report = Json::parse(inspect_to_json({.format = "csv",
                                                     .path = {},
                                                     .unpack = upload,
                                                     .into = folder.path() / "dataset",
                                                     .name = "numbers.csv"}));
    EXPECT_EQ(report.at("problem_count"), 0) << report.dump(1);
    EXPECT_EQ(report.at("unpacked").at("files"), 1);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "dataset" / "numbers.csv"));
}

}    // namespace
}    // namespace slipway
