#include "scheduler/search/sampler.h"

#include <fmt/format.h>

#include "api/spec/table/kinds.h"
#include "api/spec/table/nearest.h"
#include "api/spec/table/reader.h"
#include "scheduler/search/grid.h"
#include "scheduler/search/parameter.h"
#include "scheduler/search/sobol.h"
#include "scheduler/search/tpe.h"

namespace slipway::search {

namespace {

Proposal no_proposal(std::string reason, std::int64_t effort = 0) {
    return {.reason = std::move(reason), .effort = effort};
}

class RandomSampler final : public Sampler {
public:
    explicit RandomSampler(const SamplerInputs& inputs) : inputs_(inputs) {}

    Proposal propose(const std::vector<Trial>&, std::int64_t number) override {
        return random_proposal(inputs_.space, inputs_.seed, DrawSite::random,
                               std::uint64_t(number));
    }

private:
    SamplerInputs inputs_;
};

class GridSampler final : public Sampler {
public:
    explicit GridSampler(const Space& space)
        : space_(space), points_(grid_points(space, grid_points_max)) {}

    Proposal propose(const std::vector<Trial>&, std::int64_t) override {
        if (next_ == points_.size()) {
            return no_proposal(fmt::format("all {} points of the grid are used", points_.size()));
        }
        const Point& point = points_[next_++];
        return {.exists = true,
                .unit = *space_.unit_of(point),
                .point = point,
                .reason = fmt::format("point {} of {} of the grid", next_, points_.size())};
    }

private:
    const Space& space_;
    std::vector<Point> points_;
    std::size_t next_ = 0;
};

class SobolSampler final : public Sampler {
public:
    SobolSampler(const SamplerInputs& inputs, bool scramble)
        : space_(inputs.space),
          sequence_(std::max<std::size_t>(1, inputs.space.dimension()),
                    scramble ? std::optional(inputs.seed) : std::nullopt) {}

    Proposal propose(const std::vector<Trial>&, std::int64_t) override {
        std::int64_t effort = 0;
        for (int tries = 0; tries < draws_max; ++tries) {
            const std::uint32_t index = next_++;
            std::vector<double> unit = sequence_.point(index);
            unit.resize(space_.dimension());
            effort += space_.effort_of_draw();
            if (!space_.allows(unit, values_)) continue;
            Point point = space_.point_at(unit);
            return {.exists = true,
                    .unit = std::move(unit),
                    .point = std::move(point),
                    .reason = fmt::format("point {} of the Sobol sequence", index),
                    .effort = effort};
        }
        return no_proposal(fmt::format("{} points in a row break a constraint", draws_max), effort);
    }

private:
    const Space& space_;
    SobolSequence sequence_;
    std::uint32_t next_ = 0;
    std::vector<Operand> values_;    // scratch
};

}    // namespace

Proposal random_proposal(const Space& space, std::uint64_t seed, DrawSite site,
                         std::uint64_t index) {
    Draws draws(seed, site, index);
    std::vector<double> unit(space.dimension());
    std::vector<Operand> values;
    std::int64_t effort = 0;
    for (int tries = 0; tries < draws_max; ++tries) {
        for (double& u : unit)
            u = draws.next_uniform();
        effort += space.effort_of_draw();
        if (!space.allows(unit, values)) continue;
        Point point = space.point_at(unit);
        return {.exists = true,
                .unit = std::move(unit),
                .point = std::move(point),
                .reason = "drawn at random",
                .effort = effort};
    }
    return no_proposal(fmt::format("{} random points in a row break a constraint", draws_max),
                       effort);
}

Proposal completed_proposal(const Space& space, const Point& given, std::uint64_t seed,
                            std::uint64_t index) {
    Draws draws(seed, DrawSite::initial, index);
    std::vector<std::pair<std::size_t, double>> fixed;
    for (const Parameter& parameter : space.parameters())
        if (const auto value = given.find(parameter.path);
            parameter.dimension && value != given.end())
            fixed.emplace_back(*parameter.dimension,
                               interval_of(parameter.spec, value->second)->middle());
    Proposal proposal{.unit = std::vector<double>(space.dimension()),
                      .reason = "a point to start with"};
    std::vector<Operand> values;
    for (int tries = 0; tries < draws_max && !proposal.exists; ++tries) {
        for (double& u : proposal.unit)
            u = draws.next_uniform();
        for (const auto& [dimension, u] : fixed)
            proposal.unit[dimension] = u;
        proposal.effort += space.effort_of_draw();
        proposal.exists = space.allows(proposal.unit, values, given);
    }
    if (!proposal.exists) proposal.reason = "no completion of a point to start with is possible";
    proposal.point = space.point_at(proposal.unit);
    // A number that went to the cube and back may have lost its last digit.
    for (auto& [path, value] : proposal.point)
        if (const auto one = given.find(path); one != given.end()) value = one->second;
    return proposal;
}

std::vector<Problem> start_point_problems(const Space& space, const std::vector<Point>& points,
                                          const std::string& pointer) {
    std::vector<Problem> problems;
    std::vector<std::string_view> paths;
    for (const Parameter& parameter : space.parameters())
        paths.push_back(parameter.path);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const std::string here = json_pointer(pointer, i);
        for (const auto& [path, value] : points[i]) {
            const std::string place = json_pointer(here, path);
            const Parameter* parameter = space.find(path);
            if (parameter == nullptr) {
                const auto meant = nearest(path, paths);
                problems.push_back(
                    {place, "unknown_field",
                     fmt::format("{} is not a parameter of the space{}", dotted_path(place),
                                 meant ? fmt::format("; did you mean \"{}\"?", *meant) : ""),
                     as_strings(paths)});
            } else if (!interval_of(parameter->spec, value)) {
                problems.push_back({place, "not_allowed",
                                    fmt::format("{} must be a value that {} can have, got {}",
                                                dotted_path(place), path, shown(value))});
            }
        }
        if (!problems.empty()) continue;
        if (const Constraint* broken = space.broken_constraint(points[i])) {
            problems.push_back({here, "inconsistent",
                                fmt::format("{} does not satisfy the constraint {}",
                                            dotted_path(here), broken->text())});
        }
    }
    return problems;
}

std::unique_ptr<Sampler> make_sampler(const SamplerSpec& spec, const SamplerInputs& inputs) {
    switch (spec.name) {
        case SamplerName::grid:
            return std::make_unique<GridSampler>(inputs.space);
        case SamplerName::random:
            return std::make_unique<RandomSampler>(inputs);
        case SamplerName::sobol:
            return std::make_unique<SobolSampler>(inputs, spec.scramble);
        case SamplerName::tpe:
            return tpe_sampler(spec, inputs);
    }
    return nullptr;
}

}    // namespace slipway::search
