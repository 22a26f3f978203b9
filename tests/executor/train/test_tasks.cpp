// Goal: an evaluation counts every sample once and padding never, in sums and in ranks, whatever
// the number of cores, the batch and the size of the set.
// Method: a linear network of quarters on samples of quarters, whose outputs are exact in f32, so
// that metrics can be compared with what is counted here sample by sample, pair by pair, in double.
#include "executor/train/task.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "executor/engine/engine.h"
#include "executor/nn/linear.h"
#include "executor/tensor/random.h"
#include "executor/train/evaluate.h"

namespace slipway {
namespace {

constexpr std::int64_t features = 3, labels = 4;    // of classes: 4 of them
constexpr std::int64_t samples_max = 1001;

float quarters(RandomStream& random, std::uint64_t distinct) {
    return (float(random.next_below(distinct)) - float(distinct / 2)) / 4;
}

/// Labels: 0 to 3 as a class; as numbers two columns of quarters, one of them far from zero, one
/// that is always 1, and one that only the last of 1001 samples has.
class MadeSamples final : public Samples {
public:
    explicit MadeSamples(TaskType type)
        : Samples(type == TaskType::classification ? class_sample_shape({features})
                                                   : number_sample_shape({features}, labels)),
          type_(type) {}

    std::vector<float> features_of(std::int64_t sample) const {
        RandomStream random(5, site_augment, std::uint64_t(sample));
        std::vector<float> x(features);
        for (float& one : x)
            one = quarters(random, 9);
        return x;
    }
    std::vector<float> labels_of(std::int64_t sample) const {
        RandomStream random(6, site_augment, std::uint64_t(sample));
        const bool regresses = type_ == TaskType::regression;
        const auto draw = [&] {
            return regresses ? quarters(random, 30) : float(random.next_below(3) == 0);
        };
        return {draw(), draw() + (regresses ? 5000.0F : 0.0F), 1, float(sample == samples_max - 1)};
    }
    std::int32_t class_of(std::int64_t sample) const {
        return std::int32_t(RandomStream(7, site_augment, std::uint64_t(sample)).next_below(4));
    }

    void read(const SampleUse& use, const SampleRow& row) const override {
        std::ranges::copy(features_of(use.sample), floats_of(row.features).begin());
        if (type_ == TaskType::classification)
            integers_of(row.labels)[0] = class_of(use.sample);
        else
            std::ranges::copy(labels_of(use.sample), floats_of(row.labels).begin());
    }

private:
    const TaskType type_;
};

const std::vector<std::string> names{"sick", "far, away", "all", "last"};

JobSpec spec_of(TaskType type, std::vector<TaskMetric> metrics) {
    JobSpec spec;
    spec.task.type = type;
    spec.task.metrics = std::move(metrics);
    return spec;
}

struct Setting {
    std::int64_t cores, batch;
};

/// A linear network of quarters, and what it says of a sample.
struct Linear4 {
    Model model;

    Linear4() {
        Init init(3);
        const auto head = Linear::create(model.parameters, init, "head", features, labels);
        RandomStream random(8, site_augment, 0);
        for (Parameter& parameter : model.parameters.all())
            for (float& value : parameter.value.as<float>())
                value = quarters(random, 17);
        model.forward = [head](const Tensor& x, ForwardPass&) { return head(x); };
    }
    std::vector<float> outputs_of(const std::vector<float>& x) const {
        const auto weight = model.parameters.all()[0].value.as<float>();
        const auto bias = model.parameters.all()[1].value.as<float>();
        std::vector<float> y(bias.begin(), bias.end());
        for (std::size_t i = 0; i < y.size(); ++i)
            for (std::size_t j = 0; j < x.size(); ++j)
                y[i] += weight[i * x.size() + j] * x[j];
        return y;
    }
};

/// Runs one task's evaluation at a setting, for sets of any size.
class Evaluator {
public:
    Evaluator(const JobSpec& spec, const Setting& setting)
        : task(make_task(spec, names)),
          samples(spec.task.type),
          setting_(setting),
          engine_({.cores = int(setting.cores), .workers = 2, .precision = PrecisionPolicy::f32}),
          program_(compiled()) {}

    MetricSums operator()(std::int64_t count) {
        std::vector<std::int64_t> chosen(std::size_t(count), 0);
        std::iota(chosen.begin(), chosen.end(), samples_max - count);
        std::vector<Array> network;
        for (const Parameter& parameter : net.model.parameters.all())
            network.push_back(parameter.value);
        return evaluate(engine_, program_, network,
                        {.samples = samples,
                         .chosen = chosen,
                         .batch_size_per_core = setting_.batch,
                         .cores = setting_.cores});
    }

