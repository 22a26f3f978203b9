#include "executor/graph/composite_table.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "executor/graph/composites/rows.h"
#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/rules.h"

namespace slipway {

std::span<const CompositeRow> composite_table() {
    static const std::array rows{
        composites::softmax,
        composites::cross_entropy,
        composites::binary_cross_entropy_with_logits,
        composites::layer_norm,
        composites::layer_norm_grad,
        composites::gelu,
        composites::dropout,
        composites::linear,
        composites::attention,
        composites::attention_grad,
        composites::batch_norm_relu,
        composites::sgd_update,
        composites::adam_update,
        composites::clip_by_global_norm,
    };
    return rows;
}

const CompositeRow* find_composite(std::string_view name) {
    const auto rows = composite_table();
    const auto row = std::ranges::find(rows, name, &CompositeRow::name);
    return row == rows.end() ? nullptr : &*row;
}

const CompositeRow& composite_row(const Node& node) {
    const CompositeRow* row = find_composite(std::get<CompositeAttributes>(node.attributes).name);
    check(row != nullptr, "a composite is one of the table's");
    return *row;
}

Tensor make_composite(std::string_view name, std::vector<Tensor> operands,
                      std::vector<double> numbers) {
    return make_node({.op = OpCode::composite,
                      .attributes = CompositeAttributes{std::string(name), std::move(numbers)},
                      .operands = std::move(operands),
                      .result = {}});
}

namespace {

const CompositeRow& row_of_request(const NodeRequest& request) {
    const std::string& name = std::get<CompositeAttributes>(request.attributes).name;
    const CompositeRow* row = find_composite(name);
    if (row == nullptr) refuse("composite", 1, request.operands, "there is none named " + name);
    const std::size_t operands = request.operands.size();
    if (operands < row->operands_min || operands > row->operands_max)
        refuse("composite", 2, request.operands, name + " does not take that many operands");
    if (numbers_of(request).size() != row->number_count)
        refuse("composite", 3, request.operands, name + " does not take that many numbers");
    return *row;
}

/// The decomposition over inputs of its own, so that what lies below the operands is not walked.
std::vector<Tensor> decomposed_over(const Node& node, std::vector<Tensor> inputs) {
    Node alone{node.op,        node.attributes, std::move(inputs), node.shape,
               node.placement, node.hash,       node.more_shapes};
    return row_of(node.op).decompose(alone);
}

}    // namespace

namespace rules {

Shape infer_composite(const NodeRequest& request) {
    return row_of_request(request).infer(request).front();
}

std::vector<Shape> more_of_composite(const NodeRequest& request) {
    const std::vector<Shape> shapes = row_of_request(request).infer(request);
    return {shapes.begin() + 1, shapes.end()};
}

std::vector<Tensor> decompose_composite(const Node& node) {
    return composite_row(node).decompose(node);
}

std::vector<Tensor> gradient_composite(const Tensor& y, const Tensor& dy) {
    const GradientRule gradient = composite_row(y.node()).gradient;
    check(gradient != nullptr, "autodiff goes through the decomposition where there is no rule");
    return gradient(y, dy);
}

Array evaluate_composite_result(const Node& node, std::span<const Array> operands,
                                std::int64_t index) {
    std::vector<Tensor> inputs;
    std::unordered_map<const Node*, Array> values;
    for (const Array& operand : operands) {
        inputs.push_back(input(operand.shape(), Placement::replicated, ""));
        values.emplace(inputs.back().get(), operand);
    }
    const Tensor result = decomposed_over(node, inputs).at(std::size_t(index));
    for (const Tensor& tensor : topological_order({&result, 1})) {
        if (values.contains(tensor.get())) continue;
        const bool is_further = tensor.node().op == OpCode::get_result;
        const Node& reader = is_further ? tensor.node().operands[0].node() : tensor.node();
        std::vector<Array> arrays;
        for (const Tensor& operand : reader.operands)
            arrays.push_back(values.at(operand.get()));
        values.emplace(tensor.get(), row_of(tensor.node().op).evaluate(tensor.node(), arrays));
    }
    return values.at(result.get());
}

Array evaluate_composite(const Node& node, std::span<const Array> operands) {
    return evaluate_composite_result(node, operands, 0);
}

}    // namespace rules

}    // namespace slipway
