#include "executor/data/formats/npz_names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "executor/data/formats/csv_reader.h"
#include "executor/data/formats/part_names.h"
#include "executor/data/problem.h"

namespace slipway {

namespace {

constexpr auto feature_words =
    std::to_array<std::string_view>({"x", "X", "images", "data", "features"});
constexpr auto label_words = std::to_array<std::string_view>({"y", "labels", "targets"});

/// The word in `name` and the part before or behind it; a part alone or a word in the place of a
/// part is none.
std::optional<std::pair<std::string_view, std::string_view>> word_and_part(std::string_view name) {
    const std::size_t cut = name.find('_');
    if (cut == std::string_view::npos) return std::pair(name, std::string_view());
    const std::string_view before = name.substr(0, cut), behind = name.substr(cut + 1);
    if (is_usual_part(behind)) return std::pair(before, behind);
    if (is_usual_part(before)) return std::pair(behind, before);
    return std::nullopt;
}

/// "x_train, y_train", for messages.
std::string listed(const std::vector<std::string>& names) {
    constexpr std::size_t listed_max = 20;
    std::vector<std::string> words;
    for (const std::string& name : names) {
        if (words.size() == listed_max) {
            words.emplace_back("…");
            break;
        }
        words.push_back(shown(name));
    }
    return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

[[noreturn]] void refuse(const std::string& file, const std::vector<std::string>& arrays,
                         const std::string& message) {
    throw DataError(
        {.file = file,
         .message = fmt::format(
             "{}. The file has the arrays {}. Features are called {} and labels {}, alone or with "
             "train, val, valid, validation or test, as in x_train and test_labels",
             message, listed(arrays), fmt::join(feature_words, ", "),
             fmt::join(label_words, ", "))});
}

}    // namespace

std::vector<NpzPair> find_npz_pairs(const std::string& file,
                                    const std::vector<std::string>& arrays) {
    std::vector<NpzPair> pairs;
    for (const std::string& name : arrays) {
        const auto found = word_and_part(name);
        const bool features =
            found && std::ranges::find(feature_words, found->first) != feature_words.end();
        const bool labels =
            found && std::ranges::find(label_words, found->first) != label_words.end();
        if (!features && !labels)
            refuse(file, arrays, fmt::format("the array {} is not understood", shown(name)));
        auto pair = std::ranges::find(pairs, found->second, &NpzPair::part);
        if (pair == pairs.end())
            pair = pairs.insert(pair, {std::string(found->second), {}, {}, {}});
        std::string& place = features ? pair->features : pair->labels;
        if (!place.empty()) {
            refuse(file, arrays,
                   fmt::format("{} and {} are both {}", shown(place), shown(name),
                               features ? "features" : "labels"));
        }
        place = name;
        if (labels) pair->label_word = found->first;
    }
    if (pairs.empty()) refuse(file, arrays, "there is no array in it");
    for (const NpzPair& pair : pairs) {
        if (pair.labels.empty())
            refuse(file, arrays, fmt::format("{} has no labels", shown(pair.features)));
        if (pair.features.empty())
            refuse(file, arrays, fmt::format("{} has no features", shown(pair.labels)));
    }
    std::ranges::stable_sort(pairs, {}, [](const NpzPair& pair) {
        const auto kind = part_kind(pair.part);
        return std::pair(!kind, kind);    // arrays without a part come last
    });
    return pairs;
}

}    // namespace slipway
