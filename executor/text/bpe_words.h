#pragma once

#include <cstddef>
#include <string_view>

namespace slipway {

/// Where the word that begins at `begin` ends, by GPT-2's rule (Radford et al., 2019):
///     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// so a blank belongs to the word after it. Words follow one another without gaps. `text` is UTF-8
/// and `begin` within it. By hand, because a look-ahead is beyond most regular expressions.
std::size_t end_of_bpe_word(std::string_view text, std::size_t begin);

}    // namespace slipway
