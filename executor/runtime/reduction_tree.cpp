// A sum over cores is a binary tree over core numbers that is fixed by their count, so floating
// sums have the same bits however many threads compute the cores. The tree is walked like a binary
// counter: after core i as many pairs are merged as i ends in ones, so a block of n cores holds at
// most log2(n) + 1 partial sums, not n. The worker that computes a block of cores merges within it;
// combine_roots merges the blocks by the same rule. One sum for each worker would be simpler, but
// its bits would change with the number of workers (docs/decisions/0013).
//
// What the functions keep: a merge is always of neighbours, into the left one; the last core merges
// what is left to one root; integers wrap around, and a NaN stays one in maximum and minimum.

#include "executor/runtime/reduction_tree.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "api/base/check.h"
#include "executor/runtime/bf16_sums.h"

namespace slipway {

namespace {

/// Integers wrap around, as StableHLO says.
template <class T>
T sum(T left, T right) {
    if constexpr (std::is_integral_v<T>) {
        using Unsigned = std::make_unsigned_t<T>;
        return T(Unsigned(left) + Unsigned(right));
    } else {
        return left + right;
    }
}

template <class T>
void combine_as(Combine how, T* into, const T* from, std::int64_t count) {
    switch (how) {
        case Combine::add:
            for (std::int64_t i = 0; i < count; ++i)
                into[i] = sum(into[i], from[i]);
            return;
        case Combine::maximum:
            for (std::int64_t i = 0; i < count; ++i)
                into[i] = into[i] > from[i] || into[i] != into[i] ? into[i] : from[i];
            return;
        case Combine::minimum:
            for (std::int64_t i = 0; i < count; ++i)
                into[i] = into[i] < from[i] || into[i] != into[i] ? into[i] : from[i];
            return;
    }
}

template <class T>
void combine_range(Combine how, std::byte* into, const std::byte* from, std::int64_t begin,
                   std::int64_t end) {
    combine_as(how, reinterpret_cast<T*>(into) + begin, reinterpret_cast<const T*>(from) + begin,
               end - begin);
}

}    // namespace

int partial_of(int index) {
    return std::popcount(unsigned(index));
}

int merges_after(int index, int count) {
    if (index + 1 == count) return partial_of(index);
    return std::countr_one(unsigned(index));
}

void combine(Combine how, DType dtype, std::byte* into, const std::byte* from, std::int64_t begin,
             std::int64_t end) {
    if (dtype == DType::f32) return combine_range<float>(how, into, from, begin, end);
    if (dtype == DType::i32) return combine_range<std::int32_t>(how, into, from, begin, end);
    check(dtype == DType::i64, "an all_reduce is over f32, i32 or i64");
    combine_range<std::int64_t>(how, into, from, begin, end);
}

namespace {

/// A piece at a time, which stays in the first-level cache.
void combine_bf16_roots(const Sum& sum, std::span<std::byte* const> roots, std::int64_t begin,
                        std::int64_t end) {
    constexpr std::int64_t piece = 2048;
    std::vector<float> wide(roots.size() * std::size_t(piece));
    std::vector<std::byte*> wide_roots;
    for (std::size_t i = 0; i < roots.size(); ++i)
        wide_roots.push_back(reinterpret_cast<std::byte*>(wide.data() + i * std::size_t(piece)));
    for (std::int64_t first = begin; first < end; first += piece) {
        const std::int64_t count = std::min(piece, end - first);
        for (std::size_t i = 0; i < roots.size(); ++i)
            widen(roots[i] + first * 2, wide.data() + i * std::size_t(piece), count);
        combine_roots(sum, DType::f32, wide_roots, 0, count);
        narrow(wide.data(), roots[0] + first * 2, count);
    }
}

}    // namespace

void combine_roots(const Sum& sum, DType dtype, std::span<std::byte* const> roots,
                   std::int64_t begin, std::int64_t end) {
    if (dtype == DType::bf16) return combine_bf16_roots(sum, roots, begin, end);
    const int count = int(roots.size());
    std::vector<std::byte*> waiting;
    for (int index = 0; index < count; ++index) {
        waiting.push_back(roots[std::size_t(index)]);
        for (int merge = merges_after(index, count); merge > 0; --merge) {
            const std::byte* const right = waiting.back();
            waiting.pop_back();
            combine(sum.combine, dtype, waiting.back(), right, begin, end);
        }
    }
}

void combine_rounded_roots(const Sum& sum, std::span<std::byte* const> roots, std::size_t per_block,
                           std::int64_t begin, std::int64_t end) {
    std::vector<std::byte*> rounded;
    for (std::size_t first = 0; first < roots.size(); first += per_block) {
        const auto block = roots.subspan(first, std::min(per_block, roots.size() - first));
        combine_roots(sum, DType::f32, block, begin, end);
        round_to_bf16(block[0], begin, end);
        rounded.push_back(block[0]);
    }
    combine_roots(sum, DType::f32, rounded, begin, end);
}

}    // namespace slipway
