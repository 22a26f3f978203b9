#include "executor/train/dropout.h"

#include <array>

#include "executor/nn/init.h"
#include "executor/tensor/random.h"

namespace slipway {

DropoutLeaves dropout_leaves(double rate) {
    if (rate == 0) return {};
    return {.rate = leaf({DType::f32, {}}, Placement::replicated, "dropout_rate"),
            .key = leaf({DType::u32, {2}}, Placement::replicated, "dropout_key"),
            .first_sample = leaf({DType::i32, {}}, Placement::per_core, "first_sample")};
}

std::vector<Tensor> in_order(const DropoutLeaves& leaves) {
    if (leaves.rate.empty()) return {};
    return {leaves.rate, leaves.key, leaves.first_sample};
}

void append_dropout(std::vector<Value>& leaves, const DropoutSource& source, std::int64_t step,
                    const LoadedBatch& batch) {
    if (source.rate == 0) return;
    RandomStream stream(source.seed, site_dropout, std::uint64_t(step));
    const std::array key{stream.next_u32(), stream.next_u32()};
    leaves.push_back({{filled({}, source.rate)}});
    leaves.push_back({{array_of<std::uint32_t>({2}, key)}});

    const auto cores = std::int64_t(batch.cores.size());
    const std::int64_t samples = batch.cores.front().weights.element_count();
    const std::int64_t batch_of_step = batch.position.batch % source.batches_per_step;
    Value& first = leaves.emplace_back();
    for (std::int64_t core = 0; core < cores; ++core) {
        const std::array number{std::int32_t((batch_of_step * cores + core) * samples)};
        first.arrays.push_back(array_of<std::int32_t>({}, number));
    }
}

}    // namespace slipway
