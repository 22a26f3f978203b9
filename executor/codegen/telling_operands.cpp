#include "executor/codegen/telling_operands.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "executor/tensor/bfloat16.h"

namespace slipway {

namespace {

std::uint64_t next_state(std::uint64_t state) {
    return state * 6364136223846793005U + 1442695040888963407U;
}

template <class Number>
void fill(Number* to, const View& rest, std::int64_t term_step, const TermPairs& terms, Side side,
          WideNumbers& numbers) {
    const Nest nest = make_nest(rest.dims, std::span(&rest, 1));
    const std::int64_t columns = nest.extents.back(), step = nest.steps[0].back();
    std::vector<char> is_paired(std::size_t(terms.terms()), 0);
    for (const auto& [first, second] : terms.pairs())
        is_paired[std::size_t(first)] = is_paired[std::size_t(second)] = 1;
    const auto alone = std::ranges::find(is_paired, 0) - is_paired.begin();
    for_each_row(nest, [&](std::span<const std::int64_t> offsets) {
        Number* const row = to + offsets[0];
        for (std::int64_t column = 0; column < columns; ++column) {
            Number* const at = row + column * step;
            for (const auto& [first, second] : terms.pairs()) {
                const float number = numbers.next();
                at[first * term_step] = Number(number);
                at[second * term_step] = Number(side == Side::left ? number : -number);
            }
            if (alone < terms.terms())
                at[alone * term_step] = Number(side == Side::left ? 0.0F : numbers.next());
        }
    });
}

}    // namespace

TermPairs::TermPairs(std::int64_t terms) : terms_(terms) {
    std::vector<std::int64_t> order(std::size_t(std::max<std::int64_t>(0, terms)));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::uint64_t state = 2024;
    for (std::size_t i = order.size(); i > 1; --i) {
        state = next_state(state);
        std::swap(order[i - 1], order[std::size_t((state >> 33) % i)]);
    }
    for (std::size_t i = 0; i + 1 < order.size(); i += 2)
        pairs_.push_back({order[i], order[i + 1]});
}

float WideNumbers::next() {
    state_ = next_state(state_);
    const auto bits = std::uint32_t(state_ >> 32);
    // Sign and mantissa from the upper bits, which are the better ones; exponents of 2^-4 to 2^3.
    const std::uint32_t exponent = 123 + (bits & 7U);
    const std::uint32_t word = (bits & 0x80000000U) | exponent << 23 | (bits >> 8 & 0x7fffffU);
    float number = 0;
    std::memcpy(&number, &word, sizeof number);
    return number;
}

void fill_operand(std::byte* memory, DType dtype, const View& view, std::size_t term_dimension,
                  const TermPairs& terms, Side side, WideNumbers& numbers) {
    View rest = view;
    const std::int64_t term_step = rest.strides[term_dimension];
    rest.dims.erase(rest.dims.begin() + std::ptrdiff_t(term_dimension));
    rest.strides.erase(rest.strides.begin() + std::ptrdiff_t(term_dimension));
    if (dtype == DType::bf16)
        fill(reinterpret_cast<BFloat16*>(memory), rest, term_step, terms, side, numbers);
    else
        fill(reinterpret_cast<float*>(memory), rest, term_step, terms, side, numbers);
}

}    // namespace slipway
