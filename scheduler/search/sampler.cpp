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

Proposal no_proposal(std::string reason) {
    return {.reason = std::move(reason)};
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
        for (int tries = 0; tries < draws_max; ++tries) {
            const std::uint32_t index = next_++;
            std::vector<double> unit = sequence_.point(index);
            unit.resize(space_.dimension());
            Point point = space_.point_at(unit);
            if (space_.broken_constraint(point) != nullptr) continue;
            return {.exists = true,
                    .unit = std::move(unit),
                    .point = std::move(point),
                    .reason = fmt::format("point {} of the Sobol sequence", index)};
        }
        return no_proposal(fmt::format("{} points in a row break a constraint", draws_max));
    }

private:
    const Space& space_;
    SobolSequence sequence_;
    std::uint32_t next_ = 0;
};

}    // namespace

Proposal random_proposal(const Space& space, std::uint64_t seed, DrawSite site,
                         std::uint64_t index) {
    Draws draws(seed, site, index);
    for (int tries = 0; tries < draws_max; ++tries) {
        std::vector<double> unit(space.dimension());
        for (double& u : unit)
            u = draws.next_uniform();
        Point point = space.point_at(unit);
        if (space.broken_constraint(point) != nullptr) continue;
        return {.exists = true,
                .unit = std::move(unit),
                .point = std::move(point),
                .reason = "drawn at random"};
    }
    return no_proposal(fmt::format("{} random points in a row break a constraint", draws_max));
}

Proposal completed_proposal(const Space& space, const Point& given, std::uint64_t seed,
                            std::uint64_t index) {
    Draws draws(seed, DrawSite::initial, index);
    Proposal proposal{.reason = "a point to start with"};
    for (int tries = 0; tries < draws_max && !proposal.exists; ++tries) {
        proposal.unit.assign(space.dimension(), 0);
        for (const Parameter& parameter : space.parameters()) {
            if (!parameter.dimension) continue;
            const auto value = given.find(parameter.path);
            const double u = draws.next_uniform();
            proposal.unit[*parameter.dimension] =
                value == given.end() ? u : interval_of(parameter.spec, value->second)->middle();
        }
        proposal.point = space.point_at(proposal.unit);
        // A number that went to the cube and back may have lost its last digit.
        for (auto& [path, value] : proposal.point)
            if (const auto one = given.find(path); one != given.end()) value = one->second;
        proposal.exists = space.broken_constraint(proposal.point) == nullptr;
    }
    if (!proposal.exists) proposal.reason = "no completion of a point to start with is possible";
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
