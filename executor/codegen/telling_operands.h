#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "executor/codegen/kernels/view.h"
#include "executor/tensor/dtype.h"

namespace slipway {

/// The terms of a sum of products in pairs, drawn at random. Both terms of a pair have the same
/// number on the left and opposite numbers on the right, so each exact sum is zero, and what a
/// kernel returns is the rounding that its order of additions leaves. Sums of ordinary numbers do
/// not tell: of two orders in f32 nearly all are equal after rounding to bf16.
class TermPairs {
public:
    /// A term without a partner is zero on the left. The same pairs for the same count.
    explicit TermPairs(std::int64_t terms);

    struct Pair {
        std::int64_t first, second;
    };
    std::span<const Pair> pairs() const { return pairs_; }
    std::int64_t terms() const { return terms_; }

private:
    std::int64_t terms_;
    std::vector<Pair> pairs_;
};

/// Numbers of magnitudes from 2^-4 to 2^4, of either sign, the same each time.
class WideNumbers {
public:
    explicit WideNumbers(std::uint64_t seed) : state_(seed) {}
    float next();

private:
    std::uint64_t state_;
};

enum class Side : std::uint8_t { left, right };

/// Writes the operand of one side where the view says: one number for each pair and each place in
/// the other dimensions. The view lies within the memory, which nothing else reads meanwhile.
/// term_dimension  of the view, with as many elements as `terms` has
void fill_operand(std::byte* memory, DType dtype, const View& view, std::size_t term_dimension,
                  const TermPairs& terms, Side side, WideNumbers& numbers);

}    // namespace slipway
