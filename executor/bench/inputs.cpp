#include "executor/bench/inputs.h"

#include <algorithm>
#include <numeric>

#include "executor/tensor/random.h"

namespace slipway {

namespace {

constexpr std::uint64_t seed = 1;

Dims with_batch(std::int64_t batch, Dims dims) {
    dims.insert(dims.begin(), batch);
    return dims;
}

}    // namespace

Tensor BenchInputs::normal(const char* name, Dims sample_dims) {
    RandomStream stream(seed, site_bench, inputs_.size());
    Array values({DType::f32, with_batch(batch_, std::move(sample_dims))});
    for (float& value : values.as<float>())
        value = stream.next_normal();
    return add(name, std::move(values));
}

Tensor BenchInputs::coins(const char* name, Dims sample_dims) {
    RandomStream stream(seed, site_bench, inputs_.size());
    Array values({DType::f32, with_batch(batch_, std::move(sample_dims))});
    for (float& value : values.as<float>())
        value = float(stream.next_below(2));
    return add(name, std::move(values));
}

Tensor BenchInputs::integers(const char* name, Dims sample_dims, std::int64_t first,
                             std::int64_t end) {
    RandomStream stream(seed, site_bench, inputs_.size());
    Array values({DType::i32, with_batch(batch_, std::move(sample_dims))});
    for (std::int32_t& value : values.as<std::int32_t>())
        value = std::int32_t(first + std::int64_t(stream.next_below(std::uint64_t(end - first))));
    return add(name, std::move(values));
}

Tensor BenchInputs::choices(const char* name, std::int64_t count, std::int64_t end) {
    RandomStream stream(seed, site_bench, inputs_.size());
    Array values({DType::i32, {batch_, count}});
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(end));
    const std::span<std::int32_t> all = values.as<std::int32_t>();
    for (std::int64_t sample = 0; sample < batch_; ++sample) {
        std::iota(numbers.begin(), numbers.end(), 0);
        for (std::int64_t i = 0; i < count; ++i) {
            const auto other = std::size_t(i) + stream.next_below(std::uint64_t(end - i));
            std::swap(numbers[std::size_t(i)], numbers[other]);
        }
        const auto chosen = std::span(numbers).first(std::size_t(count));
        std::ranges::sort(chosen);
        std::ranges::copy(chosen, all.subspan(std::size_t(sample * count)).begin());
    }
    return add(name, std::move(values));
}

Tensor BenchInputs::add(const char* name, Array values) {
    Shape part = values.shape();
    part.dims[0] /= cores_;
    return inputs_.emplace_back(leaf(part, Placement::per_core, name), std::move(values)).leaf;
}

Array part_of(const Array& whole, int core, int cores) {
    Shape shape = whole.shape();
    shape.dims[0] /= cores;
    Array part(shape);
    const auto bytes = std::size_t(part.byte_count());
    std::copy_n(whole.bytes() + std::size_t(core) * bytes, bytes, part.bytes());
    return part;
}

}    // namespace slipway
