#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "tests/api/spec/examples.h"

namespace slipway {
namespace {

Decoded<JobSpec> decode_text(std::string_view text) {
    return decode_job_spec(parse_json(text).value());
}

ParsedJson as_request(const Json& json) {
    return {.value = json, .duplicates = {}};
}

TEST(JobSpec, every_valid_example_decodes) {
    ASSERT_GE(example_names("valid_").size(), 7U);
    for (const std::string& name : example_names("valid_")) {
        const Decoded<JobSpec> decoded = decode_job_spec(example(name));
        EXPECT_TRUE(decoded.ok()) << name << "\n" << joined_messages(decoded.problems);
    }
}

TEST(JobSpec, every_invalid_example_gives_its_problems_in_order) {
    ASSERT_GE(invalid_cases("invalid_job_specs.json").size(), 80U);
    for (const InvalidCase& one : invalid_cases("invalid_job_specs.json")) {
        expect_problems(one, decode_job_spec(one.document).problems);
    }
}

TEST(JobSpec, defaults_are_those_of_the_contract) {
    const JobSpec spec = decode_job_spec(example("valid_minimal.json")).value;
    EXPECT_EQ(spec.name, "");
    EXPECT_EQ(spec.project, "default");
    EXPECT_EQ(spec.train.batch_size_per_core, 32);
    EXPECT_TRUE(spec.train.drop_last && spec.train.shuffle && spec.train.deterministic);
    EXPECT_EQ(spec.accelerator.cores, 1);
    EXPECT_EQ(spec.checkpoint.every_epochs, 1);
    EXPECT_EQ(spec.checkpoint.keep_last, 2);
    EXPECT_EQ(spec.checkpoint.best.metric, "val_loss");
    EXPECT_EQ(spec.monitor.log_every_steps, 50);
    EXPECT_EQ(spec.limits.max_restarts, 3);
    EXPECT_EQ(spec.queue.job_class, QueueClass::normal);
    EXPECT_EQ(spec.data.split.val_fraction, 0.1);
    EXPECT_EQ(spec.train.optimizer.betas, (std::array{0.9, 0.999}));
}

TEST(JobSpec, every_field_arrives) {
    const JobSpec spec = decode_job_spec(example("valid_every_field.json")).value;
    EXPECT_EQ(spec.labels.at("team"), "vision");
    EXPECT_EQ(spec.model.depth, 3);
    EXPECT_EQ(spec.data.split.group_by, "writer");
    EXPECT_EQ(spec.data.normalize->std, std::vector<double>{0.3081});
    EXPECT_EQ(spec.data.columns->label, "digit");
    ASSERT_EQ(spec.data.augment.size(), 5U);
    EXPECT_EQ(spec.data.augment[0].size, std::vector<std::int64_t>{28});
    EXPECT_EQ(spec.data.augment[1].translate, (std::array{0.1, 0.1}));
    EXPECT_EQ(spec.data.augment[2].scale, (std::array{0.02, 0.33}));    // its own default
    EXPECT_EQ(spec.data.augment[3].alpha, 0.2);
    EXPECT_EQ(spec.data.augment[4].alpha, 1);
    EXPECT_EQ(spec.data.truncated_images, TruncatedImages::skip);
    EXPECT_TRUE(spec.data.packed);
    EXPECT_EQ(spec.train.schedule.name, ScheduleName::step);
    EXPECT_EQ(spec.train.precision, Precision::bf16);
    EXPECT_EQ(spec.train.grad_accumulation, 4);
    EXPECT_EQ(spec.checkpoint.best.mode, MetricMode::max);
    EXPECT_EQ(to_rfc3339(*spec.limits.valid_until), "2030-01-02T06:00:00.000000Z");
    EXPECT_EQ(spec.monitor.metrics_report, MetricsReport::epoch);
    EXPECT_EQ(spec.monitor.sinks, std::vector{SinkName::tensorboard});
    EXPECT_FALSE(spec.queue.preemptible);
    const JobSpec core = decode_job_spec(example("valid_core_5.json")).value;
    EXPECT_EQ(core.accelerator.core_id, 5);
    EXPECT_EQ(core.accelerator.cores, 1);
    const JobSpec slice = decode_job_spec(example("valid_slice.json")).value;
    EXPECT_EQ(slice.accelerator.slice,
              (SliceSpec{.cores = 32, .gradient_exchange = GradientExchange::bf16}));
    EXPECT_EQ(slice.accelerator.cores, 32);
    EXPECT_TRUE(exchanges_bf16(slice.accelerator));
    EXPECT_FALSE(exchanges_bf16({.cores = 16, .slice = SliceSpec{.cores = 16}}));
    EXPECT_FALSE(exchanges_bf16({.cores = 8}));
}

TEST(JobSpec, effective_values_of_a_slice_count_the_replicas_of_all_hosts) {
    const JobSpec spec = decode_job_spec(example("valid_slice.json")).value;
    const EffectiveValues values = effective(spec);
    EXPECT_EQ(values.world_size, 32);
    EXPECT_EQ(values.global_batch, 32 * spec.train.batch_size_per_core);
    EXPECT_DOUBLE_EQ(values.lr, 32 * spec.train.optimizer.lr);
}

TEST(JobSpec, one_host_of_a_slice_has_eight_cores) {
    const AcceleratorSpec slice{.cores = 32, .slice = SliceSpec{.cores = 32}, .memory_bytes = 5};
    EXPECT_EQ(on_one_host(slice), (AcceleratorSpec{.cores = 8, .memory_bytes = 5}));
    const AcceleratorSpec one{.core_id = 3};
    EXPECT_EQ(on_one_host(one), one);
}

TEST(JobSpec, every_field_of_training_arrives) {
    const JobSpec spec = decode_job_spec(example("valid_tuned.json")).value;
    EXPECT_EQ(spec.model.freeze, (std::vector<std::string>{"conv1.*", "bn1.*", "layer1.*"}));
    const OptimizerSpec& optimizer = spec.train.optimizer;
    EXPECT_EQ(optimizer.name, OptimizerName::adamw);
    EXPECT_EQ(optimizer.clip_norm, 1.0);
    EXPECT_EQ(optimizer.decay_exempt, std::vector<std::string>{"one_dimensional"});
    EXPECT_EQ(optimizer.groups, (std::vector<ParameterGroupSpec>{{"fc.*", 10}}));
    EXPECT_EQ(spec.train.schedule.warmup_fraction, 0.2);
    EXPECT_EQ(spec.train.ema->decay, 0.999);
    EXPECT_EQ(spec.train.early_stopping->mode, MetricMode::max);
    EXPECT_EQ(spec.train.early_stopping->patience, 3);
}

TEST(JobSpec, sync_batch_norm_is_for_networks_that_have_one) {
    Json json = example("valid_minimal.json");
    json["model"] = {{"arch", "resnet18"}, {"sync_batch_norm", true}};
    EXPECT_TRUE(decode_job_spec(json).value.model.sync_batch_norm);
    json["model"]["arch"] = "lenet";
    EXPECT_FALSE(decode_job_spec(json).ok());
    json["model"] = {{"arch", "layers"},
                     {"layers", {{{"type", "flatten"}}, {{"type", "linear"}}}},
                     {"sync_batch_norm", true}};
    const auto refused = decode_job_spec(json);
    ASSERT_EQ(refused.problems.size(), 1U);
    EXPECT_EQ(refused.problems[0].pointer, "/model/sync_batch_norm");
    EXPECT_EQ(refused.problems[0].code, "inconsistent");
}

TEST(JobSpec, the_best_checkpoint_is_the_greatest_accuracy_unless_said_otherwise) {
    Json json = example("valid_minimal.json");
    json["checkpoint"]["best"]["metric"] = "val_accuracy";
    EXPECT_EQ(decode_job_spec(json).value.checkpoint.best.mode, MetricMode::max);
    json["checkpoint"]["best"]["mode"] = "min";
    EXPECT_EQ(decode_job_spec(json).value.checkpoint.best.mode, MetricMode::min);
}

TEST(JobSpec, each_task_has_metrics_of_its_own) {
    Json json = example("valid_minimal.json");
    for (const std::string_view type : all_words<TaskType>()) {
        json["task"] = {{"type", type}};
        const TaskType task = *parse_word<TaskType>(type);
        const char* const arch = task == TaskType::masked_lm   ? "bert_tiny"
                                 : task == TaskType::causal_lm ? "gpt_tiny"
                                                               : "lenet";
        json["model"] = {{"arch", arch}};
        ASSERT_FALSE(metrics_of(task).empty());
        EXPECT_EQ(decode_job_spec(json).value.task.metrics, usual_metrics(task));
        for (const std::string_view metric : all_words<TaskMetric>()) {
            json["task"]["metrics"] = {metric};
            const bool own = std::ranges::find(metrics_of(task), *parse_word<TaskMetric>(metric)) !=
                             metrics_of(task).end();
            EXPECT_EQ(decode_job_spec(json).ok(), own) << type << " " << metric;
        }
    }
}

TEST(JobSpec, any_number_of_the_validation_may_choose_the_best_and_the_better_one_does) {
    Json json = example("valid_minimal.json");
    json["task"] = {{"type", "regression"}};
    json["checkpoint"]["best"]["metric"] = "val_r2";
    EXPECT_EQ(decode_job_spec(json).value.checkpoint.best.mode, MetricMode::max);
    json["checkpoint"]["best"]["metric"] = "val_mae";
    EXPECT_EQ(decode_job_spec(json).value.checkpoint.best.mode, MetricMode::min);
    json["task"]["type"] = "multilabel";
    EXPECT_FALSE(decode_job_spec(json).ok());
    json["checkpoint"]["best"]["metric"] = "val_auc";
    EXPECT_EQ(decode_job_spec(json).value.checkpoint.best.mode, MetricMode::max);
}

TEST(JobSpec, anything_but_an_object_is_refused) {
    for (const std::string text : {"null", "[]", "\"a\"", "5", "true"}) {
        const Decoded<JobSpec> decoded = decode_text(text);
        EXPECT_EQ(summary_of(decoded.problems), " wrong_type\n") << text;
    }
}

TEST(JobSpec, null_is_refused_with_the_way_out) {
    Json json = example("valid_minimal.json");
    json["train"]["seed"] = nullptr;
    const Decoded<JobSpec> decoded = decode_job_spec(json);
    EXPECT_EQ(summary_of(decoded.problems), "/train/seed wrong_type\n");
    EXPECT_NE(decoded.problems[0].message.find("leave the field out"), std::string::npos);
}

// Goal: a name reads as what it is, wherever it is shown.
TEST(JobSpec, names_and_labels_do_not_turn_the_direction_of_writing) {
    for (const std::string mark : {"\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066",
                                   "\u2067", "\u2068", "\u2069", "\u009b", "\n"}) {
        Json json = example("valid_minimal.json");
        json["name"] = "a" + mark + "gpj.b";
        json["labels"] = {{"team", "x" + mark}};
        EXPECT_EQ(summary_of(decode_job_spec(as_request(json)).problems),
                  "/labels/team bad_format\n/name bad_format\n")
            << mark;
    }
    Json json = example("valid_minimal.json");
    json["name"] = "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627";
    EXPECT_EQ(summary_of(decode_job_spec(as_request(json)).problems), "");
}

// Goal: what builds before that rule stored is read, and so are columns as their files have them.
TEST(JobSpec, marks_of_direction_stay_in_stored_names_and_in_columns) {
    Json json = example("valid_minimal.json");
    json["name"] = "a\u202egpj.b";
    json["labels"] = {{"team", "x\u200f"}};
    const Decoded<JobSpec> stored = decode_job_spec(json);
    EXPECT_EQ(summary_of(stored.problems), "");
    EXPECT_EQ(stored.value.name, "a\u202egpj.b");

    Json table = example("valid_minimal.json");
    for (const std::string mark : {"\u200e", "\u200f", "\u061c"}) {
        table["data"]["columns"] = {{"label", mark + "\u05e9"}};
        EXPECT_EQ(summary_of(decode_job_spec(as_request(table)).problems), "") << mark;
        EXPECT_EQ(decode_job_spec(as_request(table)).value.data.columns->label, mark + "\u05e9");
    }
}

TEST(JobSpec, a_number_beyond_a_double_is_a_problem_of_its_field) {
    const Decoded<JobSpec> decoded = decode_text(
        R"({"model":{"arch":"lenet"},"task":{"type":"classification"},"data":{"dataset":"d"},
            "train":{"epochs":1e999,"optimizer":{"name":"adam","lr":1e999}}})");
    EXPECT_EQ(summary_of(decoded.problems),
              "/train/epochs out_of_bounds\n/train/optimizer/lr out_of_bounds\n");
    EXPECT_NE(decoded.problems[1].message.find("too large"), std::string::npos);
}

TEST(JobSpec, a_declared_network_has_so_many_layers_and_no_more) {
    Json json = example("valid_minimal.json");
    json["model"] = {{"arch", "layers"}, {"layers", Json::array()}};
    Json block{{"type", "sequence"}, {"layers", Json::array()}};
    for (int i = 0; i < 499; ++i)
        block["layers"].push_back({{"type", "relu"}});
    json["model"]["layers"] = {block, block};
    EXPECT_EQ(summary_of(decode_job_spec(json).problems), "");
    json["model"]["layers"].push_back({{"type", "linear"}});
    const auto problems = decode_job_spec(json).problems;
    EXPECT_EQ(summary_of(problems), "/model/layers out_of_bounds\n");
    EXPECT_NE(problems.at(0).message.find("got 1001"), std::string::npos);
}

TEST(JobSpec, batch_norm_is_found_within_blocks) {
    const JobSpec spec = decode_job_spec(example("valid_layers.json")).value;
    EXPECT_TRUE(has_batch_norm(spec.model));
    ModelSpec model = spec.model;
    model.layers[3].layers.erase(model.layers[3].layers.begin() + 1);
    EXPECT_TRUE(has_batch_norm(model));
    model.layers.erase(model.layers.begin() + 1);
    EXPECT_FALSE(has_batch_norm(model));
    model.layers[2].shortcut.push_back({.type = LayerType::batch_norm});
    EXPECT_TRUE(has_batch_norm(model));
}

TEST(JobSpec, duplicate_keys_are_told_together_with_other_problems) {
    const Decoded<JobSpec> decoded = decode_text(
        R"({"name":"a","name":"b","model":{"arch":"lenet"},"task":{"type":"classification"},
            "data":{"dataset":"d","dataset":"e"},
            "train":{"epochs":0,"optimizer":{"name":"adam","lr":1}}})");
    EXPECT_EQ(summary_of(decoded.problems),
              "/data/dataset duplicate_key\n/name duplicate_key\n/train/epochs out_of_bounds\n");
}

