#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace slipway {

/// Element types. Enumerators are spelled as in the printed graph.
/// f64 exists for the naive evaluator's gradient checks; programs run f32 and bf16.
enum class DType : std::uint8_t { pred, u8, u32, i32, i64, bf16, f32, f64 };

constexpr std::size_t size_in_bytes(DType dtype) {
    switch (dtype) {
        case DType::pred:
            return 1;
        case DType::u8:
            return 1;
        case DType::u32:
            return 4;
        case DType::i32:
            return 4;
        case DType::i64:
            return 8;
        case DType::bf16:
            return 2;
        case DType::f32:
            return 4;
        case DType::f64:
            return 8;
    }
    return 0;
}

constexpr std::string_view to_string(DType dtype) {
    switch (dtype) {
        case DType::pred:
            return "pred";
        case DType::u8:
            return "u8";
        case DType::u32:
            return "u32";
        case DType::i32:
            return "i32";
        case DType::i64:
            return "i64";
        case DType::bf16:
            return "bf16";
        case DType::f32:
            return "f32";
        case DType::f64:
            return "f64";
    }
    return "?";
}

constexpr bool is_floating(DType dtype) {
    return dtype == DType::bf16 || dtype == DType::f32 || dtype == DType::f64;
}

constexpr bool is_integer(DType dtype) {
    return dtype == DType::u8 || dtype == DType::u32 || dtype == DType::i32 || dtype == DType::i64;
}

constexpr bool is_number(DType dtype) {
    return dtype != DType::pred;
}

}    // namespace slipway
