#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace slipway {

/// A protobuf field with a length: tag, length, `content`.
std::string field(int number, const std::string& content);
std::string varint(std::uint64_t value);

/// Serialised tf.train.Feature: one list each.
std::string texts(const std::vector<std::string>& values);
std::string floats(const std::vector<float>& values);
std::string ints(const std::vector<std::int64_t>& values);

/// A serialised tf.train.Example.
std::string example(const std::vector<std::pair<std::string, std::string>>& features);

/// A record as a TFRecord file has it, with both sums; these are computed bit by bit.
std::string framed(const std::string& record);

}    // namespace slipway
