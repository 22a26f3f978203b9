#include "scheduler/search/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/base/check.h"
#include "api/spec/table/kinds.h"
#include "api/spec/table/nearest.h"
#include "api/spec/table/reader.h"
#include "scheduler/search/parameter.h"

namespace slipway::search {

namespace {

std::vector<Parameter> in_order_of_conditions(const SearchSpace& source) {
    std::vector<Parameter> ordered;
    std::set<std::string> placed;
    // Conditions have no cycles, so each round places at least one parameter.
    while (ordered.size() < source.space.size()) {
        const std::size_t before = ordered.size();
        for (const auto& [path, spec] : source.space) {
            const bool is_free = std::ranges::all_of(
                spec.when, [&](const auto& one) { return placed.contains(one.first); });
            if (!is_free || !placed.insert(path).second) continue;
            ordered.push_back({path, spec, {}});
        }
        check(ordered.size() > before, "the conditions of a decoded space have no cycle");
    }
    return ordered;
}

void judge_names(const Constraint& constraint, const std::string& pointer,
                 const SearchSpace& source, std::vector<Problem>& problems) {
    std::vector<std::string_view> paths;
    for (const auto& [path, spec] : source.space)
        paths.push_back(path);
    for (const std::string& name : constraint.names()) {
        if (source.space.contains(name)) continue;
        const auto meant = nearest(name, paths);
        problems.push_back({pointer, "not_allowed",
                            fmt::format("{} names {}, which is not a parameter of the space{}",
                                        dotted_path(pointer), shortened(name),
                                        meant ? fmt::format("; did you mean \"{}\"?", *meant) : ""),
                            as_strings(paths)});
    }
}

}    // namespace

std::optional<Space> Space::compile(const SearchSpace& source, std::vector<Problem>& problems) {
    const std::size_t before = problems.size();
    Space space;
    for (std::size_t i = 0; i < source.constraints.size(); ++i) {
        const std::string pointer = json_pointer("/constraints", i);
        auto parsed = Constraint::parse(source.constraints[i]);
        if (const auto* fault = std::get_if<Constraint::Fault>(&parsed)) {
            problems.push_back({pointer, "bad_format",
                                fmt::format("{} must be an expression such as \"a.b <= 64 or c == "
                                            "'x'\": {}",
                                            dotted_path(pointer), fault->message)});
            continue;
        }
        space.constraints_.push_back(std::get<Constraint>(std::move(parsed)));
        judge_names(space.constraints_.back(), pointer, source, problems);
    }
    if (problems.size() > before) return std::nullopt;
    space.parameters_ = in_order_of_conditions(source);
    for (Parameter& parameter : space.parameters_) {
        if (parameter.spec.type == ParameterType::constant) continue;
        parameter.dimension = space.dimension_++;
    }
    space.bind_constraints();
    return space;
}

void Space::bind_constraints() {
    const auto index_of = [&](const std::string& path) {
        return std::size_t(find(path) - parameters_.data());
    };
    is_read_.assign(parameters_.size(), false);
    for (Constraint& constraint : constraints_) {
        constraint.bind(index_of);
        for (const std::string& name : constraint.names())
            is_read_[index_of(name)] = true;
    }
    parents_.resize(parameters_.size());
    for (std::size_t i = 0; i < parameters_.size(); ++i)
        for (const auto& [parent, values] : parameters_[i].spec.when)
            parents_[i].push_back(index_of(parent));
    // Parents come before what depends on them.
    for (std::size_t i = parameters_.size(); i-- > 0;)
        for (const std::size_t parent : parents_[i])
            if (is_read_[i]) is_read_[parent] = true;
}

const Parameter* Space::find(std::string_view path) const {
    const auto found = std::ranges::find(parameters_, path, &Parameter::path);
    return found == parameters_.end() ? nullptr : &*found;
}

bool Space::exists(const Parameter& parameter, const Point& point) const {
    return std::ranges::all_of(parameter.spec.when, [&](const auto& condition) {
        const auto parent = point.find(condition.first);
        return parent != point.end() &&
               std::ranges::find(condition.second, parent->second) != condition.second.end();
    });
}

Point Space::point_at(std::span<const double> unit) const {
    Point point;
    for (const Parameter& parameter : parameters_) {
        if (!exists(parameter, point)) continue;
        const double u = parameter.dimension ? unit[*parameter.dimension] : 0;
        point.emplace(parameter.path, value_at(parameter.spec, u));
    }
    return point;
}

std::optional<std::vector<double>> Space::unit_of(const Point& point) const {
    std::vector<double> unit(dimension_, 0.5);
    for (const Parameter& parameter : parameters_) {
        const auto value = point.find(parameter.path);
        if (value == point.end()) continue;
        const auto interval = interval_of(parameter.spec, value->second);
        if (!interval) return std::nullopt;
        if (parameter.dimension) unit[*parameter.dimension] = interval->middle();
    }
    return unit;
}

const Constraint* Space::broken(std::span<const Operand> values) const {
    const auto found = std::ranges::find_if(
        constraints_, [&](const Constraint& one) { return !one.holds(values); });
    return found == constraints_.end() ? nullptr : &*found;
}

const Constraint* Space::broken_constraint(const Point& point) const {
    if (constraints_.empty()) return nullptr;
    std::vector<Operand> values(parameters_.size(), Operand::nothing());
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (!is_read_[i]) continue;
        const auto value = point.find(parameters_[i].path);
        if (value != point.end()) values[i] = Operand::of(value->second);
    }
    return broken(values);
}

bool Space::allows(std::span<const double> unit, std::vector<Operand>& values,
                   const Point& given) const {
    if (constraints_.empty()) return true;
    values.assign(parameters_.size(), Operand::nothing());
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        if (!is_read_[i]) continue;
        const Parameter& parameter = parameters_[i];
        auto parent = parents_[i].begin();
        const bool exists = std::ranges::all_of(parameter.spec.when, [&](const auto& condition) {
            const Operand& value = values[*parent++];
            return std::ranges::any_of(condition.second, [&](const Json& one) {
                return is_equal(value, Operand::of(one));
            });
        });
        if (!exists) continue;
        const auto own = given.find(parameter.path);
        values[i] =
            own != given.end()
                ? Operand::of(own->second)
                : operand_at(parameter.spec, parameter.dimension ? unit[*parameter.dimension] : 0);
    }
    return broken(values) == nullptr;
}

std::optional<std::uint64_t> Space::points_max() const {
    constexpr std::uint64_t large = 1'000'000'000;
    std::uint64_t points = 1;
    for (const Parameter& parameter : parameters_) {
        const auto values = value_count(parameter.spec);
        if (!values || *values > large || points > large) return std::nullopt;
        points *= *values;
    }
    return points;
}

std::size_t Space::condition_steps() const {
    std::size_t steps = 0;
    for (const Constraint& one : constraints_)
        steps += one.size();
    for (const Parameter& parameter : parameters_)
        for (const auto& [parent, values] : parameter.spec.when)
            steps += values.size();
    return steps;
}

std::int64_t Space::effort_of_draw() const {
    return std::int64_t(parameters_.size() + condition_steps());
}

}    // namespace slipway::search
