#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/data/packed/pack.h"

namespace slipway {

// The bytes of a pack around its pixels, as reader and writer have them; see pack.h.

inline constexpr std::string_view pack_magic = "slippack";
inline constexpr std::uint64_t pack_version = 1;
inline constexpr std::size_t pack_header_bytes = 96;
inline constexpr std::size_t pack_sum_at = 32;
inline constexpr std::size_t pack_sum_bytes = 64;
inline constexpr std::size_t pack_entry_bytes = 40;

std::uint64_t pack_number_at(std::span<const std::byte> bytes, std::size_t at);

/// Of header and entries, in which the sum itself is set to zero, and problems.
std::string pack_sum(std::span<std::byte> head, std::string_view problems);

/// Where the pixels of so many images begin.
std::size_t pack_pixels_at(std::size_t samples);

/// Header and entries, sum included.
std::vector<std::byte> pack_head(std::span<const PackedEntry> entries, std::string_view problems);

std::string to_text(const std::vector<PackedProblem>& problems);
/// errors  throws data_loss when the text is no list of problems
std::vector<PackedProblem> packed_problems(std::string_view text);

}    // namespace slipway
