// Goal: batch norm over all cores is batch norm of the whole batch, forward and backward.
// Method: the naive evaluator runs it on several cores, and on one core with all of their samples;
// the engine must agree with the evaluator.
#include "executor/nn/batch_normalization.h"

#include <gtest/gtest.h>

#include "executor/autodiff/gradients.h"
#include "executor/engine/engine.h"
#include "executor/nn/models/resnet.h"
#include "executor/reference/evaluate.h"
#include "executor/tensor/random.h"

namespace slipway {
namespace {

constexpr std::int64_t channels = 3, side = 2, whole_batch = 8;

Array normal(const Shape& shape, std::uint64_t number) {
    Array array(shape);
    RandomStream random(4, site_augment, number);
    for (float& value : array.as<float>())
        value = 2 * random.next_normal() + 1;
    return array;
}

/// Each core's part of an array: its samples in order, core by core.
std::vector<Array> parts_of(const Array& whole, int cores) {
    Shape shape = whole.shape();
    shape.dims[0] /= cores;
    std::vector<Array> parts;
    for (int core = 0; core < cores; ++core) {
        const auto count = std::size_t(shape.element_count());
        Array part(shape);
        std::ranges::copy(whole.as<float>().subspan(std::size_t(core) * count, count),
                          part.as<float>().begin());
        parts.push_back(std::move(part));
    }
    return parts;
}

std::vector<float> numbers_of(const std::vector<Array>& arrays) {
    std::vector<float> numbers;
    for (const Array& array : arrays) {
        const auto values = array.as<float>();
        numbers.insert(numbers.end(), values.begin(), values.end());
    }
    return numbers;
}

/// One layer at work on some cores: sum(slope * y * y) over all of them, and what moves it.
///   outputs  y, dx (per core), dweight, dbias, running_mean, running_var
struct Layer {
    Graph graph;
    std::vector<ReferenceValue> values;

