// Goal: each core's sums are what torch makes of the same numbers, and padding is in none of them.
// Method: reference/metrics.json, written by reference/make_metrics.py, in the naive evaluator:
// once as it is, once with samples of weight 0 behind it.
#include "executor/nn/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "executor/autodiff/gradients.h"
#include "executor/reference/evaluate.h"

namespace slipway {
namespace {

using Json = nlohmann::json;

const Json& reference() {
    static const Json found =
        Json::parse(std::ifstream(SLIPWAY_SOURCE_DIR "/tests/executor/nn/reference/metrics.json"));
    return found;
}

/// 1e-6: f32 sums of a few hundred numbers near 1, beside float64.
constexpr double near = 1e-6;

/// A batch whose last `padding` samples weigh nothing and hold `filling`.
struct Batch {
    std::int64_t samples = 0, columns = 0;
    std::vector<float> x, targets, weights;
    std::vector<std::int32_t> labels;

    Batch(const Json& logits, std::int64_t columns_, std::int64_t padding, float filling)
        : samples(reference()["samples"].get<std::int64_t>() + padding),
          columns(columns_),
          x(logits.get<std::vector<float>>()),
          weights(std::size_t(samples - padding), 1) {
        x.resize(std::size_t(samples * columns), filling);
        weights.resize(std::size_t(samples), 0);
    }
    void read_labels(const Json& list) {
        labels = list.get<std::vector<std::int32_t>>();
        labels.resize(std::size_t(samples), 0);
    }
    void read_targets(const Json& list) {
        targets = list.get<std::vector<float>>();
        targets.resize(std::size_t(samples * columns), 0);
    }

