#include "executor/data/formats/part_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "api/base/letter_case.h"

namespace slipway {

namespace {

struct PartWord {
    std::string_view word;
    PartKind kind;
};

constexpr auto part_words = std::to_array<PartWord>({{"train", PartKind::train},
                                                     {"training", PartKind::train},
                                                     {"trainset", PartKind::train},
                                                     {"val", PartKind::val},
                                                     {"valid", PartKind::val},
                                                     {"validation", PartKind::val},
                                                     {"validate", PartKind::val},
                                                     {"valset", PartKind::val},
                                                     {"dev", PartKind::val},
                                                     {"develop", PartKind::val},
                                                     {"development", PartKind::val},
                                                     {"devset", PartKind::val},
                                                     {"eval", PartKind::val},
                                                     {"evaluation", PartKind::val},
                                                     {"test", PartKind::test},
                                                     {"testing", PartKind::test},
                                                     {"testset", PartKind::test}});

/// What may follow such a word, beside digits: "training_set", "test-images".
constexpr auto more_words =
    std::to_array<std::string_view>({"set", "data", "dataset", "images", "imgs", "split", "part"});

/// Runs of ASCII letters, in lower case.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words;
    bool inside = false;
    for (const char c : lower_case(name)) {
        const bool letter = c >= 'a' && c <= 'z';
        if (letter && !inside) words.emplace_back();
        if (letter) words.back() += c;
        inside = letter;
    }
    return words;
}

/// "Café" and "train (old)" have characters or words that a part's name does not have.
bool has_only_part_characters(std::string_view name) {
    return std::ranges::all_of(name, [](unsigned char c) { return c < 0x80; });
}

}    // namespace

std::optional<PartKind> part_kind(std::string_view name) {
    const std::vector<std::string> words = words_of(name);
    const auto is_more = [](const std::string& word) {
        return std::ranges::find(more_words, word) != more_words.end();
    };
    if (words.empty() || !has_only_part_characters(name) ||
        !std::all_of(words.begin() + 1, words.end(), is_more))
        return std::nullopt;
    const auto* found = std::ranges::find(part_words, words[0], &PartWord::word);
    if (found == part_words.end()) return std::nullopt;
    return found->kind;
}

bool is_usual_part(std::string_view name) {
    return part_kind(name).has_value();
}

}    // namespace slipway
