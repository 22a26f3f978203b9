#include "api/base/check.h"
#include "executor/codegen/kernels/movement.h"
#include "executor/codegen/lowering.h"
#include "executor/codegen/node_views.h"

/// Ops that make or move elements: constants, views, pad, concatenate.
namespace slipway {

void lower_view(Lowering& lowering, const Tensor& tensor) {
    PlacedValue value = lowering.value_of(tensor.node().operands[0]);
    value.placement = tensor.node().placement;
    std::optional<View> view = view_of(tensor.node(), value.view);
    if (!view) {
        const NodeFacts& facts = lowering.facts(tensor);
        value = lowering.dense(value, facts.stage);
        if (facts.last_use_stage > facts.stage) lowering.keep(value.buffer);
        view = view_of(tensor.node(), value.view);
    }
    value.view = std::move(*view);
    lowering.set_value(tensor, std::move(value));
}

void lower_constant(Lowering& lowering, const Tensor& tensor) {
    const double number = std::get<ConstantAttributes>(tensor.node().attributes).value;
    const BufferId buffer =
        lowering.add_constant(tensor.shape(), scalar_bytes(tensor.dtype(), number));
    lowering.set_value(tensor, {buffer, dense_view({}), tensor.dtype(), Placement::replicated});
}

void lower_iota(Lowering& lowering, const Tensor& tensor) {
    const std::int64_t dimension = std::get<IotaAttributes>(tensor.node().attributes).dimension;
    // Only the counting itself is stored; the other dimensions repeat it.
    const Shape counted{tensor.dtype(), {tensor.dims()[std::size_t(dimension)]}};
    const BufferId buffer = lowering.add_constant(counted, iota_bytes(counted, 0));
    const View view = broadcast_view(dense_view(counted.dims), tensor.dims(), {dimension});
    lowering.set_value(tensor, {buffer, view, tensor.dtype(), Placement::replicated});
}

void lower_pad(Lowering& lowering, const Tensor& tensor) {
    const Node& node = tensor.node();
    const int stage = lowering.facts(tensor).stage;
    const PlacedValue x = lowering.dense(lowering.value_of(node.operands[0]), stage);
    const PlacedValue filler = lowering.dense(lowering.value_of(node.operands[1]), stage);
    lowering.emit(stage,
                  {.name = step_name("pad", tensor.shape()),
                   .reads = {x.buffer, filler.buffer},
                   .writes = {lowering.make_result(tensor)},
                   .in_place = {},
                   .elements = 0,
                   .kernel = make_pad(node.operands[0].dims(),
                                      std::get<PadAttributes>(node.attributes), tensor.shape())});
}

void lower_concatenate(Lowering& lowering, const Tensor& tensor) {
    const std::int64_t dimension =
        std::get<ConcatenateAttributes>(tensor.node().attributes).dimension;
    std::vector<View> views;
    std::vector<BufferId> reads;
    for (const Tensor& operand : tensor.node().operands) {
        views.push_back(lowering.value_of(operand).view);
        reads.push_back(lowering.value_of(operand).buffer);
    }
    lowering.emit(lowering.facts(tensor).stage,
                  {.name = step_name("concatenate", tensor.shape()),
                   .reads = std::move(reads),
                   .writes = {lowering.make_result(tensor)},
                   .in_place = {},
                   .elements = 0,
                   .kernel = make_concatenate(views, dimension, tensor.shape())});
}

}    // namespace slipway
