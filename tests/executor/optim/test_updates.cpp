// Goal: an optimizer with a schedule moves weights as torch's does; so do clipping, parameters
// without decay, groups, frozen parameters and the moving average.
// Method: a small network is trained for 20 steps, its step run by the naive evaluator, and its
// weights are compared with those of reference/updates.json (reference/make_updates.py, float64).
// Tolerance 1e-6 of the largest weight: 20 steps of float32 (2^-24 each) move it by 6e-7 at most,
// with adamw, whose factor of decay is rounded once and used in each step.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "api/spec/schedule.h"
#include "executor/autodiff/gradients.h"
#include "executor/optim/update_plan.h"
#include "executor/passes/passes.h"
#include "executor/reference/evaluate.h"
#include "tests/executor/nn/torch_numbers.h"

namespace slipway {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t steps = 20, batch = 8, features = 6, hidden = 5, classes = 3;

const Json& reference() {
    static const Json all = Json::parse(
        std::ifstream(SLIPWAY_SOURCE_DIR "/tests/executor/optim/reference/updates.json"));
    return all;
}

struct Named {
    std::string name;
    Dims dims;
};

const std::vector<Named>& network() {
    static const std::vector<Named> parameters{
        {"fc1.weight", {hidden, features}}, {"fc1.bias", {hidden}},
        {"norm.weight", {hidden}},          {"norm.bias", {hidden}},
        {"fc2.weight", {classes, hidden}},  {"fc2.bias", {classes}}};
    return parameters;
}

Array initial(const Named& parameter) {
    Array value = reals(parameter.name, parameter.dims);
    if (parameter.name == "norm.weight")
        for (float& one : value.as<float>())
            one += 1;
    return value;
}

Tensor mean_loss(const std::vector<Tensor>& p, const Tensor& x, const Tensor& labels) {
    const Tensor normal = layer_norm(linear(x, p[0], p[1]), p[2], p[3], 1e-5);
    const Tensor losses = cross_entropy(linear(tanh(normal), p[4], p[5]), labels);
    return reduce(losses, {0}, Reduction::add) * constant(1.0 / double(batch));
}

/// A case of the file, in our terms.
struct Setting {
    UpdatePlan plan;
    Hyper hyper;
    Schedule schedule;

    explicit Setting(const Json& one)
        : plan(find_optimizer(one.at("optimizer").get<std::string>())) {
        const Json& given = one.at("settings");
        const auto betas = given.value("betas", std::array{0.0, 0.0});
        hyper = {.lr = one.at("lr").get<double>(),
                 .momentum = given.value("momentum", 0.0),
                 .weight_decay = given.at("weight_decay").get<double>(),
                 .beta1 = betas[0],
                 .beta2 = betas[1],
                 .eps = given.value("eps", 0.0),
                 .clip_norm = one.value("clip_norm", 0.0),
                 .ema_decay = one.value("ema_decay", 0.0)};
        plan.clips = one.contains("clip_norm");
        plan.averages = one.contains("ema_decay");
        if (one.contains("lr_scale")) {
            plan.groups = 2;
            hyper.lr_scales = {one.at("lr_scale").get<double>()};
        }
        const auto is = [&](const char* what, const std::string& name) {
            return one.contains(what) && name.starts_with(one.at(what).get<std::string>());
        };
        for (const Named& parameter : network())
            plan.rules.push_back(
                {.trained = !is("frozen", parameter.name),
                 .decays = !one.contains("exempt") || parameter.dims.size() > 1,
                 .group = is("scaled", parameter.name) ? std::size_t(1) : std::size_t(0)});
        schedule = schedule_of(one.at("schedule").get<std::string>());
    }

    static Schedule schedule_of(const std::string& name) {
        Schedule schedule{.steps_total = steps,
                          .warmup_steps = 5,
                          .period_steps = 7,
                          .gamma = 0.5,
                          .min_lr = 0.005};
        if (name.ends_with("without warm-up")) schedule.warmup_steps = 0;
        if (name == "one_cycle with other factors")
            schedule = {.steps_total = steps,
                        .warmup_fraction = 0.45,
                        .div_factor = 4,
                        .final_div_factor = 50};
        using enum ScheduleKind;
        using Word = std::pair<const char*, ScheduleKind>;
        for (const auto& [word, kind] :
             {Word{"constant", constant}, Word{"step", step}, Word{"cosine", cosine},
              Word{"linear", linear}, Word{"one_cycle", one_cycle}})
            if (name.starts_with(word)) schedule.kind = kind;
        if (schedule.kind == constant || schedule.kind == step || schedule.kind == one_cycle)
            schedule.warmup_steps = 0;
        return schedule;
    }
};

Array labels_of(std::int64_t step) {
    Array labels({DType::i32, {batch}});
    for (std::int64_t i = 0; i < batch; ++i)
        labels.as<std::int32_t>()[std::size_t(i)] = std::int32_t((i * 5 + step) % classes);
    return labels;
}

/// All parameters' values one after the other; what is frozen as it was.
struct Trained {
    std::vector<double> weights, averages, norms;
};

class Training {
public:
    explicit Training(Setting setting)
        : setting_(std::move(setting)), hyper_(setting_.plan.groups) {
        std::vector<Tensor> parameters;
        for (const Named& one : network())
            parameters.push_back(input({DType::f32, one.dims}, Placement::replicated, one.name));
        const Tensor x = input({DType::f32, {batch, features}}, Placement::replicated, "x");
        const Tensor labels = input({DType::i32, {batch}}, Placement::replicated, "labels");
        const UpdatePlan& plan = setting_.plan;
        const auto trained = plan.chosen(parameters, true);
        const OptimizerStep step = trace_optimizer(
            plan, hyper_, parameters, gradients(mean_loss(parameters, x, labels), trained));
        graph_ = {step.inputs, step.outputs, {}};
        for (const Tensor& frozen : plan.chosen(parameters, false))
            graph_.inputs.push_back(frozen);
        for (const Tensor& input : {hyper_.input(), x, labels})
            graph_.inputs.push_back(input);
        if (plan.clips) graph_.outputs.push_back(step.gradient_norm);
        moving_ = step.outputs.size();
        graph_ = merge_common(expand_composites(graph_, {}));    // each node is evaluated once
        begin();
    }

