#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "executor/program/program.h"

/// The fixed tree over core numbers: sum(first..last) = sum(left) + sum(right), left being the
/// largest power of two below the count: ((0+1)+(2+3))+((4+5)+(6+7)). The order of additions is
/// the same for any number of workers, so the bits are too.
namespace slipway {

/// Which partial buffer core `index` of a block writes its contribution to: as many partial sums of
/// its left neighbours are waiting as its number has ones.
int partial_of(int index);

/// How often the last two partials are combined after core `index` of `count` has contributed.
/// After the last core only partial 0 is left.
int merges_after(int index, int count);

/// into[i] = into[i] (+, max, min) from[i] for i in begin..end. Elements of `dtype`: f32, i32, i64.
void combine(Combine how, DType dtype, std::byte* into, const std::byte* from, std::int64_t begin,
             std::int64_t end);

/// roots[0][i] = the tree over roots[..][i], for i in begin..end; the other roots are used up.
/// bf16 is added in f32 and rounded once.
void combine_roots(const Sum& sum, DType dtype, std::span<std::byte* const> roots,
                   std::int64_t begin, std::int64_t end);

/// The same of f32, where each `per_block` roots are those of a block of block_cores cores: what
/// they are together is rounded to bf16 before it is added to the others'.
void combine_rounded_roots(const Sum& sum, std::span<std::byte* const> roots, std::size_t per_block,
                           std::int64_t begin, std::int64_t end);

}    // namespace slipway
