#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace slipway {

/// The tokens of words seen before in one text: words repeat, and finding their tokens is dear.
/// Lives as long as one call; the words point into its text.
class WordCache {
public:
    /// Appends the tokens of `word` to `tokens`: known ones, or what `encode(word, tokens)`
    /// appends.
    template <class Encode>
    void append(std::string_view word, std::vector<std::int32_t>& tokens, const Encode& encode) {
        const auto found = known_.find(word);
        if (found != known_.end()) {
            const auto [begin, count] = found->second;
            for (std::uint32_t i = 0; i < count; ++i)
                tokens.push_back(kept_[begin + i]);
            return;
        }
        const std::size_t before = tokens.size();
        encode(word, tokens);
        const std::size_t count = tokens.size() - before;
        if (known_.size() >= words_max || word.size() > word_bytes_max) return;
        known_.emplace(word, Range{std::uint32_t(kept_.size()), std::uint32_t(count)});
        kept_.insert(kept_.end(), tokens.begin() + std::ptrdiff_t(before), tokens.end());
    }

private:
    struct Range {
        std::uint32_t begin, count;
    };
    // Both bound the memory: no text makes it keep more than words_max * word_bytes_max tokens.
    static constexpr std::size_t words_max = 1 << 20;
    static constexpr std::size_t word_bytes_max = 64;

    std::unordered_map<std::string_view, Range> known_;
    std::vector<std::int32_t> kept_;
};

}    // namespace slipway
