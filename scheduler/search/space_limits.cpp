#include "scheduler/search/space_limits.h"

#include <fmt/format.h>

#include "api/spec/table/kinds.h"
#include "api/spec/table/reader.h"

namespace slipway::search {

namespace {

// Each problem repeats a part of a value, so that many of them would be a large answer.
constexpr std::size_t value_problems_max = 20;

std::size_t characters_of(const Json& value) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    return std::size_t(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

void check_value(const Json& value, const std::string& pointer, std::vector<Problem>& problems) {
    if (!value.is_string() && !value.is_structured()) return;
    const std::size_t characters = characters_of(value);
    if (characters <= value_characters_max || problems.size() >= value_problems_max) return;
    problems.push_back({pointer, "out_of_bounds",
                        fmt::format("{} must have at most {} characters, got {}; use a short name "
                                    "and look the text up by it",
                                    dotted_path(pointer), value_characters_max, characters)});
}

}    // namespace

std::vector<Problem> space_limit_problems(const SearchSpace& source, const Space& space) {
    std::vector<Problem> problems;
    for (const auto& [path, spec] : source.space) {
        const std::string& here = spec.given_at.pointer;
        check_value(spec.value, here + "/value", problems);
        for (std::size_t i = 0; i < spec.values.size(); ++i)
            check_value(spec.values[i], json_pointer(here + "/values", i), problems);
        for (const auto& [parent, values] : spec.when)
            for (std::size_t i = 0; i < values.size(); ++i)
                check_value(values[i], json_pointer(json_pointer(here + "/when", parent), i),
                            problems);
    }
    const std::size_t steps = space.condition_steps();
    if (steps > condition_steps_max)
        problems.push_back(
            {source.constraints.empty() ? "/space" : "/constraints", "out_of_bounds",
             fmt::format("the names, values and operators of all constraints and the values of all "
                         "`when` must be at most {}, got {}; use shorter constraints, or `when` "
                         "and `choice` in place of constraints",
                         condition_steps_max, steps)});
    return problems;
}

}    // namespace slipway::search
