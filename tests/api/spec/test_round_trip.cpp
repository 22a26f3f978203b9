// Goal: the normalised form of a spec decodes to an equal spec, and is its own normalised form.
// Method: the examples, and random specs from every field's bounds; the seed is printed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "api/spec/documents.h"
#include "tests/api/spec/examples.h"

namespace slipway {
namespace {

constexpr std::uint64_t seed = 20261120;

class Dice {
public:
    explicit Dice(std::uint64_t from) : engine_(from) {}

    std::int64_t whole(std::int64_t min, std::int64_t max) {
        return std::uniform_int_distribution<std::int64_t>(min, max)(engine_);
    }
    /// Any double of a sensible size, strictly between the bounds.
    double real(double above, double below) {
        return std::uniform_real_distribution<double>(std::nextafter(above, below), below)(engine_);
    }
    bool coin() { return whole(0, 1) == 1; }
    std::string text() {
        static const std::vector<std::string> texts{"a", "Größe", "日本", "a\"b\\c", "x y", "0"};
        return texts[std::size_t(whole(0, std::int64_t(texts.size()) - 1))];
    }
    template <Spelled E>
    E word() {
        return E(whole(0, std::int64_t(all_words<E>().size()) - 1));
    }
    template <class T, class Make>
    std::optional<T> maybe(Make make) {
        return coin() ? std::optional<T>(make()) : std::nullopt;
    }

private:
    std::mt19937_64 engine_;
};

LayerSpec random_layer(Dice& dice, int depth);

std::vector<LayerSpec> random_layers(Dice& dice, std::int64_t count, int depth) {
    std::vector<LayerSpec> layers;
    for (std::int64_t i = 0; i < count; ++i) {
        layers.push_back(random_layer(dice, depth));
        LayerSpec& layer = layers.back();
        const std::string before = i == 0 ? std::string(list_input) : name_in(layers, i - 1);
        const bool joins = layer.type == LayerType::add || layer.type == LayerType::concat;
        if (dice.coin()) layer.name = "layer_" + std::to_string(i);
        if (joins) layer.inputs = {before, "input"};
        if (!joins && dice.coin()) layer.inputs = {before};
    }
    return layers;
}

LayerSpec random_layer(Dice& dice, int depth) {
    LayerSpec layer;
    layer.type = dice.word<LayerType>();
    const bool is_pool = layer.type == LayerType::max_pool || layer.type == LayerType::avg_pool;
    const bool is_block = layer.type == LayerType::sequence || layer.type == LayerType::residual;
    const bool is_product = layer.type == LayerType::linear || layer.type == LayerType::conv2d;
    if (is_block && depth == 0) layer.type = LayerType::relu;
    if (is_block && depth > 0) layer.layers = random_layers(dice, dice.whole(1, 3), depth - 1);
    if (layer.type == LayerType::residual)
        layer.shortcut = random_layers(dice, dice.whole(0, 2), depth - 1);
    if (is_product) layer.bias = dice.coin();
    if (layer.type == LayerType::linear)
        layer.out_features = dice.maybe<std::int64_t>([&] { return dice.whole(1, 1 << 20); });
    if (layer.type == LayerType::conv2d) {
        layer.groups = dice.whole(1, 8);
        layer.out_channels = layer.groups * dice.whole(1, 100);
    }
    if (is_pool || layer.type == LayerType::conv2d) {
        layer.kernel_size = dice.whole(1, 1024);
        layer.padding = dice.whole(0, layer.kernel_size / 2);
        layer.stride = dice.maybe<std::int64_t>([&] { return dice.whole(1, 1024); });
    }
    if (layer.type == LayerType::batch_norm) layer.momentum = dice.real(0, 1);
    if (layer.type == LayerType::layer_norm) layer.eps = dice.real(0, 1);
    if (layer.type == LayerType::dropout) layer.rate = dice.real(0, 1);
    if (layer.type == LayerType::columns) layer.columns = {"a", dice.text()};
    if (layer.type == LayerType::embedding) {
        layer.num_embeddings = dice.whole(1, 1 << 20);
        layer.embedding_dim = dice.whole(1, 65536);
        layer.padding_idx =
            dice.maybe<std::int64_t>([&] { return dice.whole(0, layer.num_embeddings - 1); });
    }
    if (layer.type == LayerType::gelu) layer.approximate = dice.word<GeluApproximation>();
    return layer;
}

ModelSpec random_model(Dice& dice) {
    ModelSpec model;
    model.arch = dice.word<Arch>();
    if (dice.coin()) {
        model.init = InitSpec{.from = dice.text(), .strict = dice.coin()};
        model.head.replace = dice.coin();
    }
    if (dice.coin()) model.tie = {{"a.weight", "b.weight"}, {"b.weight", dice.text()}};
    if (language_task(model.arch)) {
        model.dropout = dice.real(0, 1);
        model.vocab_size = dice.maybe<std::int64_t>([&] { return dice.whole(2, 1 << 20); });
        model.max_length = dice.maybe<std::int64_t>([&] { return dice.whole(2, 65536); });
        model.heads = dice.maybe<std::int64_t>([&] { return dice.whole(1, 1024); });
        return model;
    }
    model.num_classes = dice.maybe<std::int64_t>([&] { return dice.whole(2, 100000); });
    if (model.arch == Arch::imported) model.from = dice.text();
    if (model.arch == Arch::layers) model.layers = random_layers(dice, dice.whole(1, 6), 2);
    if (model.arch != Arch::mlp) return model;
    if (dice.coin()) {
        model.hidden.emplace();
        for (auto left = dice.whole(0, 5); left > 0; --left) {
            model.hidden->push_back(dice.whole(1, 65536));
        }
    } else {
        model.width = dice.whole(1, 65536);
        model.depth = dice.whole(0, 64);
    }
    return model;
}

AugmentSpec random_step(Dice& dice) {
    AugmentSpec step;
    using enum AugmentName;
    step.name = static_cast<AugmentName>(dice.whole(0, int(random_erasing)));
    const auto is = [&](std::initializer_list<AugmentName> names) {
        return std::find(names.begin(), names.end(), step.name) != names.end();
    };
    if (is({resize, center_crop, random_crop, random_resized_crop})) {
        for (auto left = dice.whole(1, 2); left > 0; --left)
            step.size.push_back(dice.whole(1, 4096));
    }
    if (is({random_crop})) step.padding = dice.whole(0, 4096);
    if (is({random_crop, rotate, affine})) step.fill = dice.real(0, 1);
    if (is({horizontal_flip, vertical_flip, random_erasing})) step.p = dice.real(0, 1);
    if (is({rotate, affine})) step.degrees = dice.real(0, 180);
    if (is({affine})) {
        step.translate = {dice.real(0, 1), dice.real(0, 1)};
        step.shear = dice.real(0, 80);
    }
    if (is({random_resized_crop, affine, random_erasing}))
        step.scale = {dice.real(0, 0.5), dice.real(0.5, 1)};
    if (is({random_resized_crop, random_erasing})) step.ratio = {dice.real(0, 1), dice.real(1, 3)};
    if (is({color_jitter})) {
        step.brightness = dice.real(0, 1);
        step.contrast = dice.real(0, 1);
        step.saturation = dice.real(0, 1);
        step.hue = dice.real(0, 0.5);
    }
    if (is({random_erasing})) step.value = dice.real(0, 1);
    return step;
}

/// Behind the other steps, each once.
void add_mixing(Dice& dice, DataSpec& data) {
    for (const AugmentName name : {AugmentName::cutmix, AugmentName::mixup}) {
        if (dice.coin()) continue;
        AugmentSpec step;
        step.name = name;
        step.alpha = dice.real(0, 1000);
        data.augment.push_back(step);
    }
}

DataSpec random_data(Dice& dice, bool classes) {
    DataSpec data;
    data.dataset = dice.text();
    if (dice.coin()) {
        data.split.train_part = "train";
        data.split.val_part = dice.text();
    } else {
        data.split.val_fraction = dice.real(0, 1);
        data.split.seed = dice.whole(0, 9007199254740991);
        if (dice.coin()) data.split.group_by = dice.text();
        data.split.stratify = classes && dice.coin();
    }
    data.image_size = dice.maybe<std::int64_t>([&] { return dice.whole(1, 4096); });
    for (auto left = dice.whole(0, 4); left > 0; --left)
        data.augment.push_back(random_step(dice));
    data.truncated_images =
        dice.maybe<TruncatedImages>([&] { return dice.word<TruncatedImages>(); });
    data.packed = dice.coin();
    if (dice.coin()) data.version = "sha256:0123456789abcdef";
    if (dice.coin()) {
        data.normalize.emplace();
        for (auto left = dice.whole(1, 3); left > 0; --left) {
            data.normalize->mean.push_back(dice.real(-10, 10));
            data.normalize->std.push_back(dice.real(0, 10));
        }
    }
    if (dice.coin()) {
        data.columns.emplace();
        if (dice.coin())
            data.columns->label = dice.text();
        else if (!classes)
            data.columns->labels = {"x", dice.text() + "y"};
        if (dice.coin()) data.columns->features = {"a", "b"};
    }
    return data;
}

ScheduleSpec random_schedule(Dice& dice, double lr) {
    ScheduleSpec schedule;
    schedule.name = dice.word<ScheduleName>();
    switch (schedule.name) {
        case ScheduleName::constant:
            break;
        case ScheduleName::step:
            schedule.step_epochs = dice.whole(1, 100);
            schedule.gamma = dice.real(0, 1);
            break;
        case ScheduleName::cosine:
            schedule.min_lr = dice.real(0, lr);
            [[fallthrough]];
        case ScheduleName::linear:
            schedule.warmup_steps = dice.whole(0, 1999);
            break;
        case ScheduleName::one_cycle:
            schedule.warmup_fraction = dice.real(0, 1);
            schedule.div_factor = dice.real(1, 100);
            schedule.final_div_factor = dice.real(1, 1e5);
            break;
    }
    return schedule;
}

TrainSpec random_train(Dice& dice) {
    TrainSpec train;
    if (dice.coin()) {
        train.steps = dice.whole(2000, 1000000000);
    } else {
        train.epochs = dice.whole(1, 1000000);
    }
    train.batch_size_per_core = dice.whole(1, 65536);
    train.grad_accumulation = dice.whole(1, 65536);
    train.batches_per_epoch = dice.maybe<std::int64_t>([&] { return dice.whole(1, 1000); });
    train.drop_last = dice.coin();
    train.shuffle = dice.coin();
    train.seed = dice.whole(0, 9007199254740991);
    train.deterministic = dice.coin();
    train.precision = dice.word<Precision>();
    OptimizerSpec& optimizer = train.optimizer;
    optimizer.name = dice.word<OptimizerName>();
    optimizer.lr = dice.real(0, 10);
    optimizer.lr_scaling = dice.word<LrScaling>();
    optimizer.weight_decay = dice.real(0, 1);
    if (optimizer.name == OptimizerName::sgd) {
        optimizer.momentum = dice.real(0, 1);
        optimizer.nesterov = dice.coin();
    } else {
        optimizer.betas = {dice.real(0, 1), dice.real(0, 1)};
        optimizer.eps = dice.real(0, 1e-3);
    }
    optimizer.clip_norm = dice.maybe<double>([&] { return dice.real(0, 10); });
    if (dice.coin()) optimizer.decay_exempt = {std::string(one_dimensional_word), "*.bias"};
    if (dice.coin()) optimizer.groups = {{"fc.*", dice.real(0, 10)}, {"*", 1}};
    train.schedule = random_schedule(dice, optimizer.lr);
    if (train.precision != Precision::bf16_true && dice.coin()) train.ema = {dice.real(0, 1)};
    if (dice.coin())
        train.early_stopping = {"val_loss", dice.word<MetricMode>(), dice.whole(1, 1000000),
                                dice.real(0, 1)};
    return train;
}

TaskSpec random_task(Dice& dice, Arch arch) {
    TaskSpec task;
    constexpr std::array others{TaskType::classification, TaskType::multilabel,
                                TaskType::regression};
    task.type = language_task(arch).value_or(others[std::size_t(dice.whole(0, 2))]);
    task.metrics = usual_metrics(task.type);
    if (dice.coin()) task.metrics = {metrics_of(task.type)[1]};
    if (task.type == TaskType::classification) task.label_smoothing = dice.real(0, 0.5);
    return task;
}

JobSpec random_spec(Dice& dice) {
    JobSpec spec;
    if (dice.coin()) spec.name = dice.text();
    if (dice.coin()) spec.labels = {{"team", dice.text()}, {"stage", ""}};
    spec.model = random_model(dice);
    spec.task = random_task(dice, spec.model.arch);
    const bool numbers =
        spec.task.type == TaskType::multilabel || spec.task.type == TaskType::regression;
    if (numbers) spec.model.num_classes.reset();    // it would have to fit the labels
    spec.data = random_data(dice, !numbers);
    if (spec.task.type != TaskType::regression && !has_embedding(spec.model))
        add_mixing(dice, spec.data);
    if (language_task(spec.model.arch)) {
        spec.data.image_size.reset();
        spec.data.normalize.reset();
        spec.data.columns.reset();
        spec.data.augment.clear();
        spec.data.truncated_images.reset();
        spec.data.packed = false;
        spec.data.max_length = dice.maybe<std::int64_t>([&] { return dice.whole(2, 65536); });
        if (dice.coin()) {
            spec.data.tokenizer.emplace();
            spec.data.tokenizer->type = TokenizerType::bpe;
            spec.data.tokenizer->vocab_size = 300;
        }
    }
    spec.train = random_train(dice);
    if (has_batch_norm(spec.model)) spec.train.drop_last = true;
    if (dice.coin()) {
        spec.accelerator.core_id = dice.whole(1, 8);
    } else if (dice.coin()) {
        spec.accelerator.cores = 8;
    } else if (dice.coin()) {
        spec.accelerator.cores = 8 * dice.whole(2, 256);
        spec.accelerator.slice = SliceSpec{.cores = spec.accelerator.cores,
                                           .gradient_exchange = dice.word<GradientExchange>()};
    }
    spec.accelerator.memory_bytes =
        dice.maybe<std::int64_t>([&] { return dice.whole(1 << 20, std::int64_t(1) << 40); });
    spec.checkpoint.every_steps = dice.whole(0, 1000);
    spec.checkpoint.every_epochs = dice.whole(0, 1000);
    spec.checkpoint.save_final = dice.whole(0, 1) == 0;
    const std::string_view metric = to_string(spec.task.metrics.back());
    spec.checkpoint.best = {dice.coin() ? "val_loss" : fmt::format("val_{}", metric),
                            dice.word<MetricMode>(), dice.whole(0, 100)};
    if (spec.train.early_stopping) spec.train.early_stopping->metric = spec.checkpoint.best.metric;
    spec.checkpoint.keep_last = dice.whole(1, 100);
    spec.monitor.log_every_steps = dice.whole(1, 1000000);
    spec.limits.max_wall_s = dice.maybe<double>([&] { return dice.real(0, 1e6); });
    spec.limits.max_core_s = dice.maybe<double>([&] { return dice.real(0, 1e6); });
    spec.limits.max_restarts = dice.whole(0, 1000);
    const Instant start{std::chrono::microseconds(dice.whole(0, 4000000000000000))};
    if (dice.coin()) spec.limits.start_after = start;
    if (dice.coin()) spec.limits.valid_until = start + std::chrono::microseconds(1);
    spec.queue.job_class = dice.word<QueueClass>();
    spec.queue.preemptible = dice.coin();
    if (dice.coin()) {
        spec.queue.group = "sweep-1";
        spec.queue.pool = "slurm";
        spec.queue.group_limit = dice.maybe<std::int64_t>([&] { return dice.whole(1, 10000); });
    }
    return spec;
}

void expect_round_trip(const JobSpec& spec) {
    const Json json = encode(spec);
    // Through text: what the database and the run folder keep.
    const Decoded<JobSpec> decoded = decode_job_spec(parse_json(json.dump()).value());
    ASSERT_TRUE(decoded.ok()) << json.dump(2) << joined_messages(decoded.problems);
    EXPECT_TRUE(decoded.value == spec) << json.dump(2);
    EXPECT_EQ(encode(decoded.value), json);
    // A prediction from the schema of the contract: nothing but the documented fields.
    EXPECT_TRUE(check_document("JobSpec", json).empty()) << json.dump(2);
}

TEST(RoundTrip, a_normalised_spec_decodes_to_an_equal_spec) {
    Dice dice(seed);
    for (int round = 0; round < 300 && !testing::Test::HasFailure(); ++round) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
        expect_round_trip(random_spec(dice));
    }
}

TEST(RoundTrip, the_examples_come_back_too) {
    for (const std::string& name : example_names("valid_")) {
        SCOPED_TRACE(name);
        expect_round_trip(decode_job_spec(example(name)).value);
    }
}

TEST(RoundTrip, fields_of_other_variants_are_left_out) {
    const Json json = encode(decode_job_spec(example("valid_core_5.json")).value);
    EXPECT_FALSE(json["accelerator"].contains("cores"));
    EXPECT_FALSE(json["train"].contains("steps"));
    EXPECT_FALSE(json["train"]["optimizer"].contains("momentum"));
    EXPECT_FALSE(json["model"].contains("width"));
    EXPECT_EQ(json["train"]["optimizer"]["eps"], 1e-8);
    const Json parts = encode(decode_job_spec(example("valid_named_parts.json")).value);
    EXPECT_FALSE(parts["data"]["split"].contains("val_fraction"));
    const Json hidden = encode(decode_job_spec(example("valid_steps_sgd.json")).value);
    EXPECT_FALSE(hidden["model"].contains("width"));
    EXPECT_EQ(hidden["data"]["normalize"]["mean"], Json::array({0.0}));
}

}    // namespace
}    // namespace slipway