    /// What `trace` gives of these inputs: logits, labels or targets, weights.
    std::vector<std::vector<float>> operator()(
        const std::function<std::vector<Tensor>(const Tensor&, const Tensor&, const Tensor&)>&
            trace) const {
        const Tensor a = input({DType::f32, {samples, columns}}, Placement::replicated, "x");
        const bool classes = !labels.empty();
        const Shape shape =
            classes ? Shape{DType::i32, {samples}} : Shape{DType::f32, {samples, columns}};
        const Tensor b = input(shape, Placement::replicated, "labels");
        const Tensor w = input({DType::f32, {samples}}, Placement::replicated, "weights");
        const std::vector<ReferenceValue> values{
            {array_of<float>({samples, columns}, x)},
            {classes ? array_of<std::int32_t>({samples}, labels)
                     : array_of<float>({samples, columns}, targets)},
            {array_of<float>({samples}, weights)}};
        const Graph graph{.inputs = {a, b, w}, .outputs = trace(a, b, w), .donations = {}};
        std::vector<std::vector<float>> found;
        for (const ReferenceValue& output : evaluate(graph, values, 1)) {
            const auto numbers = output[0].as<float>();
            found.emplace_back(numbers.begin(), numbers.end());
        }
        return found;
    }
};

class Metrics : public testing::TestWithParam<std::int64_t> {
protected:
    const double samples = reference()["samples"].get<double>();
    const std::int64_t classes = reference()["classes"].get<std::int64_t>();
    const std::int64_t labels = reference()["label_count"].get<std::int64_t>();
};

TEST_P(Metrics, of_classes_are_torchs) {
    const Json& wanted = reference()["classification"];
    Batch batch(wanted["logits"], classes, GetParam(), 9);
    batch.read_labels(wanted["labels"]);
    const double smoothing = reference()["smoothing"].get<double>();
    const auto found = batch([&](const Tensor& x, const Tensor& y, const Tensor& w) {
        const auto weighted = [&](const Tensor& loss) {
            return reduce(loss * w, {0}, Reduction::add);
        };
        return std::vector{weighted(smoothed_cross_entropy(x, y, smoothing)),
                           weighted(smoothed_cross_entropy(x, y, 0)),
                           top_hits(x, y, 1, w),
                           top_hits(x, y, 2, w),
                           top_hits(x, y, 5, w),
                           top_hits(x, y, 7, w),
                           confusion_counts(x, y, w)};
    });
    EXPECT_NEAR(double(found[0][0]) / samples, wanted["smoothed_loss"].get<double>(), near);
    EXPECT_NEAR(double(found[1][0]) / samples, wanted["loss"].get<double>(), near);
    EXPECT_EQ(found[2][0], wanted["top"]["1"].get<float>());
    EXPECT_EQ(found[3][0], wanted["top"]["2"].get<float>());
    EXPECT_EQ(found[4][0], wanted["top"]["5"].get<float>());
    EXPECT_EQ(found[5][0], wanted["top"]["7"].get<float>());
    EXPECT_EQ(found[6], wanted["confusion"].get<std::vector<float>>());
}

TEST_P(Metrics, of_mixed_labels_are_torchs_and_so_is_the_gradient) {
    const Json& wanted = reference()["classification"]["mixed"];
    Batch batch(reference()["classification"]["logits"], classes, GetParam(), 9);
    batch.read_targets(wanted["shares"]);
    const double smoothing = reference()["smoothing"].get<double>();
    const auto found = batch([&](const Tensor& x, const Tensor& y, const Tensor& w) {
        const auto summed = [&](double share) {
            return reduce(soft_cross_entropy(x, y, share) * w, {0}, Reduction::add);
        };
        const Tensor smoothed = summed(smoothing);
        const std::vector inputs{x};
        return std::vector{summed(0), smoothed, gradients(smoothed, inputs)[0]};
    });
    EXPECT_NEAR(double(found[0][0]) / samples, wanted["loss"].get<double>(), near);
    EXPECT_NEAR(double(found[1][0]) / samples, wanted["smoothed_loss"].get<double>(), near);
    const auto gradient = wanted["smoothed_gradient"].get<std::vector<double>>();
    for (std::size_t i = 0; i < found[2].size(); ++i) {
        const double one = i < gradient.size() ? gradient[i] : 0;    // of padding
        EXPECT_NEAR(double(found[2][i]) / samples, one, near) << i;
    }
}

TEST_P(Metrics, classes_that_no_label_has_a_share_of_are_only_less_likely) {
    const Json& wanted = reference()["classification"];
    Batch batch(wanted["logits"], classes, GetParam(), 9);
    batch.read_labels(wanted["labels"]);
    const auto found = batch([&](const Tensor& x, const Tensor& y, const Tensor& w) {
        const Tensor wide = one_hot(y, classes);
        const Tensor narrow = slice(wide, {0, 0}, {wide.dims()[0], classes - 1}, {1, 1});
        const auto summed = [&](const Tensor& shares) {
            return reduce(soft_cross_entropy(x, shares, 0) * w, {0}, Reduction::add);
        };
        const Tensor last = slice(wide, {0, classes - 1}, wide.dims(), {1, 1});
        const Tensor lost = reduce(
            log_softmax(x) * broadcast_in_dim(reshape(last, {wide.dims()[0]}), wide.dims(), {0}) *
                wide * broadcast_in_dim(w, wide.dims(), {0}),
            {0, 1}, Reduction::add);
        return std::vector{summed(wide), summed(narrow), lost};
    });
    EXPECT_NEAR(double(found[0][0]) / samples, wanted["loss"].get<double>(), near);
    EXPECT_NEAR(double(found[1][0] - found[2][0]) / samples, wanted["loss"].get<double>(), near);
}

TEST_P(Metrics, of_several_labels_are_torchs) {
    const Json& wanted = reference()["multilabel"];
    Batch batch(wanted["logits"], labels, GetParam(), 9);
    batch.read_targets(wanted["targets"]);
    const auto found = batch([&](const Tensor& x, const Tensor& y, const Tensor& w) {
        const MultilabelSums sums = multilabel_sums(x, y, w);
        return std::vector{sums.loss, sums.correct};
    });
    const double elements = samples * double(labels);
    EXPECT_NEAR(double(found[0][0]) / elements, wanted["loss"].get<double>(), near);
    EXPECT_EQ(double(found[1][0]) / elements, wanted["accuracy"].get<double>());
}

TEST_P(Metrics, of_numbers_are_torchs) {
    const Json& wanted = reference()["regression"];
    Batch batch(wanted["outputs"], labels, GetParam(), 9);
    batch.read_targets(wanted["targets"]);
    const auto found = batch([&](const Tensor& x, const Tensor& y, const Tensor& w) {
        const RegressionSums sums = regression_sums(x, y, w);
        return std::vector{sums.squares, sums.absolute};
    });
    const double elements = samples * double(labels);
    EXPECT_EQ(found[0], wanted["squares"].get<std::vector<float>>());    // sums of 64ths are exact
    double absolute = 0;
    for (const float one : found[1])
        absolute += double(one);
    EXPECT_NEAR(absolute / elements, wanted["mae"].get<double>(), near);
}

INSTANTIATE_TEST_SUITE_P(WithoutAndWithPadding, Metrics, testing::Values(0, 5));

TEST(ConfusionCounts, a_sample_without_an_answer_is_taken_for_no_class) {
    Batch batch(reference()["classification"]["logits"], 7, 0, 0);
    batch.read_labels(reference()["classification"]["labels"]);
    batch.x[3] = std::numeric_limits<float>::quiet_NaN();
    const auto found = batch([](const Tensor& x, const Tensor& y, const Tensor& w) {
        return std::vector{confusion_counts(x, y, w)};
    });
    float total = 0;
    for (const float count : found[0])
        total += count;
    EXPECT_EQ(total, 39);
}

}    // namespace
}    // namespace slipway
