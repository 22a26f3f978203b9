#pragma once

#include <algorithm>

#include "executor/codegen/kernels/rounded_vectors.h"

namespace slipway {

/// Exchanges rows and columns of a square of sixteen registers. Each of log2(16) rounds merges rows
/// that are half a square apart, number by number. The compiler leaves out what computes rows that
/// the caller does not read.
inline void transpose_square(Floats* rows) {
    constexpr int half = floats_count / 2;
    for (int distance = 1; distance < floats_count; distance *= 2) {
        Floats merged[floats_count];
        for (int i = 0; i < half; ++i) {
            const Floats &a = rows[i], &b = rows[i + half];
            merged[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21,
                                                    6, 22, 7, 23);
            merged[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                                        13, 29, 14, 30, 15, 31);
        }
        std::copy_n(merged, floats_count, rows);
    }
}

}    // namespace slipway