    Linear4 net;
    Task task;
    MadeSamples samples;

private:
    StepProgram compiled() {
        TracedStep step = trace_evaluation_step(net.model, task, {setting_.batch, samples.shape()});
        return {engine_.compile(step.graph), std::move(step.bindings)};
    }

    Setting setting_;
    Engine engine_;
    StepProgram program_;
};

using Wanted = std::map<std::string, double>;

/// 1e-5: sums of up to a thousand losses near 1 in f32.
void expect_values(const MetricValues& found, const Wanted& wanted, const std::string& where) {
    Wanted given(found.begin(), found.end());
    for (const auto& [name, value] : wanted) {
        ASSERT_TRUE(given.contains(name)) << where << name;
        EXPECT_NEAR(given[name], value, 1e-5 * std::max(1.0, std::abs(value))) << where << name;
    }
    EXPECT_EQ(given.size(), wanted.size()) << where;
}

double area_pair_by_pair(const std::vector<float>& scores, const std::vector<float>& there) {
    double won = 0;
    double pairs = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (there[i] < 0.5F) continue;
        for (std::size_t j = 0; j < scores.size(); ++j) {
            if (there[j] >= 0.5F) continue;
            won += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
            pairs += 1;
        }
    }
    return pairs > 0 ? won / pairs : -1;
}

Wanted multilabel_of(const Evaluator& evaluator, std::int64_t count) {
    double loss = 0;
    double right = 0;
    std::vector<std::vector<float>> scores(labels), there(labels);
    for (std::int64_t sample = samples_max - count; sample < samples_max; ++sample) {
        const auto x = evaluator.net.outputs_of(evaluator.samples.features_of(sample));
        const auto t = evaluator.samples.labels_of(sample);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto logit = double(x[i]);
            loss += std::log1p(std::exp(-std::abs(logit))) + std::max(logit, 0.0) -
                    logit * double(t[i]);
            right += (x[i] >= 0) == (t[i] >= 0.5F);
            scores[i].push_back(x[i]);
            there[i].push_back(t[i]);
        }
    }
    const auto elements = double(count * labels);
    Wanted wanted{{"loss", loss / elements}, {"accuracy", right / elements}};
    double sum = 0;
    double areas = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const double area = area_pair_by_pair(scores[i], there[i]);
        if (area < 0) continue;
        wanted["auc_" + std::array<std::string, 4>{"sick", "far__away", "all", "last"}[i]] = area;
        sum += area;
        areas += 1;
    }
    if (areas > 0) wanted["auc"] = sum / areas;
    return wanted;
}

Wanted regression_of(const Evaluator& evaluator, std::int64_t count) {
    double absolute = 0;
    double all_squares = 0;
    double r2 = 0;
    int varying = 0;
    for (std::size_t label = 0; label < std::size_t(labels); ++label) {
        double squares = 0;
        double sum = 0;
        double total = 0;
        for (std::int64_t sample = samples_max - count; sample < samples_max; ++sample)
            sum += double(evaluator.samples.labels_of(sample)[label]);
        for (std::int64_t sample = samples_max - count; sample < samples_max; ++sample) {
            const auto x = evaluator.net.outputs_of(evaluator.samples.features_of(sample));
            const auto target = double(evaluator.samples.labels_of(sample)[label]);
            const double difference = double(x[label]) - target;
            squares += difference * difference;
            absolute += std::abs(difference);
            total += (target - sum / double(count)) * (target - sum / double(count));
        }
        all_squares += squares;
        if (total == 0) continue;
        r2 += 1 - squares / total;
        ++varying;
    }
    const auto elements = double(count * labels);
    Wanted wanted{{"loss", all_squares / elements}, {"mae", absolute / elements}};
    if (varying > 0) wanted["r2"] = r2 / varying;
    return wanted;
}

constexpr std::array sizes{1, 7, 100, 1001};
const std::vector<std::int64_t> batches{1, 7, 32, 64};
const std::vector<std::int64_t> few_batches{7, 64};    // a program each is a while to compile

template <class Judge>
void expect_every_sample_once(const JobSpec& spec, const Judge& judge,
                              const std::vector<std::int64_t>& batch_sizes) {
    std::map<std::int64_t, Wanted> wanted;
    for (const std::int64_t cores : {1, 8}) {
        for (const std::int64_t batch : batch_sizes) {
            Evaluator evaluator(spec, {cores, batch});
            for (const std::int64_t size : sizes) {
                const std::string where =
                    fmt::format("{} cores, batch {}, {} samples: ", cores, batch, size);
                if (!wanted.contains(size)) wanted[size] = judge(evaluator, size);
                const MetricSums sums = evaluator(size);
                const bool classes = spec.task.type == TaskType::classification;
                EXPECT_EQ(sums.scalar("labels"), double(size * (classes ? 1 : labels))) << where;
                expect_values(evaluator.task.values(sums), wanted[size], where);
            }
        }
    }
}

