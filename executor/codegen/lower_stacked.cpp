#include "executor/codegen/lower_stacked.h"

#include <utility>

namespace slipway {

namespace {

/// What the product then reads.
std::vector<BufferId> emit_gather(Lowering& lowering, int stage, StackedGradient& gradient,
                                  const std::vector<BufferId>& reads, const StackedNames& names) {
    const BufferId right = lowering.make_batched(gradient.right, stage);
    std::vector<BufferId> gathered{reads[1]}, made{right}, factors{reads[0], right};
    if (gradient.left) {
        const BufferId left = lowering.make_batched(*gradient.left, stage);
        gathered = reads;
        made = {left, right};
        factors = made;
    }
    lowering.emit(stage, {.name = step_name(names.gather + " of all cores", gradient.right),
                          .reads = std::move(gathered),
                          .writes = std::move(made),
                          .in_place = {},
                          .elements = lowering.batched_cores(),
                          .kernel = std::move(gradient.gather),
                          .batches_cores = true});
    return factors;
}

}    // namespace

void emit_stacked(Lowering& lowering, const Tensor& tensor, StackedGradient gradient,
                  const std::vector<BufferId>& reads, const StackedNames& names,
                  const Dims& order) {
    lowering.fix_cores();
    for (const BufferId operand : reads)
        lowering.keep(operand);
    const int stage = lowering.facts(tensor).stage;
    std::vector<BufferId> factors =
        gradient.gather ? emit_gather(lowering, stage, gradient, reads, names) : reads;
    const LibraryKernel& kernel = gradient.product.kernel;
    Step product = lowering.library_step(
        stage, step_name(names.product + " of all cores " + kernel.name, tensor.shape()), kernel,
        std::move(factors), lowering.make_result(tensor, order));
    product.elements = gradient.product.elements;
    product.batches_cores = true;
    lowering.emit(stage, std::move(product));
}

}    // namespace slipway
