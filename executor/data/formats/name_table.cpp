#include "executor/data/formats/name_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "executor/data/formats/csv_reader.h"

namespace slipway {

namespace {

std::optional<std::int64_t> whole_number(const std::string& name) {
    const std::string_view text = without_blanks(name);
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || parsed != end) return std::nullopt;
    return number;
}

}    // namespace

std::optional<std::string> name_problem(std::string_view name, std::string_view option) {
    if (name.size() <= name_bytes_max) return std::nullopt;
    return fmt::format("the name {} has {} bytes, more than the {} of a name; is {} right?",
                       shown(std::string(name.substr(0, 64))), name.size(), name_bytes_max, option);
}

NameTable::NameTable(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        names_.push_back(name);
        numbers_.try_emplace(std::string(without_blanks(name)), std::int32_t(names_.size()) - 1);
    }
}

std::int32_t NameTable::number(const std::string& name) {
    const auto [entry, added] =
        numbers_.try_emplace(std::string(without_blanks(name)), std::int32_t(names_.size()));
    if (added) names_.push_back(entry->first);
    return entry->second;
}

std::optional<std::int32_t> NameTable::class_number(const std::string& label,
                                                    const std::vector<std::string>& names) {
    if (names.empty() || contains(label)) return number(label);
    const std::optional<std::int64_t> place = whole_number(label);
    if (!place || *place < 0 || *place >= std::int64_t(names.size())) return std::nullopt;
    return std::int32_t(*place);
}

std::vector<std::string> NameTable::sort(std::vector<std::int32_t>& numbers) {
    std::vector<std::optional<std::int64_t>> values;
    for (const std::string& name : names_)
        values.push_back(whole_number(name));
    const bool as_numbers = std::all_of(values.begin(), values.end(),
                                        [](const auto& value) { return value.has_value(); });
    std::vector<std::int32_t> order(names_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        const auto [x, y] = std::pair(values[std::size_t(a)], values[std::size_t(b)]);
        if (as_numbers && x != y) return *x < *y;    // "7" and "07" fall through to their bytes
        return names_[std::size_t(a)] < names_[std::size_t(b)];
    });
    std::vector<std::int32_t> place(names_.size());
    std::vector<std::string> sorted;
    for (const std::int32_t old : order) {
        place[std::size_t(old)] = std::int32_t(sorted.size());
        sorted.push_back(names_[std::size_t(old)]);
    }
    for (std::int32_t& number : numbers)
        number = place[std::size_t(number)];
    *this = NameTable(sorted);
    return sorted;
}

}    // namespace slipway
