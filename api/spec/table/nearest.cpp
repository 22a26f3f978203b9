#include "api/spec/table/nearest.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace slipway {

namespace {

constexpr std::size_t word_bytes_max = 64;
constexpr std::size_t stem_bytes_min = 4;

std::string lower(std::string_view word) {
    std::string result(word);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return c == '-' ? '_' : char(std::tolower(c)); });
    return result;
}

/// How many letters must be changed, added, dropped or swapped with their neighbour.
std::size_t typing_errors(std::string_view from, std::string_view to) {
    std::array<std::array<std::size_t, word_bytes_max + 1>, 3> rows{};
    for (std::size_t column = 0; column <= to.size(); ++column)
        rows[0][column] = column;
    for (std::size_t line = 1; line <= from.size(); ++line) {
        const auto& above = rows[(line + 2) % 3];
        const auto& above_that = rows[(line + 1) % 3];
        auto& row = rows[line % 3];
        row[0] = line;
        for (std::size_t column = 1; column <= to.size(); ++column) {
            const bool same = from[line - 1] == to[column - 1];
            row[column] = std::min(
                {above[column] + 1, row[column - 1] + 1, above[column - 1] + (same ? 0 : 1)});
            const bool swapped = line > 1 && column > 1 && from[line - 1] == to[column - 2] &&
                                 from[line - 2] == to[column - 1];
            if (swapped) row[column] = std::min(row[column], above_that[column - 2] + 1);
        }
    }
    return rows[from.size() % 3][to.size()];
}

std::string initials(std::string_view word) {
    std::string result;
    for (std::size_t at = 0; at < word.size(); ++at) {
        if (at == 0 || word[at - 1] == '_') result += word[at];
    }
    return result;
}

/// True when one is a beginning or an end of the other: batch_size, batch_size_per_core.
bool same_stem(std::string_view one, std::string_view other) {
    const auto [shorter, longer] = std::minmax(
        one, other, [](std::string_view a, std::string_view b) { return a.size() < b.size(); });
    return shorter.size() >= stem_bytes_min &&
           (longer.starts_with(shorter) || longer.ends_with(shorter));
}

}    // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
    if (word.empty() || word.size() > word_bytes_max) return std::nullopt;
    const std::string meant = lower(word);
    std::optional<std::string_view> best;
    std::size_t best_errors = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const std::string_view candidate : candidates) {
        if (candidate.size() > word_bytes_max) continue;
        const std::size_t errors = typing_errors(meant, lower(candidate));
        if (errors < best_errors) {
            best = candidate;
            best_errors = errors;
        }
    }
    if (best) return best;
    const auto found =
        std::find_if(candidates.begin(), candidates.end(), [&](std::string_view candidate) {
            return same_stem(meant, lower(candidate)) ||
                   (candidate.size() > 1 && initials(meant) == candidate);
        });
    return found == candidates.end() ? std::nullopt : std::optional(*found);
}

}    // namespace slipway
