#include "executor/train/dropout.h"

#include <algorithm>
#include <array>
#include <utility>

#include "executor/nn/init.h"
#include "executor/tensor/random.h"

namespace slipway {

DropoutInputs dropout_inputs(double rate) {
    if (rate == 0) return {};
    return {.rate = input({DType::f32, {}}, Placement::replicated, "dropout_rate"),
            .key = input({DType::u32, {2}}, Placement::replicated, "dropout_key"),
            .first_sample = input({DType::i32, {}}, Placement::per_core, "first_sample")};
}

void set_dropout(StepValues& values, const DropoutSource& source, std::int64_t step,
                 const LoadedBatch& batch) {
    if (source.rate == 0) return;
    RandomStream stream(source.seed, site_dropout, std::uint64_t(step));
    const std::array key{stream.next_u32(), stream.next_u32()};
    values.set(StepInput::dropout_rate, Value{{filled({}, source.rate)}});
    values.set(StepInput::dropout_key, Value{{array_of<std::uint32_t>({2}, key)}});

    const auto cores = std::int64_t(batch.cores.size());
    const std::int64_t of_all = std::max(batch.core_count, cores);
    const std::int64_t samples = batch.cores.front().weights.element_count();
    const std::int64_t batch_of_step = batch.position.batch % source.batches_per_step;
    Value first;
    for (std::int64_t core = 0; core < cores; ++core) {
        const std::array number{
            std::int32_t((batch_of_step * of_all + batch.first_core + core) * samples)};
        first.arrays.push_back(array_of<std::int32_t>({}, number));
    }
    values.set(StepInput::first_sample, std::move(first));
}

}    // namespace slipway