    Layer(int cores, bool sync) {
        ParameterList parameters;
        BatchNormalization layer = BatchNormalization::create(parameters, "norm", channels);
        layer.sync = sync;
        const Shape shape{DType::f32, {whole_batch / cores, channels, side, side}};
        const Tensor x = input(shape, Placement::per_core, "x");
        const Tensor slope = input(shape, Placement::per_core, "slope");
        ForwardPass pass{.training = true, .core_share = constant(1.0 / cores)};
        const Tensor y = layer(x, pass);
        const Tensor loss = reduce(slope * y * y, {0, 1, 2, 3}, Reduction::add);
        const auto flows = gradients(loss, std::vector{x, layer.weight, layer.bias});
        graph.inputs = {x, slope, layer.weight, layer.bias, layer.running_mean, layer.running_var};
        graph.outputs = {y, flows[0], all_reduce(flows[1]), all_reduce(flows[2])};
        for (const ForwardPass::StatisticUpdate& update : pass.updates)
            graph.outputs.push_back(update.value);

        const Shape whole{DType::f32, {whole_batch, channels, side, side}};
        const Shape features{DType::f32, {channels}};
        values = {parts_of(normal(whole, 0), cores), parts_of(normal(whole, 1), cores)};
        for (std::uint64_t number = 2; number < 6; ++number)
            values.push_back({normal(features, number)});
    }
};

void expect_near(const std::vector<Array>& found, const std::vector<Array>& expected,
                 double tolerance, std::size_t output) {
    const std::vector<float> left = numbers_of(found), right = numbers_of(expected);
    ASSERT_EQ(left.size(), right.size()) << "output " << output;
    for (std::size_t i = 0; i < left.size(); ++i)
        EXPECT_NEAR(left[i], right[i], tolerance * std::max(1.0F, std::abs(right[i])))
            << "output " << output << ", element " << i;
}

// Some 30 numbers of up to 10 are added up in f32 here and there in another order: 1e-5 of the
// result is ten times what that changes.
TEST(BatchNormalization, over_all_cores_is_that_of_the_whole_batch) {
    const Layer whole(1, false);
    const auto expected = evaluate(whole.graph, whole.values, 1);
    for (const int cores : {1, 2, 8}) {
        const Layer layer(cores, true);
        const auto found = evaluate(layer.graph, layer.values, cores);
        for (std::size_t i = 0; i < expected.size(); ++i)
            expect_near(found[i], expected[i], 1e-5, i);
    }
}

std::vector<ReferenceValue> run_on_engine(const Layer& layer, const EngineOptions& options) {
    Engine engine(options);
    std::vector<Value> inputs;
    for (const ReferenceValue& value : layer.values)
        inputs.push_back({value});
    std::vector<ReferenceValue> outputs;
    for (const Value& value : engine.run(*engine.compile(layer.graph), inputs))
        outputs.push_back(value.arrays);
    return outputs;
}

TEST(BatchNormalization, over_all_cores_runs_as_the_evaluator_says_on_any_number_of_threads) {
    for (const int cores : {2, 8}) {
        const Layer layer(cores, true);
        const auto expected = evaluate(layer.graph, layer.values, cores);
        const auto alone = run_on_engine(layer, {.cores = cores, .workers = 1});
        for (std::size_t i = 0; i < expected.size(); ++i)
            expect_near(alone[i], expected[i], 1e-5, i);
        for (const int workers : {2, 8}) {
            const auto found = run_on_engine(layer, {.cores = cores, .workers = workers});
            for (std::size_t i = 0; i < expected.size(); ++i)
                EXPECT_EQ(numbers_of(found[i]), numbers_of(alone[i])) << "output " << i;
        }
    }
}

TEST(BatchNormalization, keeps_one_set_of_running_statistics) {
    for (const bool sync : {false, true}) {
        const Layer layer(8, sync);
        for (std::size_t i = 4; i < 6; ++i)
            EXPECT_EQ(layer.graph.outputs[i].node().placement, Placement::replicated);
    }
}

TEST(BatchNormalization, by_each_core_alone_is_another_thing) {
    const Layer alone(2, false), together(2, true);
    EXPECT_NE(numbers_of(evaluate(alone.graph, alone.values, 2)[0]),
              numbers_of(evaluate(together.graph, together.values, 2)[0]));
}

/// The loss of a residual network summed over all cores, and the gradients of all its weights.
std::vector<ReferenceValue> run_network(int cores, bool sync) {
    constexpr std::int64_t batch = 4, size = 64, classes = 3;
    ParameterList parameters;
    Init init(1);
    const ResNet model = ResNet::create(
        parameters, init,
        {.blocks = {1, 1, 1, 1}, .classes = classes, .width = 2, .sync_norms = sync});
    const Shape images{DType::f32, {batch / cores, 3, size, size}};
    const Tensor x = input(images, Placement::per_core, "images");
    const Tensor slope =
        input({DType::f32, {batch / cores, classes}}, Placement::per_core, "slope");
    ForwardPass pass{.training = true, .core_share = constant(1.0 / cores)};
    const Tensor loss = reduce(model(x, pass) * slope, {0, 1}, Reduction::add);
    Graph graph{.inputs = parameters.inputs(), .outputs = {all_reduce(loss)}, .donations = {}};
    for (const Tensor& gradient : gradients(loss, parameters.inputs()))
        graph.outputs.push_back(all_reduce(gradient));
    std::vector<ReferenceValue> values;
    for (const Parameter& parameter : parameters.all())
        values.push_back({parameter.value});
    for (const Parameter& statistic : parameters.statistics()) {
        graph.inputs.push_back(statistic.input);
        values.push_back({statistic.value});
    }
    for (const ForwardPass::StatisticUpdate& update : pass.updates)
        graph.outputs.push_back(update.value);
    graph.inputs.insert(graph.inputs.end(), {x, slope});
    values.push_back(parts_of(normal({DType::f32, {batch, 3, size, size}}, 7), cores));
    values.push_back(parts_of(normal({DType::f32, {batch, classes}}, 8), cores));
    return evaluate(graph, values, cores);
}

// Twenty layers of f32 sums in another order, each divided by a deviation: 2e-5 of the largest
// element of a gradient.
TEST(BatchNormalization, a_network_over_all_cores_learns_as_on_the_whole_batch) {
    const auto expected = run_network(1, false);
    const auto found = run_network(2, true);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto right = numbers_of(expected[i]), left = numbers_of(found[i]);
        double largest = 0;
        for (const float value : right)
            largest = std::max(largest, double(std::abs(value)));
        for (std::size_t k = 0; k < right.size(); ++k)
            EXPECT_NEAR(left[k], right[k], 2e-5 * std::max(largest, 1e-2)) << i << ", " << k;
    }
}

}    // namespace
}    // namespace slipway
