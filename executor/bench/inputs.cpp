#include "executor/bench/inputs.h"

#include <algorithm>
#include <numeric>
namespace slipway {

namespace {

constexpr std::uint64_t input_seed = 1;

Dims with_batch(std::int64_t batch, Dims dims) {
    dims.insert(dims.begin(), batch);
    return dims;
}

}    // namespace

Tensor BenchInputs::normal(const char* name, Dims sample_dims) {
    return add(name, DType::f32, std::move(sample_dims), [](Array& values, RandomStream& stream) {
        for (float& value : values.as<float>())
            value = stream.next_normal();
    });
}

Tensor BenchInputs::coins(const char* name, Dims sample_dims) {
    return add(name, DType::f32, std::move(sample_dims), [](Array& values, RandomStream& stream) {
        for (float& value : values.as<float>())
            value = float(stream.next_below(2));
    });
}

Tensor BenchInputs::integers(const char* name, Dims sample_dims, std::int64_t first,
                             std::int64_t end) {
    return add(name, DType::i32, std::move(sample_dims),
               [first, end](Array& values, RandomStream& stream) {
                   const auto count = std::uint64_t(end - first);
                   for (std::int32_t& value : values.as<std::int32_t>())
                       value = std::int32_t(first + std::int64_t(stream.next_below(count)));
               });
}

Tensor BenchInputs::choices(const char* name, std::int64_t count, std::int64_t end) {
    return add(name, DType::i32, {count}, [count, end](Array& values, RandomStream& stream) {
        std::vector<std::int32_t> numbers(static_cast<std::size_t>(end));
        const std::span<std::int32_t> all = values.as<std::int32_t>();
        for (auto rest = all; !rest.empty(); rest = rest.subspan(std::size_t(count))) {
            std::iota(numbers.begin(), numbers.end(), 0);
            for (std::int64_t i = 0; i < count; ++i) {
                const auto other = std::size_t(i) + stream.next_below(std::uint64_t(end - i));
                std::swap(numbers[std::size_t(i)], numbers[other]);
            }
            const auto chosen = std::span(numbers).first(std::size_t(count));
            std::ranges::sort(chosen);
            std::ranges::copy(chosen, rest.begin());
        }
    });
}

Tensor BenchInputs::add(const char* name, DType dtype, Dims sample_dims, Fill fill) {
    const Shape whole{dtype, with_batch(batch_, std::move(sample_dims))};
    Shape part = whole;
    part.dims[0] /= cores_;
    auto values = [whole, number = inputs_.size(), fill = std::move(fill)] {
        Array made(whole);
        RandomStream stream(input_seed, site_bench, number);
        fill(made, stream);
        return made;
    };
    return inputs_.emplace_back(input(part, Placement::per_core, name), std::move(values)).input;
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