    const Graph& graph() const { return graph_; }

    Trained run() {
        Trained result;
        for (std::int64_t step = 0; step < steps; ++step) {
            Hyper numbers_now = setting_.hyper;
            numbers_now.lr = lr_at(setting_.schedule, setting_.hyper.lr, step);
            numbers_now.step = step + 1;
            values_[values_.size() - 3] = {hyper_values(numbers_now)};
            values_[values_.size() - 2] = {reals(fmt_x(step), {batch, features})};
            values_.back() = {labels_of(step)};
            const auto outputs = evaluate(graph_, values_, 1);
            std::copy_n(outputs.begin(), moving_, values_.begin());
            if (setting_.plan.clips)
                result.norms.push_back(double(outputs.back()[0].as<float>()[0]));
        }
        result.weights = flat(false);
        if (setting_.plan.averages) result.averages = flat(true);
        return result;
    }

private:
    static std::string fmt_x(std::int64_t step) { return "x" + std::to_string(step); }

    void begin() {
        const auto trained = setting_.plan.chosen(network(), true);
        const auto names = setting_.plan.state_names();
        for (const Named& one : trained)
            values_.push_back({initial(one)});
        for (const Named& one : trained)
            for (const std::string_view name : names)
                values_.push_back(
                    {name == average_state ? initial(one) : Array({DType::f32, one.dims})});
        for (const Named& one : setting_.plan.chosen(network(), false))
            values_.push_back({initial(one)});
        values_.resize(values_.size() + 3);
    }

    std::vector<double> flat(bool averages) const {
        const std::size_t states = setting_.plan.state_names().size();
        const std::size_t count = setting_.plan.chosen(network(), true).size();
        std::size_t trained = 0, frozen = moving_;
        std::vector<double> all;
        for (std::size_t i = 0; i < network().size(); ++i) {
            std::size_t at = frozen;
            if (setting_.plan.rule(i).trained) {
                at = averages ? count + trained * states + states - 1 : trained;
                ++trained;
            } else {
                ++frozen;
            }
            for (const float value : values_[at][0].as<float>())
                all.push_back(double(value));
        }
        return all;
    }

    Setting setting_;
    HyperInput hyper_;
    Graph graph_;
    std::vector<ReferenceValue> values_;
    std::size_t moving_ = 0;    ///< inputs and outputs that are parameters and optimizer state
};

void expect_near(const std::vector<double>& found, const Json& expected, const std::string& what) {
    ASSERT_EQ(found.size(), expected.size()) << what;
    double largest = 0, worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        largest = std::max(largest, std::abs(expected[i].get<double>()));
        worst = std::max(worst, std::abs(found[i] - expected[i].get<double>()));
    }
    EXPECT_LE(worst, 1e-6 * largest) << what;
}

TEST(Updates, are_those_of_torch_for_each_optimizer_and_schedule) {
    const Json& cases = reference().at("cases");
    ASSERT_EQ(cases.size(), 6U * 5U + 10U);
    for (const Json& one : cases) {
        Json shown = one;
        for (const char* numbers_of : {"weights", "averages", "norms"})
            shown.erase(numbers_of);
        const Trained trained = Training(Setting(one)).run();
        expect_near(trained.weights, one.at("weights"), shown.dump());
        expect_near(trained.averages, one.value("averages", Json::array()), shown.dump());
        expect_near(trained.norms, one.value("norms", Json::array()), shown.dump());
    }
}

TEST(Schedule, rates_are_those_of_torch) {
    const Json& all = reference().at("rates");
    ASSERT_EQ(all.size(), 8U);
    for (const auto& [name, rates] : all.items()) {
        const Schedule schedule = Setting::schedule_of(name);
        for (std::int64_t step = 0; step < steps; ++step)
            EXPECT_NEAR(lr_at(schedule, 0.3, step), rates[std::size_t(step)].get<double>(), 1e-12)
                << name << " step " << step;
    }
}

// Goal: a sweep over numbers runs one program; a rule makes another.
TEST(Updates, numbers_are_no_part_of_the_program) {
    const Json& one = reference().at("cases").back();
    Setting setting(one), other(one);
    other.hyper.lr = 0.5;
    other.hyper.clip_norm = 3;
    other.hyper.ema_decay = 0.5;
    other.hyper.lr_scales = {7};
    const auto hash = [](const Setting& of) { return hash_of(Training(of).graph()); };
    EXPECT_EQ(hash(setting), hash(other));
    other.plan.rules[1].decays = !other.plan.rules[1].decays;
    EXPECT_NE(hash(setting), hash(other));
}

}    // namespace
}    // namespace slipway
