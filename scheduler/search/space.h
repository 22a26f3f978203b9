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

/// What the constraints and conditions of a new space may have in all: a search may ask all of them
/// for each of draws_max points.
constexpr std::size_t condition_steps_max = 2000;

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

    /// Whether point_at(unit) satisfies all constraints, without making it: a search that rejects
    /// thousands of points spends its time here. `given` are values that the point has instead of
    /// those at `unit`. `values` is the caller's, so that it is allocated once.
    bool allows(std::span<const double> unit, std::vector<Operand>& values,
                const Point& given = {}) const;

    /// How many points there are at most; none: as many as there are numbers.
    std::optional<std::uint64_t> points_max() const;
    /// The steps of all constraints and the values of all conditions.
    std::size_t condition_steps() const;
    /// The work of drawing one point: its values and the steps.
    std::int64_t effort_of_draw() const;

private:
    void bind_constraints();
    const Constraint* broken(std::span<const Operand> values) const;

    std::vector<Parameter> parameters_;
    std::vector<Constraint> constraints_;              // slots are the indices of parameters
    std::vector<std::vector<std::size_t>> parents_;    // by parameter, in the order of its `when`
    std::vector<bool> is_read_;    // by parameter: constraints, or conditions of what they need
    std::size_t dimension_ = 0;
};

}    // namespace slipway::search
