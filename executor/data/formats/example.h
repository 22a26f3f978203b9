#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "api/base/result.h"

namespace slipway {

/// A named list of a tf.train.Example: one kind of values.
struct ExampleFeature {
    enum class Kind { none, bytes, floats, ints };

    std::string_view name;
    Kind kind = Kind::none;
    std::vector<std::string_view> bytes;
    std::vector<float> floats;
    std::vector<std::int64_t> ints;

    std::size_t size() const { return bytes.size() + floats.size() + ints.size(); }
};

/// More of either in one record are refused.
inline constexpr std::size_t example_values_max = std::size_t{1} << 24;
inline constexpr std::size_t example_features_max = 10'000;

/// Reads a serialised tf.train.Example (proto3; tensorflow/core/example/example.proto and
/// feature.proto), lists packed or not; unknown fields are passed over. Sorted by name; names and
/// bytes point into `record`. The same as protobuf's reader gives, but that groups are refused.
/// errors  data_loss in words, with the byte of the record
Result<std::vector<ExampleFeature>> read_example(std::span<const std::byte> record);

/// "bytes", "float", "int64"; "no values" for none.
std::string_view to_string(ExampleFeature::Kind kind);

}    // namespace slipway
