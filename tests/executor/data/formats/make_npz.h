#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace slipway {

/// A .npy file: `shape` is written as it is, "(2, 3)".
std::string npy_file(const std::string& type, const std::string& shape, const std::string& items);
/// Numbers as little-endian items of so many bytes each, and as doubles.
std::string integers(const std::vector<std::int64_t>& numbers, std::size_t bytes);
std::string doubles(const std::vector<double>& numbers);

/// A zip of NAME.npy for each array.
std::string npz_file(const std::vector<std::pair<std::string, std::string>>& arrays,
                     bool deflated = true);

}    // namespace slipway
