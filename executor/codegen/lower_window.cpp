#include "executor/codegen/kernels/window.h"
#include "executor/codegen/lowering.h"
#include "executor/graph/op_table.h"

/// Windows over images: computed in the order in which the operand lies, so channels-last images
/// stay so.
namespace slipway {

namespace {

using Window = std::vector<WindowDimension>;

Dims permuted(const Dims& dims, const Dims& order) {
    Dims result;
    for (const std::int64_t i : order)
        result.push_back(dims[std::size_t(i)]);
    return result;
}

Window permuted(const Window& window, const Dims& order) {
    Window result;
    for (const std::int64_t i : order)
        result.push_back(window[std::size_t(i)]);
    return result;
}

Shape permuted(const Shape& shape, const Dims& order) {
    return {shape.dtype, permuted(shape.dims, order)};
}

/// The order of the value itself, or of the one that reads it row by row when it has none.
Dims order_for(const PlacedValue& value) {
    return order_of(value.view).value_or(row_major(value.view.dims.size()));
}

void emit_window(Lowering& lowering, const Tensor& tensor, std::vector<BufferId> reads,
                 Kernel kernel, const Dims& order, bool needs_sums) {
    const int stage = lowering.facts(tensor).stage;
    std::vector<BufferId> writes{lowering.make_result(tensor, order)};
    if (needs_sums) writes.push_back(lowering.make_temporary({DType::f32, tensor.dims()}, stage));
    lowering.emit(stage, {.name = step_name(name_of(tensor.node().op), tensor.shape()),
                          .reads = std::move(reads),
                          .writes = std::move(writes),
                          .in_place = {},
                          .elements = 0,
                          .kernel = std::move(kernel)});
}

}    // namespace

void lower_reduce_window(Lowering& lowering, const Tensor& tensor) {
    const Node& node = tensor.node();
    const auto& attributes = std::get<ReduceWindowAttributes>(node.attributes);
    const PlacedValue& value = lowering.value_of(node.operands[0]);
    const Dims order = order_for(value);
    const PlacedValue x = lowering.ordered(value, order, lowering.facts(tensor).stage);
    emit_window(lowering, tensor, {x.buffer},
                make_reduce_window(permuted(node.operands[0].shape(), order),
                                   {permuted(attributes.window, order), attributes.reduction},
                                   permuted(tensor.shape(), order)),
                order, false);
}

void lower_select_and_scatter(Lowering& lowering, const Tensor& tensor) {
    const Node& node = tensor.node();
    const int stage = lowering.facts(tensor).stage;
    const auto& attributes = std::get<SelectAndScatterAttributes>(node.attributes);
    const PlacedValue& value = lowering.value_of(node.operands[0]);
    const Dims order = order_for(value);
    const PlacedValue input = lowering.ordered(value, order, stage);
    const PlacedValue source = lowering.ordered(lowering.value_of(node.operands[1]), order, stage);
    const Shape operand = permuted(tensor.shape(), order);
    const Shape terms = permuted(node.operands[1].shape(), order);
    const SelectAndScatterAttributes window{permuted(attributes.window, order)};
    emit_window(lowering, tensor, {input.buffer, source.buffer},
                make_select_and_scatter(operand, window, terms), order,
                scatter_needs_sums(operand, window, terms));
}

}    // namespace slipway
