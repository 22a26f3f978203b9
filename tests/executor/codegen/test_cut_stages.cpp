// A stage with many contributions to sums is cut into several (codegen/analysis.h), so that sums
// are used, and their memory is free, before the next contributions are made.
#include <gtest/gtest.h>

#include <algorithm>

#include "executor/codegen/analysis.h"
#include "executor/codegen/fusion.h"
#include "executor/codegen/lower.h"
#include "executor/codegen/lowering.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

constexpr std::int64_t weight_side = 8;
constexpr std::int64_t weight_bytes = weight_side * weight_side * 4;
constexpr std::int64_t row_count = 64;    // too many for products of all cores' row_count

/// Three layers, their gradients by hand, and an update of each weight in its place.
struct Network {
    Tensor gradient_1, gradient_2, gradient_3;
    Tensor back_2, back_1;    ///< products that read the weights of layers 3 and 2 again
    Graph graph;
};

Network make_network() {
    const Tensor x = input({DType::f32, {row_count, weight_side}}, Placement::per_core, "x");
    const auto weight = [](const char* name) {
        return input({DType::f32, {weight_side, weight_side}}, Placement::replicated, name);
    };
    const Tensor w1 = weight("w1"), w2 = weight("w2"), w3 = weight("w3");
    const Tensor h1 = tanh(matmul(x, w1));
    const Tensor h2 = tanh(matmul(h1, w2));
    const Tensor d3 = matmul(h2, w3);
    Network network;
    network.gradient_3 = matmul(transpose(h2, {1, 0}), d3);
    network.back_2 = matmul(d3, transpose(w3, {1, 0}));
    const Tensor d2 = network.back_2 * (constant(1.0) - h2 * h2);
    network.gradient_2 = matmul(transpose(h1, {1, 0}), d2);
    network.back_1 = matmul(d2, transpose(w2, {1, 0}));
    const Tensor d1 = network.back_1 * (constant(1.0) - h1 * h1);
    network.gradient_1 = matmul(transpose(x, {1, 0}), d1);
    const auto updated = [](const Tensor& w, const Tensor& gradient) {
        return w - all_reduce(gradient) * constant(0.001);
    };
    network.graph = {
        .inputs = {x, w1, w2, w3},
        .outputs = {updated(w1, network.gradient_1), updated(w2, network.gradient_2),
                    updated(w3, network.gradient_3)},
        .donations = {
            {.output = 0, .input = 1}, {.output = 1, .input = 2}, {.output = 2, .input = 3}}};
    return network;
}

std::vector<int> stages_of(const Analysis& analysis, std::initializer_list<Tensor> tensors) {
    std::vector<int> stages;
    for (const Tensor& tensor : tensors)
        stages.push_back(analysis.of(tensor).stage);
    return stages;
}

using Stages = std::vector<int>;

TEST(CutStages, contributions_run_as_soon_as_they_can) {
    const Network network = make_network();
    const Fusion fusion = fuse(network.graph, analyse(network.graph));
    const auto place = [&](const Tensor& tensor) {
        return std::ranges::find(fusion.order, tensor) - fusion.order.begin();
    };
    EXPECT_LT(place(network.gradient_3), place(network.back_2));
    EXPECT_LT(place(network.gradient_2), place(network.back_1));
}

TEST(CutStages, a_stage_is_cut_before_the_contribution_after_a_full_bucket) {
    const Network network = make_network();
    const auto gradients = [&](std::int64_t bucket_bytes) {
        return stages_of(analyse(network.graph, bucket_bytes),
                         {network.gradient_3, network.gradient_2, network.gradient_1});
    };
    EXPECT_EQ(gradients(0), (Stages{1, 1, 1}));
    EXPECT_EQ(gradients(1), (Stages{1, 3, 5}));
    EXPECT_EQ(gradients(weight_bytes), (Stages{1, 3, 5}));
    EXPECT_EQ(gradients(weight_bytes + 1), (Stages{1, 1, 3}));
    EXPECT_EQ(gradients(3 * weight_bytes), (Stages{1, 1, 1}));
}