TEST(JobSpec, whole_numbers_may_be_written_with_a_fraction_of_nothing) {
    Json json = example("valid_minimal.json");
    json["train"]["epochs"] = 5.0;
    EXPECT_EQ(decode_job_spec(json).value.train.epochs, 5);
}

TEST(JobSpec, a_flood_of_mistakes_is_cut) {
    Json json = example("valid_minimal.json");
    for (int index = 0; index < 5000; ++index)
        json["unknown_" + std::to_string(index)] = 1;
    EXPECT_EQ(decode_job_spec(json).problems.size(), 100U);
}

TEST(JobSpec, names_of_unknown_fields_are_shortened_in_messages) {
    Json json = example("valid_minimal.json");
    json[std::string(5000, 'x') + "\n"] = 1;
    const auto problems = decode_job_spec(json).problems;
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_LT(problems[0].message.size(), 500U);
}

struct ScalingCase {
    LrScaling scaling;
    std::int64_t cores;
    double lr;
};

TEST(JobSpec, effective_values_follow_the_cores) {
    JobSpec spec = decode_job_spec(example("valid_minimal.json")).value;
    spec.train.optimizer.lr = 0.5;
    for (const ScalingCase& one :
         {ScalingCase{LrScaling::none, 8, 0.5}, ScalingCase{LrScaling::linear, 1, 0.5},
          ScalingCase{LrScaling::linear, 8, 4.0},
          ScalingCase{LrScaling::sqrt, 8, 0.5 * std::sqrt(8.0)}}) {
        spec.train.optimizer.lr_scaling = one.scaling;
        spec.accelerator.cores = one.cores;
        for (const OptimizerName name :
             {OptimizerName::sgd, OptimizerName::adam, OptimizerName::adamw, OptimizerName::lamb}) {
            spec.train.optimizer.name = name;
            EXPECT_EQ(effective(spec).lr, one.lr) << to_string(name);
        }
        const EffectiveValues values = effective(spec);
        EXPECT_EQ(values.world_size, one.cores);
        EXPECT_EQ(values.global_batch, 32 * one.cores);
        EXPECT_EQ(encode(values)["precision"], "f32");
    }
}

TEST(JobSpec, the_global_batch_has_all_batches_of_a_step) {
    JobSpec spec = decode_job_spec(example("valid_minimal.json")).value;
    EXPECT_EQ(spec.train.grad_accumulation, 1);
    spec.train.grad_accumulation = 4;
    spec.accelerator.cores = 8;
    EXPECT_EQ(effective(spec).global_batch, 32 * 8 * 4);
}

TEST(JobSpec, the_effective_precision_is_the_one_asked_for) {
    Json json = example("valid_minimal.json");
    for (const std::string precision : {"f32", "bf16", "bf16_true"}) {
        json["train"]["precision"] = precision;
        const Decoded<JobSpec> decoded = decode_job_spec(json);
        ASSERT_TRUE(decoded.ok()) << joined_messages(decoded.problems);
        EXPECT_EQ(encode(effective(decoded.value))["precision"], precision);
    }
}

}    // namespace
}    // namespace slipway
