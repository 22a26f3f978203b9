#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "api/spec/sweep_spec.h"
#include "api/sweep_import/sweep_import.h"

namespace slipway {
namespace {

SweepImportOptions with_job(int epochs = 9) {
    SweepImportOptions options;
    options.job =
        Json{{"model", {{"arch", "mlp"}}},
             {"task", {{"type", "classification"}}},
             {"data", {{"dataset", "points"}, {"split", {{"val_fraction", 0.2}}}}},
             {"train", {{"epochs", epochs}, {"optimizer", {{"name", "adam"}, {"lr", 0.01}}}}}};
    return options;
}

/// What the service's own decoder takes.
ImportedSweep imported(const std::string& yaml, const SweepImportOptions& options = with_job()) {
    const Result<ImportedSweep> made = import_sweep(yaml, options);
    if (!made) {
        ADD_FAILURE() << made.error().what();
        return {.body = {{"space", Json::object()}, {"algorithm", Json::object()}}};
    }
    const auto decoded = decode_sweep(ParsedJson{.value = made->body, .duplicates = {}});
    EXPECT_TRUE(decoded.problems.empty())
        << made->body.dump(1) << joined_messages(decoded.problems);
    return *made;
}

std::string refusal(const std::string& yaml, const SweepImportOptions& options = with_job()) {
    const Result<ImportedSweep> made = import_sweep(yaml, options);
    return made ? "imported: " + made->body.dump() : made.error().what();
}

bool is_noted(const ImportedSweep& sweep, const std::string& text) {
    return std::ranges::any_of(
        sweep.notes, [&](const std::string& note) { return note.find(text) != note.npos; });
}

const std::string wandb_head =
    "method: random\nrun_cap: 20\nmetric: {name: val_loss, goal: minimize}\nparameters:\n";

Json wandb_space(const std::string& parameters) {
    return imported(wandb_head + parameters).body.at("space");
}

TEST(WandbSweep, parameters_of_each_distribution) {
    EXPECT_EQ(wandb_space("  lr: {distribution: log_uniform_values, min: 1e-4, max: 0.1}\n"
                          "  momentum: {min: 0.0, max: 0.9}\n"
                          "  batch_size: {values: [16, 32]}\n"
                          "  dropout: {distribution: normal, mu: 0.3, sigma: 0.1}\n"
                          "  weight_decay: {distribution: log_normal, mu: -7, sigma: 1}\n"
                          "  seed: {min: 1, max: 5}\n"
                          "  width: {distribution: q_uniform, min: 8, max: 64, q: 8}\n"
                          "  optimizer: {value: Adam}\n"),
              Json::parse(R"({
        "train.optimizer.lr": {"type": "log_uniform", "min": 1e-4, "max": 0.1},
        "train.optimizer.momentum": {"type": "uniform", "min": 0.0, "max": 0.9},
        "train.batch_size_per_core": {"type": "choice", "values": [16, 32]},
        "model.dropout": {"type": "normal", "mean": 0.3, "std": 0.1},
        "train.optimizer.weight_decay": {"type": "log_normal", "mean": -7, "std": 1},
        "train.seed": {"type": "int_uniform", "min": 1, "max": 5},
        "model.width": {"type": "int_uniform", "min": 8, "max": 64, "step": 8},
        "train.optimizer.name": {"type": "constant", "value": "adam"}})"));
}

TEST(WandbSweep, exponents_are_of_e) {
    const Json lr = wandb_space("  lr: {distribution: log_uniform, min: -9, max: -2}\n");
    EXPECT_DOUBLE_EQ(lr.at("train.optimizer.lr").at("min").get<double>(), std::exp(-9.0));
    EXPECT_DOUBLE_EQ(lr.at("train.optimizer.lr").at("max").get<double>(), std::exp(-2.0));
    const std::string said =
        refusal(wandb_head + "  lr: {distribution: log_uniform, min: 1, max: 1000}\n");
    EXPECT_NE(said.find("parameters.lr.max is an exponent of e, and e^1000 is too large"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("log_uniform_values"), std::string::npos) << said;
}

TEST(WandbSweep, a_quantum_that_the_bounds_are_no_multiples_of_is_told) {
    const ImportedSweep sweep =
        imported(wandb_head +
                 "  batch_size: {distribution: q_log_uniform_values, q: 8, min: 10, max: 100}\n");
    EXPECT_EQ(sweep.body.at("space").at("train.batch_size_per_core"),
              Json::parse(R"({"type": "log_int_uniform", "min": 16, "max": 96, "step": 8})"));
    EXPECT_TRUE(is_noted(sweep, "the multiples of 8 are those from 16 to 96"));
}

TEST(WandbSweep, nested_parameters_and_places_that_are_given) {
    SweepImportOptions options = with_job();
    options.places = {{"net.rate", "model.dropout"}, {"fold", "-"}};
    const ImportedSweep sweep =
        imported(wandb_head +
                     "  optimizer:\n    parameters:\n      learning-rate: {min: 0.001, max: 0.1}\n"
                     "  net:\n    parameters:\n      rate: {value: 0.5}\n  fold: {value: 3}\n",
                 options);
    EXPECT_TRUE(sweep.body.at("space").contains("train.optimizer.lr"));
    EXPECT_TRUE(sweep.body.at("space").contains("model.dropout"));
    EXPECT_EQ(sweep.body.at("space").size(), 2);
    EXPECT_TRUE(is_noted(sweep, "parameter fold is left out"));
}

TEST(WandbSweep, early_termination_is_asha_that_stops) {
    const std::string parameters =
        "parameters: {lr: {min: 0.001, max: 0.1}, epochs: {value: 27}}\n";
    const std::string head =
        "method: bayes\nrun_cap: 9\nmetric: {name: val/acc, goal: maximize, target: 0.99}\n";
    const ImportedSweep least =
        imported(head + "early_terminate: {type: hyperband, min_iter: 3}\n" + parameters);
    EXPECT_EQ(least.body.at("algorithm"),
              Json::parse(R"({"name": "asha", "mode": "stop", "min_time": 3, "max_time": 27,
                              "reduction_factor": 3, "sampler": {"name": "tpe"}})"));
    EXPECT_EQ(least.body.at("objective"),
              Json::parse(R"({"metric": "val_accuracy", "mode": "max", "value": "last"})"));
    EXPECT_EQ(least.body.at("limits"), Json::parse(R"({"max_trials": 9, "target": 0.99})"));
    EXPECT_FALSE(least.body.at("space").contains("train.epochs"));
    EXPECT_TRUE(is_noted(least, "not a Gaussian process"));
    const ImportedSweep most = imported(
        head + "early_terminate: {type: hyperband, max_iter: 27, s: 2, eta: 3}\n" + parameters);
    EXPECT_EQ(most.body.at("algorithm").at("min_time"), 3);
    EXPECT_EQ(imported(head + "early_terminate: {type: hyperband, min_iter: 2}\n"
                              "parameters: {lr: {min: 0.001, max: 0.1}}\n")
                  .body.at("algorithm")
                  .at("max_time"),
              9);    // of the job
}

TEST(WandbSweep, what_has_no_equal_is_refused_and_all_of_it) {
    const std::string said = refusal(
        "method: random\nmetric: {name: loss}\nparameters:\n"
        "  lr: {distribution: beta, min: 0, max: 1}\n"
        "  batch_size: {values: [16, 32], probabilities: [0.9, 0.1]}\n"
        "  colour: {value: red}\n  dropout: {values: [null, 0.5]}\n  wd: {low: 1}\nwatch: 3\n");
    for (const char* part :
         {"metric loss: no metric of the validation part has this name; --metric NAME",
          "parameters.lr.distribution: beta has no equal here",
          "parameters.batch_size.probabilities: all values of a choice are equally likely here",
          "parameter colour: nobody knows where", "parameters.dropout.values: null is no value",
          "parameters.wd.low is not known", "watch is not known; leave it out"})
        EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
}

TEST(WandbSweep, what_is_missing_or_twice_is_refused) {
    EXPECT_EQ(refusal("method: random\nmetric: {name: val_loss}\nparameters: {lr: {value: 1}}\n"),
              "nothing says how many trials there are; --max-trials N does");
    EXPECT_EQ(refusal(wandb_head + "  lr: {value: 1}\n  learning_rate: {value: 2}\n"),
              "parameter lr: another one belongs to train.optimizer.lr already");
    EXPECT_NE(
        refusal("method: magic\nparameters: 3\n").find("method must be grid, random or bayes"),
        std::string::npos);
    EXPECT_NE(refusal("a: 1\n").find("neither method"), std::string::npos);
    EXPECT_NE(refusal("[1]").find("neither method"), std::string::npos);
    SweepImportOptions options = with_job();
    options.places = {{"rate", "model.dropout"}};
    EXPECT_EQ(refusal(wandb_head + "  lr: {value: 1}\n", options),
              "--map rate: the file has no such parameter");
    EXPECT_NE(refusal("method: grid\nmetric: {name: val_loss}\nearly_terminate: {type: hyperband, "
                      "max_iter: 9, "
                      "s: -3}\nparameters: {lr: {values: [1, 2]}}\n")
                  .find("early_terminate.s must be from 1 to 20"),
              std::string::npos);
}

TEST(WandbSweep, without_a_job_names_stay) {
    const ImportedSweep sweep = imported(
        "method: grid\nmetric: {name: cost}\nparameters: {colour: {values: [red, blue]}, "
        "Optimizer: "
        "{value: Adam}}\n",
        {});
    EXPECT_FALSE(sweep.body.contains("job"));
    EXPECT_EQ(sweep.body.at("space"),
              Json::parse(R"({"colour": {"type": "choice", "values": ["red", "blue"]},
                              "Optimizer": {"type": "constant", "value": "Adam"}})"));
    EXPECT_EQ(sweep.body.at("objective").at("metric"), "cost");
}

std::string determined(
    const std::string& searcher,
    const std::string& hyperparameters = "  lr: {type: log, minval: -4, maxval: -1}\n") {
    return "searcher:\n  metric: val_loss\n" + searcher + "hyperparameters:\n" + hyperparameters;
}

TEST(DeterminedExperiment, hyperparameters_of_each_type) {
    const Json space =
        imported(determined("  name: grid\n  max_length: {epochs: 3}\n",
                            "  lr: {type: log, minval: -2, maxval: 3, base: 2, count: 4}\n"
                            "  momentum: {type: double, minval: 0, maxval: 0.9, count: 2}\n"
                            "  width: {type: int, minval: 4, maxval: 8}\n"
                            "  nest:\n    optimizer: {type: categorical, vals: [adam, SGD]}\n"
                            "  batch_size: 32\n  seed: {type: const, val: 7}\n"))
            .body.at("space");
    EXPECT_EQ(space, Json::parse(R"({
        "train.optimizer.lr": {"type": "log_uniform", "min": 0.25, "max": 8.0, "count": 4},
        "train.optimizer.momentum": {"type": "uniform", "min": 0.0, "max": 0.9, "count": 2},
        "model.width": {"type": "int_uniform", "min": 4, "max": 8},
        "train.optimizer.name": {"type": "choice", "values": ["adam", "sgd"]},
        "train.batch_size_per_core": {"type": "constant", "value": 32},
        "train.seed": {"type": "constant", "value": 7}})"));
}

TEST(DeterminedExperiment, asha_has_as_many_rungs) {
    const Json asha =
        imported(
            determined(
                "  name: asha\n  max_trials: 30\n  max_length: {epochs: 64}\n  num_rungs: 3\n"))
            .body;
    EXPECT_EQ(
        asha.at("algorithm"),
        Json::parse(R"({"name": "asha", "mode": "promote", "time_attr": "epoch", "min_time": 4,
                              "max_time": 64, "reduction_factor": 4, "brackets": 1})"));
    const Json stopped =
        imported(determined("  name: asha\n  max_trials: 30\n  max_length: {batches: 900}\n"
                            "  num_rungs: 3\n  divisor: 3\n  stop_once: true\n"))
            .body;
    EXPECT_EQ(stopped.at("algorithm"),
              Json::parse(R"({"name": "asha", "mode": "stop", "time_attr": "step", "min_time": 100,
                              "max_time": 900, "reduction_factor": 3, "brackets": 1})"));
}

TEST(DeterminedExperiment, adaptive_asha_has_brackets_by_mode) {
    for (const auto& [mode, brackets] :
         {std::pair{"aggressive", 1}, {"standard", 3}, {"conservative", 4}}) {
        const ImportedSweep sweep = imported(determined(
            "  name: adaptive_asha\n  max_trials: 1000\n  max_length: {epochs: 256}\n  mode: " +
            std::string(mode) + "\n  max_concurrent_trials: 16\n"));
        EXPECT_EQ(sweep.body.at("algorithm").at("brackets"), brackets) << mode;
        EXPECT_EQ(sweep.body.at("algorithm").at("min_time"), 1);
        EXPECT_EQ(sweep.body.at("limits").at("max_concurrent"), 16);
    }
}

TEST(DeterminedExperiment, a_length_goes_into_the_job_and_single_is_one_trial) {
    const ImportedSweep sweep = imported(
        "name: one\nsearcher: {name: single, metric: validation_accuracy, smaller_is_better: "
        "false, max_length: "
        "{batches: 100}}\nhyperparameters: {lr: 0.1, epochs: 5}\nreproducibility: "
        "{experiment_seed: 4}\n"
        "labels: [a]\nentrypoint: x\n");
    EXPECT_EQ(sweep.body.at("job").at("train").at("steps"), 100);
    EXPECT_FALSE(sweep.body.at("job").at("train").contains("epochs"));
    EXPECT_EQ(sweep.body.at("limits").at("max_trials"), 1);
    EXPECT_EQ(sweep.body.at("seed"), 4);
    EXPECT_EQ(sweep.body.at("name"), "one");
    EXPECT_EQ(sweep.body.at("objective").at("mode"), "max");
    EXPECT_FALSE(sweep.body.at("space").contains("train.epochs"));
    for (const char* note : {"labels is left out", "entrypoint is left out",
                             "train.epochs is left out", "random with one trial"})
        EXPECT_TRUE(is_noted(sweep, note)) << note;
}

TEST(DeterminedExperiment, what_has_no_equal_is_refused) {
    EXPECT_NE(refusal(determined("  name: pbt\n")).find("searcher.name: pbt has no equal here"),
              std::string::npos);
    EXPECT_NE(
        refusal(
            determined(
                "  name: asha\n  max_trials: 9\n  num_rungs: 2\n  max_length: {records: 100}\n"))
            .find("a length in records has no equal here"),
        std::string::npos);
    EXPECT_NE(
        refusal(determined("  name: asha\n  max_trials: 9\n  num_rungs: 2\n  max_length: 100\n"))
            .find("must say its unit"),
        std::string::npos);
    EXPECT_NE(
        refusal(determined(
                    "  name: asha\n  max_trials: 9\n  num_rungs: 2\n  max_length: {epochs: 2}\n"))
            .find("leaves one rung"),
        std::string::npos);
    EXPECT_NE(refusal(determined("  name: random\n  max_trials: 9\n  divisor: 3\n"))
                  .find("searcher.divisor has no meaning with random"),
              std::string::npos);
    EXPECT_NE(refusal(determined("  name: random\n  max_trials: 9\n  source_trial_id: 3\n"))
                  .find("model.init"),
              std::string::npos);
    EXPECT_NE(
        refusal("searcher: 3\nhyperparameters: []\n").find("searcher must hold keys and values"),
        std::string::npos);
    EXPECT_NE(refusal(determined("  name: grid\n", "  lr: {type: fuzzy}\n"))
                  .find("fuzzy has no equal here"),
              std::string::npos);
    EXPECT_NE(refusal(determined("  name: asha\n  max_trials: 9\n  num_rungs: 2\n  divisor: 1\n"
                                 "  max_length: {epochs: 9}\n"))
                  .find("searcher.divisor must be from 2 to 100"),
              std::string::npos);
}

}    // namespace
}    // namespace slipway
