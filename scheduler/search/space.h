#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/spec/search_space.h"
#include "scheduler/search/constraint.h"

namespace slipway::search {

/// One parameter of a space, and which coordinate of the unit cube it takes. A constant has none.
struct Parameter {
    std::string path;
    ParameterSpec spec;
    std::optional<std::size_t> dimension;
};

/// A search space that can be sampled. Constant after construction.
class Space {
public:
    /// Adds what is wrong with the constraints to `problems` (pointers /constraints/…). None then.
    static std::optional<Space> compile(const SearchSpace& source, std::vector<Problem>& problems);

    /// Parents of conditions before what depends on them, otherwise by path.
    const std::vector<Parameter>& parameters() const { return parameters_; }
    const Parameter* find(std::string_view path) const;
    /// Coordinates of the unit cube: one for each parameter that is not constant.
    std::size_t dimension() const { return dimension_; }

    /// Whether the conditions of `parameter` hold, given the values of its parents.
    bool exists(const Parameter& parameter, const Point& point) const;

    /// The point that a place of the unit cube stands for. Coordinates of parameters that do not
    /// exist there are ignored.
    Point point_at(std::span<const double> unit) const;

    /// The middle of what stands for `point`. Coordinates without a parameter in it are 0.5. None
    /// when a value is not possible.
    std::optional<std::vector<double>> unit_of(const Point& point) const;

    /// The first constraint that `point` does not satisfy; null: it satisfies all.
    const Constraint* broken_constraint(const Point& point) const;

private:
    std::vector<Parameter> parameters_;
    std::vector<Constraint> constraints_;
    std::size_t dimension_ = 0;
};

}    // namespace slipway::search
