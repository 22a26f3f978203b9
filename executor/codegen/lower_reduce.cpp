#include "executor/codegen/kernels/reduce.h"
#include "executor/codegen/kernels/window.h"
#include "executor/codegen/lowering.h"

/// Ops that combine elements, within a core and over all cores.
namespace slipway {

namespace {

Combine combine_of(Reduction reduction) {
    switch (reduction) {
        case Reduction::add:
            return Combine::add;
        case Reduction::maximum:
            return Combine::maximum;
        case Reduction::minimum:
            return Combine::minimum;
    }
    return Combine::add;
}

void emit_plain(Lowering& lowering, const Tensor& tensor, std::string_view name,
                std::vector<BufferId> reads, Kernel kernel) {
    lowering.emit(lowering.facts(tensor).stage, {.name = step_name(name, tensor.shape()),
                                                 .reads = std::move(reads),
                                                 .writes = {lowering.make_result(tensor)},
                                                 .in_place = {},
                                                 .elements = 0,
                                                 .kernel = std::move(kernel)});
}

}    // namespace

void lower_reduce(Lowering& lowering, const Tensor& tensor) {
    const PlacedValue& x = lowering.value_of(tensor.node().operands[0]);
    const auto& reduction = std::get<ReduceAttributes>(tensor.node().attributes);
    emit_plain(lowering, tensor, "reduce", {x.buffer}, make_reduce(x.view, reduction, x.dtype));
}

void lower_reduce_window(Lowering& lowering, const Tensor& tensor) {
    const Node& node = tensor.node();
    const PlacedValue x =
        lowering.dense(lowering.value_of(node.operands[0]), lowering.facts(tensor).stage);
    emit_plain(
        lowering, tensor, "reduce_window", {x.buffer},
        make_reduce_window(node.operands[0].shape(),
                           std::get<ReduceWindowAttributes>(node.attributes), tensor.shape()));
}

void lower_select_and_scatter(Lowering& lowering, const Tensor& tensor) {
    const Node& node = tensor.node();
    const int stage = lowering.facts(tensor).stage;
    const PlacedValue input = lowering.dense(lowering.value_of(node.operands[0]), stage);
    const PlacedValue source = lowering.dense(lowering.value_of(node.operands[1]), stage);
    emit_plain(lowering, tensor, "select_and_scatter", {input.buffer, source.buffer},
               make_select_and_scatter(tensor.shape(),
                                       std::get<SelectAndScatterAttributes>(node.attributes),
                                       node.operands[1].shape()));
}

void lower_all_reduce(Lowering& lowering, const Tensor& tensor) {
    const PlacedValue& value = lowering.value_of(tensor.node().operands[0]);
    const auto reduction = std::get<AllReduceAttributes>(tensor.node().attributes).reduction;
    const BufferId buffer =
        lowering.add_sum(lowering.facts(tensor).stage - 1, value, combine_of(reduction));
    lowering.set_value(tensor,
                       {buffer, dense_view(tensor.dims()), tensor.dtype(), Placement::replicated});
}

}    // namespace slipway
