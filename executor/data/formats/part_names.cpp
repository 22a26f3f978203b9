#include "executor/data/formats/part_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "executor/data/names.h"

namespace slipway {

namespace {

constexpr auto part_words = std::to_array<std::string_view>(
    {"train", "training", "trainset", "val", "valid", "validation", "validate", "valset", "dev",
     "develop", "development", "devset", "eval", "evaluation", "test", "testing", "testset"});

/// What may follow such a word, beside digits: "training_set", "test-images".
constexpr auto more_words =
    std::to_array<std::string_view>({"set", "data", "dataset", "images", "imgs", "split", "part"});

/// Runs of ASCII letters, in lower case.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words;
    bool inside = false;
    for (const char c : in_lower_case(name)) {
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

bool is_usual_part(std::string_view name) {
    return usual_part_place(name) < part_words.size();
}

std::size_t usual_part_place(std::string_view name) {
    const std::vector<std::string> words = words_of(name);
    const auto is_more = [](const std::string& word) {
        return std::ranges::find(more_words, word) != more_words.end();
    };
    if (words.empty() || !has_only_part_characters(name) ||
        !std::all_of(words.begin() + 1, words.end(), is_more))
        return part_words.size();
    return std::size_t(std::ranges::find(part_words, words[0]) - part_words.begin());
}

}    // namespace slipway
