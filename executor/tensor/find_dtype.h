#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "executor/tensor/dtype.h"

namespace slipway {

/// The type of this name, as to_string writes it; none for another word.
constexpr std::optional<DType> find_dtype(std::string_view word) {
    for (const DType dtype : std::array{DType::pred, DType::u8, DType::u32, DType::i32, DType::i64,
                                        DType::bf16, DType::f32, DType::f64})
        if (to_string(dtype) == word) return dtype;
    return std::nullopt;
}

}    // namespace slipway