TEST(Tasks, multilabel_counts_every_sample_once) {
    expect_every_sample_once(
        spec_of(TaskType::multilabel, {TaskMetric::loss, TaskMetric::accuracy, TaskMetric::auc}),
        multilabel_of, batches);
}

TEST(Tasks, regression_counts_every_sample_once) {
    expect_every_sample_once(
        spec_of(TaskType::regression, {TaskMetric::loss, TaskMetric::mae, TaskMetric::r2}),
        regression_of, few_batches);
}

Wanted classification_of(const Evaluator& evaluator, std::int64_t count) {
    double loss = 0;
    double right = 0;
    for (std::int64_t sample = samples_max - count; sample < samples_max; ++sample) {
        const auto x = evaluator.net.outputs_of(evaluator.samples.features_of(sample));
        const auto label = std::size_t(evaluator.samples.class_of(sample));
        double sum = 0;
        for (const float one : x)
            sum += std::exp(double(one));
        loss += std::log(sum) - double(x[label]);
        right += std::size_t(std::ranges::max_element(x) - x.begin()) == label;
    }
    return {{"loss", loss / double(count)},
            {"accuracy", right / double(count)},
            {"top5_accuracy", 1}};    // of four classes
}

TEST(Tasks, classification_counts_every_sample_once) {
    JobSpec spec = spec_of(TaskType::classification,
                           {TaskMetric::loss, TaskMetric::accuracy, TaskMetric::top5_accuracy,
                            TaskMetric::confusion_matrix});
    spec.task.label_smoothing = 0.1;    // not in an evaluation
    expect_every_sample_once(spec, classification_of, few_batches);
}

TEST(Tasks, a_confusion_matrix_has_every_sample_once_and_its_diagonal_is_the_accuracy) {
    const JobSpec spec =
        spec_of(TaskType::classification, {TaskMetric::accuracy, TaskMetric::confusion_matrix});
    Evaluator evaluator(spec, {8, 7});
    const MetricSums sums = evaluator(100);
    const Json matrix = evaluator.task.details(sums)["confusion_matrix"];
    EXPECT_EQ(matrix["classes"], Json(names));
    std::array<std::array<int, 4>, 4> wanted{};
    for (std::int64_t sample = samples_max - 100; sample < samples_max; ++sample) {
        const auto x = evaluator.net.outputs_of(evaluator.samples.features_of(sample));
        const auto taken = std::size_t(std::ranges::max_element(x) - x.begin());
        ++wanted[std::size_t(evaluator.samples.class_of(sample))][taken];
    }
    EXPECT_EQ(matrix["counts"], Json(wanted));
    double diagonal = 0;
    for (std::size_t i = 0; i < 4; ++i)
        diagonal += matrix["counts"][i][i].get<double>();
    EXPECT_EQ(value_of(evaluator.task.values(sums), "accuracy"), diagonal / 100);
}

TEST(Tasks, what_has_no_area_or_no_variance_is_null_and_said) {
    const JobSpec several = spec_of(TaskType::multilabel, {TaskMetric::auc});
    Evaluator scores(several, {1, 32});
    const Json areas = scores.task.details(scores(100));
    EXPECT_TRUE(areas["labels"][2]["auc"].is_null());    // all have it
    EXPECT_FALSE(areas["labels"][3]["auc"].is_null());
    ASSERT_EQ(areas["left_out"].size(), 1U);
    EXPECT_NE(areas["left_out"][0].get<std::string>().find("the auc of all"), std::string::npos);

    const JobSpec numbers = spec_of(TaskType::regression, {TaskMetric::r2});
    Evaluator errors(numbers, {1, 32});
    const Json explained = errors.task.details(errors(100));
    EXPECT_TRUE(explained["labels"][2]["r2"].is_null());
    EXPECT_EQ(explained["left_out"].size(), 1U);
}

TEST(Tasks, a_training_pass_measures_what_sums_can_say) {
    const Linear4 net;
    for (const TaskType type :
         {TaskType::classification, TaskType::multilabel, TaskType::regression}) {
        const auto all = metrics_of(type);
        const Task task = make_task(spec_of(type, {all.begin(), all.end()}), names);
        ForwardPass pass;
        pass.training = true;
        const BatchInputs inputs({5, MadeSamples(type).shape()});
        const auto sums = task.trace(net.model, inputs, pass);
        EXPECT_EQ(sums[0].name, "loss");
        EXPECT_EQ(sums[1].name, "labels");
        for (const TaskSum& sum : sums) {
            EXPECT_FALSE(sum.rows) << sum.name;
            EXPECT_TRUE(sum.value.dims().empty()) << sum.name;
        }
    }
}

}    // namespace
}    // namespace slipway
