#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "executor/data/names.h"

namespace slipway {

/// A name of a class, a group or a column is no longer: reports, checkpoints and messages repeat
/// it.
inline constexpr std::size_t name_bytes_max = 1000;

/// What is wrong with `name` when it is too long; `option` says what chose it.
std::optional<std::string> name_problem(std::string_view name, std::string_view option);

/// Distinct texts (classes, groups, parts) and their numbers. Blanks around a text are no part of
/// it.
class NameTable {
public:
    NameTable() = default;
    /// Begins with `names`, in this order.
    explicit NameTable(const std::vector<std::string>& names);

    /// The text's number: its place in the order of first sight.
    std::int32_t number(const std::string& name);
    /// The number of the class that `label` means: that of the name itself; where `names` are given
    /// and it is none of them, a whole number below their count is a place among them.
    std::optional<std::int32_t> class_number(const std::string& label,
                                             const std::vector<std::string>& names);
    bool contains(const std::string& name) const {
        return numbers_.contains(std::string(without_blanks(name)));
    }
    const std::vector<std::string>& names() const { return names_; }

    /// Puts the names in order and rewrites `numbers`, which number() gave, to match. Names that
    /// are all whole numbers are ordered as numbers, others by their bytes.
    std::vector<std::string> sort(std::vector<std::int32_t>& numbers);

private:
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::int32_t> numbers_;
};

}    // namespace slipway
