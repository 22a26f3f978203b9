// The estimator draws candidates where good results are dense and takes the one where they are
// densest relative to the others, which is the expected improvement up to a monotone function
// (Bergstra et al.). Both densities are over all parameters together, so that it learns which
// values go together; the univariate estimator draws each parameter by itself. Every second point
// in that way, as a hedge for functions that are sums over their parameters, was worse on these too
// (rastrigin4 of bench/search_quality.py: 14.2 instead of 11.7).
//
// A finite space can be used up: candidates that were tried already are taken only when every
// candidate was.

#include "scheduler/search/tpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "scheduler/search/parzen.h"
#include "scheduler/search/stable_math.h"

namespace slipway::search {

namespace {

constexpr double good_fraction = 0.15;
constexpr std::size_t good_max = 25;
// Each candidate is compared with each result in each parameter. More candidates than the default
// are taken only as long as choosing one point stays within about half a second.
constexpr std::int64_t candidates_min = 64;
constexpr std::int64_t candidate_effort_max = 200'000'000;

/// A result as the estimator sees it.
struct Observation {
    const Point* point;
    const std::vector<double>* unit;
    double loss;
    std::int64_t reached;    // the time of a trial that was cut short; the greatest of a whole one
    std::int64_t order;
};

bool is_better(const Observation& a, const Observation& b) {
    return std::tuple(a.loss == worst_loss, -a.reached, a.loss, a.order) <
           std::tuple(b.loss == worst_loss, -b.reached, b.loss, b.order);
}

class Tpe final : public Sampler {
public:
    Tpe(const SamplerSpec& spec, const SamplerInputs& inputs)
        : spec_(spec),
          inputs_(inputs),
          startup_(make_sampler({.name = SamplerName::sobol}, inputs)) {
        for (KnownResult& known : inputs_.known) {
            known_units_.push_back(inputs.space.unit_of(known.point));
            std::erase_if(known.point, [&](const auto& value) {    // of another space
                return inputs.space.find(value.first) == nullptr;
            });
        }
    }

    Proposal propose(const std::vector<Trial>& trials, std::int64_t number) override {
        if (is_starting(trials)) return startup_->propose(trials, number);
        std::vector<Observation> seen = observations(trials);
        std::ranges::sort(seen, is_better);
        const std::size_t good_count =
            std::min(std::size_t(std::ceil(good_fraction * double(seen.size()) - 1e-9)), good_max);
        std::vector<Observation> good(seen.begin(), seen.begin() + std::ptrdiff_t(good_count));
        std::vector<Observation> bad(seen.begin() + std::ptrdiff_t(good_count), seen.end());
        if (spec_.constant_liar) add_running(trials, bad);
        return best_candidate(mixture(good), mixture(bad), trials, number, seen.size());
    }

    Proposal repeat(const std::vector<Trial>& trials, std::int64_t number,
                    const std::vector<double>& unit) override {
        if (is_starting(trials)) return startup_->propose(trials, number);
        return {.exists = true,
                .unit = unit,
                .point = inputs_.space.point_at(unit),
                .reason = "tpe: chosen before"};
    }

    bool is_dear() const override { return true; }

private:
    /// Too few results to learn from. Looks at no more trials than it has to.
    bool is_starting(const std::vector<Trial>& trials) const {
        if (inputs_.space.dimension() == 0) return true;
        std::int64_t wanted = spec_.startup_trials;
        for (const auto& unit : known_units_)
            if (unit) --wanted;
        for (auto trial = trials.begin(); wanted > 0 && trial != trials.end(); ++trial)
            if (trial->state != TrialState::running) --wanted;
        return wanted > 0;
    }

    std::vector<Observation> observations(const std::vector<Trial>& trials) const {
        std::vector<Observation> seen;
        for (std::size_t i = 0; i < inputs_.known.size(); ++i) {
            if (!known_units_[i]) continue;    // of another space
            seen.push_back({&inputs_.known[i].point, &*known_units_[i],
                            loss_of(inputs_.known[i].value, inputs_.mode), inputs_.known[i].reached,
                            std::int64_t(i) - std::int64_t(inputs_.known.size())});
        }
        for (const Trial& trial : trials) {
            if (trial.state == TrialState::running) continue;
            const bool is_whole = trial.state == TrialState::completed;
            const bool has_value = !trial.reports.empty() && trial.state != TrialState::failed;
            seen.push_back({&trial.point, &trial.unit,
                            has_value ? judged_report(trial, inputs_.selection).loss : worst_loss,
                            is_whole    ? INT64_MAX
                            : has_value ? trial.reports.back().time
                                        : 0,
                            trial.number});
        }
        return seen;
    }

    static void add_running(const std::vector<Trial>& trials, std::vector<Observation>& bad) {
        for (const Trial& trial : trials) {
            if (trial.state != TrialState::running) continue;
            bad.push_back({&trial.point, &trial.unit, worst_loss, 0, trial.number});
        }
    }

    ParzenMixture mixture(const std::vector<Observation>& observations) const {
        std::vector<PlacedPoint> points;
        for (const Observation& one : observations)
            points.push_back({one.point, one.unit});
        return {inputs_.space, points};
    }

    Proposal best_candidate(ParzenMixture good, ParzenMixture bad, const std::vector<Trial>& trials,
                            std::int64_t number, std::size_t seen) const {
        Draws draws(inputs_.seed, DrawSite::tpe, std::uint64_t(number));
        Proposal best;
        bool best_is_new = false;
        double best_ratio = 0;
        std::int64_t judged = 0;
        std::int64_t effort = 0;
        const std::int64_t effort_of_candidate =
            std::int64_t(trials.size() + inputs_.known.size() + 1) *
            std::int64_t(inputs_.space.dimension());
        const std::int64_t candidates = std::min(
            spec_.candidates, std::max(candidates_min, candidate_effort_max / effort_of_candidate));
        std::vector<Operand> values;
        for (int tries = 0; tries < draws_max && judged < candidates; ++tries) {
            std::vector<double> unit = good.draw(draws);
            effort += inputs_.space.effort_of_draw();
            if (!inputs_.space.allows(unit, values)) continue;
            Point point = inputs_.space.point_at(unit);
            ++judged;
            effort += effort_of_candidate;
            const double ratio = good.log_density(point) - bad.log_density(point);
            if (best_is_new && ratio <= best_ratio) continue;
            const bool is_new = std::ranges::none_of(
                trials, [&](const Trial& trial) { return trial.point == point; });
            if (best.exists && std::tuple(is_new, ratio) <= std::tuple(best_is_new, best_ratio))
                continue;
            best = {.exists = true, .unit = std::move(unit), .point = std::move(point)};
            best_is_new = is_new;
            best_ratio = ratio;
        }
        if (!best.exists)
            return random_proposal(inputs_.space, inputs_.seed, DrawSite::random,
                                   std::uint64_t(number));
        best.effort = effort;
        best.reason = fmt::format(
            "tpe: best of {} candidates; {:.3g} times as dense among good results as among the "
            "others of {}",
            judged, stable_exp(std::min(best_ratio, 100.0)), seen);
        return best;
    }

    SamplerSpec spec_;
    SamplerInputs inputs_;
    std::unique_ptr<Sampler> startup_;
    std::vector<std::optional<std::vector<double>>> known_units_;
};

}    // namespace

std::unique_ptr<Sampler> tpe_sampler(const SamplerSpec& spec, const SamplerInputs& inputs) {
    return std::make_unique<Tpe>(spec, inputs);
}

}    // namespace slipway::search
