#pragma once

#include <cstdint>
#include <optional>

#include "api/spec/search_space.h"
#include "scheduler/search/operand.h"

namespace slipway::search {

// One parameter and the unit interval. Samplers see numbers in [0, 1); a parameter says which value
// a number stands for, so that equal lengths are equally likely.

/// A part of the unit interval. A point of a continuous parameter has no length.
struct Interval {
    double begin = 0;
    double end = 0;
    double middle() const { return begin + (end - begin) / 2; }
};

/// The value at u in [0, 1].
Json value_at(const ParameterSpec& spec, double u);

/// The same without a copy: what it refers to is part of `spec`.
Operand operand_at(const ParameterSpec& spec, double u);

/// The numbers that stand for this value; none when the parameter cannot have it.
std::optional<Interval> interval_of(const ParameterSpec& spec, const Json& value);

/// How many values it can have; none: as many as there are numbers.
std::optional<std::uint64_t> value_count(const ParameterSpec& spec);

/// Whether its values have no order that a sampler could learn from.
bool is_categorical(const ParameterSpec& spec);

/// How many values it has in a grid; none: a continuous parameter without count.
std::optional<std::uint64_t> grid_count(const ParameterSpec& spec);

/// The values of a parameter with `count`: computed once, used for each point.
std::vector<Json> spaced_grid(const ParameterSpec& spec);

/// Value `index` of the grid's.
Json grid_value(const ParameterSpec& spec, std::uint64_t index);

}    // namespace slipway::search
