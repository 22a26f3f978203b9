#include "executor/codegen/kernels/round.h"

#include "executor/tensor/bfloat16.h"

namespace slipway {

namespace {

template <class From, class To>
void convert(const std::byte* from, std::byte* to, std::int64_t count) {
    const auto* const numbers = reinterpret_cast<const From*>(from);
    auto* const results = reinterpret_cast<To*>(to);
    for (std::int64_t i = 0; i < count; ++i)
        results[i] = To(float(numbers[i]));
}

}    // namespace

void widen(const std::byte* from, std::byte* to, std::int64_t count) {
    convert<BFloat16, float>(from, to, count);
}

void round_to_bf16(const std::byte* from, std::byte* to, std::int64_t count) {
    convert<float, BFloat16>(from, to, count);
}

}    // namespace slipway
