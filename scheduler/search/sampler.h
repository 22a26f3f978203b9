#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/search/random.h"
#include "scheduler/search/space.h"
#include "scheduler/search/trial.h"

namespace slipway::search {

/// A point for a new trial. `reason` says where it comes from, or why there is none.
struct Proposal {
    bool exists = false;
    std::vector<double> unit = {};
    Point point = {};
    std::string reason = {};
    std::int64_t effort = 0;    ///< what it took, in values and steps of constraints
};

/// A point of an earlier search and what came of it, in the new search's objective.
struct KnownResult {
    Point point;
    double value = 0;
    std::int64_t reached = INT64_MAX;    ///< the time of a trial that was cut short
};

/// What a sampler needs besides its own options.
struct SamplerInputs {
    const Space& space;    ///< outlives the sampler
    std::uint64_t seed = 0;
    MetricMode mode = MetricMode::min;
    ObjectiveSelection selection = ObjectiveSelection::best;
    std::vector<KnownResult> known = {};
};

/// Chooses points. A proposal follows from seed, number and trials, and from how many there were
/// before it.
class Sampler {
public:
    virtual ~Sampler() = default;
    /// The point of trial `number`, the trials before it being as they are now.
    virtual Proposal propose(const std::vector<Trial>& trials, std::int64_t number) = 0;

    /// What propose() chose before, at the same place and time: `unit` is where. The sampler is as
    /// after propose() then; the reason is another.
    virtual Proposal repeat(const std::vector<Trial>& trials, std::int64_t number,
                            const std::vector<double>& /*unit*/) {
        return propose(trials, number);
    }
    /// Whether repeat() costs less than propose().
    virtual bool is_dear() const { return false; }
};

/// As many points as are drawn before a sampler gives up on the constraints.
constexpr int draws_max = 10000;

std::unique_ptr<Sampler> make_sampler(const SamplerSpec& spec, const SamplerInputs& inputs);

/// One point at random that satisfies the constraints.
Proposal random_proposal(const Space& space, std::uint64_t seed, DrawSite site,
                         std::uint64_t index);

/// `given` and random values for what it leaves out. Values are possible ones
/// (start_point_problems).
Proposal completed_proposal(const Space& space, const Point& given, std::uint64_t seed,
                            std::uint64_t index);

/// What is wrong with points to start with: unknown paths, impossible values, broken constraints.
/// Pointers begin with `pointer`: "/warm_start/points".
std::vector<Problem> start_point_problems(const Space& space, const std::vector<Point>& points,
                                          const std::string& pointer);

}    // namespace slipway::search
