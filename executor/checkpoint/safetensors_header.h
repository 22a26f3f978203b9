#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/result.h"
#include "executor/checkpoint/safetensors.h"

namespace slipway {

inline constexpr std::int64_t safetensors_header_bytes_max = 16 << 20;

/// One tensor as a header describes it; `begin` and `end` count from the end of the header.
struct TensorEntry {
    std::string name;
    Shape shape;    ///< as it is read
    std::int64_t begin = 0;
    std::int64_t end = 0;
    /// The element type of the file where it is not that of `shape`: F16, which is widened to f32,
    /// or one that is not read. Empty: the same.
    std::string file_type = {};
};

/// False for an element type of the format that arrays do not have, such as I16.
bool is_read(const TensorEntry& entry);

struct SafetensorsHeader {
    std::vector<TensorEntry> tensors;    ///< in the order of their bytes
    std::map<std::string, std::string> metadata;
};

/// Reads a header from anywhere and checks it against the `data_bytes` bytes that follow it: after
/// this every entry has exactly the bytes of its dimensions and element type, and together they
/// cover the data once.
/// errors  data_loss naming tensor and what is wrong
Result<SafetensorsHeader> parse_safetensors_header(std::string_view text, std::int64_t data_bytes);

/// The header's text for these tensors, padded with spaces so that 8 + its length is a multiple of
/// 64.
std::string safetensors_header(std::span<const TensorEntry> tensors,
                               const std::map<std::string, std::string>& metadata);

}    // namespace slipway
