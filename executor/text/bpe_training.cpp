// Merges are learned over the different words with their counts, not over the text: a text has far
// fewer different words than words. Pairs are kept with their counts and the words they were ever
// seen in; the most frequent pair comes from a heap. A count that has meanwhile become smaller is
// put back with its new value when it comes to the top (lazy deletion), and pairs that have grown
// are pushed again, so a merge costs the words it is in and not a pass over all.
//
// What the functions keep: pairs_ counts every pair of neighbours in every word, times the word's
// count; each pair that is seen at least twice is in the heap with a count that is at least its
// own. Ties go to the smaller token numbers, so the result does not depend on the order of a hash
// table. Two pairs that spell the same bytes give one token with two merges.

#include "executor/text/bpe_training.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>

#include "api/base/error.h"
#include "executor/text/bpe_words.h"

namespace slipway {

namespace {

constexpr std::array<const char*, 3> trained_names{"<|endoftext|>", "[PAD]", "[MASK]"};

/// Different words of the texts, each with how often it is there.
class Words {
public:
    Words(std::span<const std::string_view> texts, const std::array<std::int32_t, 256>& bytes) {
        std::unordered_map<std::string_view, std::int64_t> counts;
        for (const std::string_view text : texts) {
            for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
                end = end_of_bpe_word(text, begin);
                ++counts[text.substr(begin, end - begin)];
            }
        }
        for (const auto& [word, count] : counts) {
            Word& added = words_.emplace_back();
            added.count = count;
            for (const char byte : word)
                added.tokens.push_back(bytes[static_cast<unsigned char>(byte)]);
        }
        for (std::size_t i = 0; i < words_.size(); ++i)
            add_pairs(i, +1, std::nullopt);
    }

    std::int64_t count(std::uint64_t pair) const {
        const auto found = pairs_.find(pair);
        return found == pairs_.end() ? 0 : found->second.count;
    }

    std::vector<std::uint64_t> pairs() const {
        std::vector<std::uint64_t> list;
        for (const auto& [pair, facts] : pairs_)
            list.push_back(pair);
        return list;
    }

    /// Puts `merge.result` in the place of every such pair.
    /// returns the pairs that are more than before
    std::vector<std::uint64_t> apply(const BpeMerge& merge) {
        const auto found = pairs_.find(pair_key(merge.left, merge.right));
        const std::vector<std::uint32_t> places = std::move(found->second.words);
        found->second.words.clear();
        grown_.clear();
        for (const std::uint32_t i : places) {
            add_pairs(i, -1, std::nullopt);
            replace(words_[i].tokens, merge);
            add_pairs(i, +1, merge.result);
        }
        std::sort(grown_.begin(), grown_.end());
        grown_.erase(std::unique(grown_.begin(), grown_.end()), grown_.end());
        return grown_;
    }

private:
    struct Word {
        std::vector<std::int32_t> tokens;
        std::int64_t count = 0;
    };
    struct Pair {
        std::int64_t count = 0;
        std::vector<std::uint32_t> words;    // where it is or was
    };

    static void replace(std::vector<std::int32_t>& tokens, const BpeMerge& merge) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < tokens.size(); ++i, ++kept) {
            const bool pair =
                i + 1 < tokens.size() && tokens[i] == merge.left && tokens[i + 1] == merge.right;
            tokens[kept] = pair ? merge.result : tokens[i];
            i += std::size_t(pair);
        }
        tokens.resize(kept);
    }

    /// `made`: the token that is new in the word, whose pairs are listed; none: nothing is known
    /// of the word yet, or it goes.
    void add_pairs(std::size_t word, int sign, std::optional<std::int32_t> made) {
        const std::vector<std::int32_t>& tokens = words_[word].tokens;
        for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
            const std::uint64_t key = pair_key(tokens[i], tokens[i + 1]);
            Pair& pair = pairs_[key];
            pair.count += sign * words_[word].count;
            const bool is_new = !made || tokens[i] == *made || tokens[i + 1] == *made;
            if (sign < 0 || !is_new) continue;
            if (pair.words.empty() || pair.words.back() != word)
                pair.words.push_back(std::uint32_t(word));
            if (made) grown_.push_back(key);
        }
    }

    std::vector<Word> words_;
    std::unordered_map<std::uint64_t, Pair> pairs_;
    std::vector<std::uint64_t> grown_;
};

struct Candidate {
    std::int64_t count;
    std::uint64_t pair;
    bool operator<(const Candidate& other) const {
        return count != other.count ? count < other.count : pair > other.pair;
    }
};

BpeDefinition definition_of_bytes() {
    BpeDefinition definition;
    for (const unsigned char byte : bytes_in_order()) {
        definition.bytes[byte] = std::int32_t(definition.tokens.size());
        definition.tokens.emplace_back(1, char(byte));
    }
    return definition;
}

void learn_merges(Words& words, std::size_t tokens_max, BpeDefinition& definition) {
    // The same bytes can come together in two ways: both are merges to one token.
    std::unordered_map<std::string, std::int32_t> known;
    std::priority_queue<Candidate> queue;
    const auto propose = [&](std::uint64_t pair) {
        const std::int64_t count = words.count(pair);
        if (count >= 2) queue.push({count, pair});
    };
    for (const std::uint64_t pair : words.pairs())
        propose(pair);
    while (definition.tokens.size() < tokens_max && !queue.empty()) {
        const Candidate best = queue.top();
        queue.pop();
        if (words.count(best.pair) != best.count) {    // other merges have taken some of it
            propose(best.pair);
            continue;
        }
        const auto left = std::int32_t(best.pair >> 32), right = std::int32_t(best.pair);
        const std::string bytes =
            definition.tokens[std::size_t(left)] + definition.tokens[std::size_t(right)];
        const auto [place, is_new] = known.emplace(bytes, std::int32_t(definition.tokens.size()));
        if (is_new) definition.tokens.push_back(bytes);
        definition.merges.push_back({left, right, place->second});
        for (const std::uint64_t pair : words.apply(definition.merges.back()))
            propose(pair);
    }
}

}    // namespace

std::array<unsigned char, 256> bytes_in_order() {
    const auto prints = [](int byte) {
        return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    };
    std::array<unsigned char, 256> order{};
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = static_cast<unsigned char>(i);
    std::stable_partition(order.begin(), order.end(), prints);
    return order;
}

BpeDefinition train_bpe(std::span<const std::string_view> texts, std::int64_t vocabulary_size) {
    constexpr std::int64_t least = 256 + std::int64_t(trained_names.size());
    if (vocabulary_size < least) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("a vocabulary of bpe has at least {} tokens (256 bytes and {} "
                                "special ones), got {}",
                                least, trained_names.size(), vocabulary_size)};
    }
    BpeDefinition definition = definition_of_bytes();
    Words words(texts, definition.bytes);
    learn_merges(words, std::size_t(vocabulary_size) - trained_names.size(), definition);
    for (const char* name : trained_names) {
        const auto token = std::int32_t(definition.tokens.size());
        definition.added.push_back({.text = name, .token = token});
        definition.special.emplace_back(name, token);
        definition.tokens.emplace_back(name);
    }
    return definition;
}

}    // namespace slipway
