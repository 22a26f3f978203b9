#include "executor/codegen/lowering.h"

/// Sums over all cores.
namespace slipway {

namespace {

static_assert(exchange_cores == block_cores, "a block's sum is what is rounded");

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

}    // namespace

void lower_all_reduce(Lowering& lowering, const Tensor& tensor) {
    const Tensor& operand = tensor.node().operands[0];
    const bool is_batched = lowering.facts(operand).is_batched;
    if (is_batched && !lowering.in_blocks()) {
        PlacedValue sum = lowering.value_of(operand);
        sum.placement = Placement::replicated;
        return lowering.set_value(tensor, sum);
    }
    const auto& attributes = std::get<AllReduceAttributes>(tensor.node().attributes);
    const PlacedValue sum =
        lowering.add_sum(lowering.facts(tensor).summed_stage, lowering.value_of(operand),
                         {.combine = combine_of(attributes.reduction),
                          .by_block = is_batched,
                          .rounds_to_bf16 = attributes.exchange.has_value()});
    if (const Packing* packing = lowering.packing_of(operand))
        return lowering.unpack(tensor, *packing, sum.buffer);
    lowering.set_value(tensor, sum);
}

}    // namespace slipway