TEST(CutStages, weights_have_been_read_when_they_are_updated) {
    const Network network = make_network();
    EXPECT_EQ(stages_of(analyse(network.graph, 1), {network.back_2, network.back_1}),
              (Stages{1, 3}));
    // No result goes by way of a copy: each is written over the weight.
    const Program program = Lowering(network.graph, {}, 1).run();
    for (const Step& step : program.steps)
        EXPECT_EQ(step.name.find("copy"), std::string::npos) << step.name;
}

TEST(CutStages, the_result_is_that_of_the_whole_stage) {
    EXPECT_EQ(compare_with_reference(make_network().graph, sum_tolerance(4 * row_count), 3), "");
}

TEST(CutStages, the_memory_of_sums_is_used_again) {
    const Network network = make_network();
    const auto sums = [&](std::int64_t bucket_bytes) {
        return Lowering(network.graph, {}, bucket_bytes)
            .run()
            .arena_bytes[std::size_t(Region::sum)];
    };
    EXPECT_EQ(sums(0), 3 * weight_bytes);
    EXPECT_EQ(sums(1), weight_bytes);
}

// Goal: a bucket's sums travel between processes while the next ones are made.
TEST(CutStages, sums_that_may_travel_are_used_a_stage_later) {
    const Network network = make_network();
    const auto updates = [&](bool in_blocks) {
        const Analysis analysis = analyse(network.graph, 1, in_blocks);
        const auto& outputs = network.graph.outputs;    // of layers 1, 2, 3; made from 3 to 1
        return stages_of(analysis, {outputs[2], outputs[1], outputs[0]});
    };
    EXPECT_EQ(updates(false), (Stages{2, 4, 6}));
    EXPECT_EQ(updates(true), (Stages{4, 6, 6}));    // nothing is made after the last ones
    const Program program = Lowering(network.graph, {.in_blocks = true}, 1).run();
    EXPECT_EQ(program.arena_bytes[std::size_t(Region::sum)], 2 * weight_bytes);
    for (const Step& step : program.steps)
        EXPECT_EQ(step.name.find("copy"), std::string::npos) << step.name;
    const std::size_t summing = std::size_t(std::ranges::count_if(
        program.stages, [](const Stage& stage) { return !stage.sums.empty(); }));
    EXPECT_EQ(summing, 3U);
}

TEST(CutStages, a_plan_is_that_of_the_program) {
    const Graph graph = make_network().graph;
    for (const std::int64_t bucket_bytes : {0, 1})
        EXPECT_EQ(Lowering(graph, {}, bucket_bytes, Lowering::Purpose::plan).run().arena_bytes,
                  Lowering(graph, {}, bucket_bytes).run().arena_bytes);
}

/// The plan with less memory is taken, and not looked for where the sums take little.
TEST(CutStages, large_sums_are_cut_where_that_saves_memory) {
    const auto network_of = [](std::int64_t columns, std::int64_t held_rows) {
        const Tensor x = input({DType::f32, {held_rows, columns}}, Placement::per_core, "x");
        std::vector<Tensor> outputs;
        Tensor value = tanh(x);
        for (int layer = 0; layer < 3; ++layer) {
            outputs.push_back(reduce(all_reduce(matmul(transpose(value, {1, 0}), tanh(value))),
                                     {0, 1}, Reduction::add));
            value = tanh(value * constant(0.5));
        }
        return graph_of(outputs);
    };
    const auto summing_stages = [](const Graph& graph, int cores) {
        return std::ranges::count_if(lower(graph, {.cores = cores}).stages,
                                     [](const Stage& stage) { return !stage.sums.empty(); });
    };
    const Graph large = network_of(1500, 800);    // 9 MB each
    EXPECT_EQ(summing_stages(large, 1), 1);
    EXPECT_EQ(summing_stages(large, 8), 3);
    EXPECT_EQ(summing_stages(network_of(200, 300), 8), 1);
}

}    // namespace
}    // namespace slipway
