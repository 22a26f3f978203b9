#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/graph/op_table.h"
#include "executor/graph/ops.h"
#include "executor/graph/verify.h"
#include "executor/passes/pipeline.h"
#include "executor/reference/evaluate.h"
#include "tests/executor/ops/op_cases.h"

namespace slipway {
namespace {

int core_count(const OpCase& op_case) {
    return op_case.inputs.empty() ? 1 : int(op_case.inputs[0].arrays.size());
}

bool holds_expandable(const Graph& graph) {
    return std::ranges::any_of(topological_order(graph), [](const Tensor& tensor) {
        return row_of(tensor.node().op).decompose != nullptr;
    });
}

// Goal: what is expanded calculates what the op does.
// Method: every op case through the whole pipeline, within the rounding of a few more steps.
TEST(ExpandComposites, every_op_case_stays_true) {
    for (const auto& file : op_case_files()) {
        for (const OpCase& op_case : read_op_cases(file)) {
            if (!op_case.expected) continue;
            SCOPED_TRACE(op_case.file + ":" + std::to_string(op_case.line));
            const Graph optimized = optimize(build(op_case)).graph;
            EXPECT_FALSE(holds_expandable(optimized));
            std::vector<ReferenceValue> inputs;
            for (const CaseValue& input : op_case.inputs)
                inputs.push_back(input.arrays);
            const auto outputs = evaluate(optimized, inputs, core_count(op_case));
            for (std::size_t core = 0; core < outputs[0].size(); ++core)
                EXPECT_EQ(difference(outputs[0][core], op_case.expected->arrays[core], 2e-6), "");
        }
    }
}

Graph norm_and_softmax() {
    const Tensor x = input({DType::f32, {4, 2}}, Placement::replicated, "x");
    const Tensor scale = input({DType::f32, {2}}, Placement::replicated, "scale");
    const BatchNorm norm = batch_norm_relu(x, scale, scale, 0.1, 1);
    return {{x, scale}, {softmax(norm.y), norm.mean}, {}};
}

std::vector<std::string> names_in(const Graph& graph) {
    std::vector<std::string> names;
    for (const Tensor& tensor : topological_order(graph))
        names.emplace_back(name_of(tensor.node()));
    return names;
}

TEST(ExpandComposites, claimed_ones_stay_whole) {
    const Graph graph = norm_and_softmax();
    const auto one = names_in(expand_composites(graph, {.claimed = {"softmax"}}));
    EXPECT_THAT(one, testing::Contains("softmax"));
    EXPECT_THAT(one, testing::Not(testing::Contains("batch_norm_training")));
    const auto parts = names_in(expand_composites(graph, {.claimed = {"batch_norm_training"}}));
    EXPECT_THAT(parts, testing::IsSupersetOf({"batch_norm_training", "get_result", "maximum"}));
    const auto both = expand_composites(graph, {.claimed = {"softmax", "batch_norm_relu"}});
    EXPECT_EQ(hash_of(both), hash_of(graph));
}

// Forward and backward look at the same rows: what both need is there once.
TEST(ExpandComposites, rules_share_nodes_with_decompositions) {
    const Tensor x = input({DType::f32, {4, 3}}, Placement::replicated, "x");
    const Tensor labels = input({DType::i32, {4}}, Placement::replicated, "labels");
    const Tensor loss = cross_entropy(x, labels);
    const Tensor flow = broadcast(constant(1), {4});
    const Tensor dx = row_of(OpCode::composite).gradient(loss, flow)[0];
    const auto names = names_in(optimize({{x, labels}, {loss, dx}, {}}).graph);
    EXPECT_EQ(std::ranges::count(names, "log"), 1);
    EXPECT_EQ(std::ranges::count(names, "reduce"), 3);
}

}    // namespace
}    // namespace slipway
