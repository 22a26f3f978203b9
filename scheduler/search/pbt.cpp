// Generations are synchronous: with any number of cores, and whoever is faster, each generation is
// judged by the same values. The asynchronous variant of the paper ranks a trial against whatever
// the others last reported, so that its decisions depend on which core was quick; it also needs as
// many cores as trials, where this one pauses those that wait.
//
// What holds: every member of the population is in exactly one of running_, to_resume_ and
// arrived_; a generation is judged once, when only arrived_ is left.

#include "scheduler/search/pbt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <tuple>

#include "scheduler/search/parameter.h"
#include "scheduler/search/stable_math.h"

namespace slipway::search {

namespace {

constexpr std::string_view pbt_rule = "pbt";
constexpr int explore_tries_max = 100;
constexpr int member_tries_max = 20;

/// A number times or divided by `factor`, inside the bounds of its parameter.
Json perturbed_number(const ParameterSpec& spec, double number, double factor, bool up) {
    using enum ParameterType;
    const bool has_bounds = spec.type != normal && spec.type != log_normal;
    double moved = up ? number * factor : number / factor;
    const bool is_whole = spec.type == int_uniform || spec.type == log_int_uniform;
    const std::optional<double> step = is_whole ? spec.step.value_or(1) : spec.step;
    if (step) {
        const double base = has_bounds ? spec.min : 0;
        double k = std::floor((moved - base) / *step + 0.5);
        const double before = std::floor((number - base) / *step + 0.5);
        if (k == before) k += up ? 1 : -1;
        if (has_bounds) k = std::clamp(k, 0.0, std::floor((spec.max - spec.min) / *step + 1e-9));
        moved = base + k * *step;
        if (is_whole) return std::int64_t(moved);
        return rounded_decimal(moved);
    }
    return has_bounds ? std::clamp(moved, spec.min, spec.max) : moved;
}

Json perturbed(const ParameterSpec& spec, const Json& value, double factor, bool up) {
    if (spec.type == ParameterType::constant) return value;
    if (spec.type != ParameterType::choice)
        return perturbed_number(spec, value.get<double>(), factor, up);
    const auto found = std::ranges::find(spec.values, value);
    const auto last = spec.values.end() - 1;
    if (!spec.ordered || found == spec.values.end() || found == (up ? last : spec.values.begin()))
        return value;
    return up ? *(found + 1) : *(found - 1);
}

class Pbt final : public TrialPolicy {
public:
    Pbt(const AlgorithmSpec& spec, const Space& space, std::uint64_t seed)
        : spec_(spec), space_(space), seed_(seed), unstarted_(spec.population) {}

    Decision next(const std::vector<Trial>& trials, std::int64_t startable,
                  std::vector<Decision>& others) override {
        if (startable == 0 && unstarted_ > 0) {
            unstarted_ = 0;
            judge(trials, others);
        }
        if (!to_resume_.empty()) return resume();
        if (unstarted_ == 0) return start_or_wait(trials, 0, pbt_rule);
        return {.action = Action::start, .rule = pbt_rule, .until = generation_end(), .reason = ""};
    }

    void on_start(const Trial& trial) override {
        --unstarted_;
        running_.push_back(trial.number);
    }

    std::vector<Decision> on_report(const std::vector<Trial>& trials,
                                    std::int64_t number) override {
        const Trial& trial = trials[std::size_t(number)];
        const TrialReport& report = trial.reports.back();
        if (report.time < trial.until) return {};
        std::erase(running_, number);
        const bool is_over = trial.until == spec_.max_time;
        if (!is_over) arrived_.push_back(number);
        std::vector<Decision> decisions{
            {.action = is_over ? Action::complete : Action::pause,
             .rule = pbt_rule,
             .trial = number,
             .time = report.time,
             .value = report.value,
             .reason = is_over
                           ? "it has reached max_time"
                           : fmt::format("generation {}: it waits for the others", generation_)}};
        judge(trials, decisions);
        return decisions;
    }

    std::vector<Decision> on_end(const std::vector<Trial>& trials, std::int64_t number) override {
        std::vector<Decision> decisions;
        std::erase(running_, number);
        std::erase(arrived_, number);
        std::erase(to_resume_, number);
        judge(trials, decisions);
        return decisions;
    }

private:
    std::int64_t generation_end() const {
        return std::min((generation_ + 1) * spec_.interval, spec_.max_time);
    }

    Decision resume() {
        const std::int64_t number = to_resume_.front();
        to_resume_.pop_front();
        running_.push_back(number);
        return {.action = Action::resume,
                .rule = pbt_rule,
                .trial = number,
                .until = generation_end(),
                .reason = fmt::format("generation {} trains to {} {}", generation_,
                                      to_string(spec_.time_attr), generation_end())};
    }

    void judge(const std::vector<Trial>& trials, std::vector<Decision>& decisions) {
        if (unstarted_ > 0 || !running_.empty() || !to_resume_.empty() || arrived_.empty()) return;
        std::vector<std::int64_t> ranked = std::move(arrived_);
        arrived_.clear();
        std::ranges::sort(ranked, [&](std::int64_t a, std::int64_t b) {
            return std::tuple(last_loss(trials[std::size_t(a)]), a) <
                   std::tuple(last_loss(trials[std::size_t(b)]), b);
        });
        const bool has_value = last_loss(trials[std::size_t(ranked.front())]) != worst_loss;
        for (std::size_t place = 0; place < ranked.size(); ++place)
            decisions.push_back(has_value ? judged(trials, ranked, place, decisions)
                                          : diverged(trials, ranked[place]));
        ++generation_;
        if (!has_value) return;
        std::ranges::sort(ranked);
        to_resume_.assign(ranked.begin(), ranked.end());
    }

    Decision diverged(const std::vector<Trial>& trials, std::int64_t number) const {
        const TrialReport& report = trials[std::size_t(number)].reports.back();
        return {.action = Action::stop,
                .rule = pbt_rule,
                .trial = number,
                .time = report.time,
                .value = report.value,
                .reason = fmt::format("generation {}: no trial has a finite value", generation_)};
    }

    Decision judged(const std::vector<Trial>& trials, const std::vector<std::int64_t>& ranked,
                    std::size_t place, const std::vector<Decision>& earlier) const {
        const std::size_t count = ranked.size();
        const std::size_t replaced =
            std::min(std::size_t(std::ceil(double(count) * spec_.quantile - 1e-9)), count / 2);
        const Trial& trial = trials[std::size_t(ranked[place])];
        Decision decision{.action = Action::keep,
                          .rule = pbt_rule,
                          .trial = trial.number,
                          .time = trial.reports.back().time,
                          .value = trial.reports.back().value,
                          .rank = std::int64_t(place) + 1,
                          .of = std::int64_t(count),
                          .reason = fmt::format("generation {}: rank {} of {}; it goes on",
                                                generation_, place + 1, count)};
        if (place < count - replaced) return decision;
        Draws draws(seed_, DrawSite::pbt,
                    std::uint64_t(generation_) << 32 | std::uint64_t(trial.number));
        const Trial& source = trials[std::size_t(ranked[draws.next_below(replaced)])];
        if (last_loss(trial) <= last_loss(source)) return decision;
        exploit(decision, source, draws, earlier);
        return decision;
    }

    /// The same weights with the same values train to the same bits: such a member tries nothing.
    static bool repeats_member(const Decision& decision, const Trial& source,
                               const std::vector<Decision>& earlier) {
        return decision.point == source.point ||
               std::ranges::any_of(earlier, [&](const Decision& one) {
                   return one.action == Action::exploit && one.source == decision.source &&
                          one.point == decision.point;
               });
    }

    void exploit(Decision& decision, const Trial& source, Draws& draws,
                 const std::vector<Decision>& earlier) const {
        decision.action = Action::exploit;
        decision.source = source.number;
        decision.source_time = source.reports.back().time;
        int tries = 0;
        bool repeats = true;
        for (; repeats && tries < member_tries_max; ++tries) {
            const auto neighbour = explored(space_, source.point, spec_, draws);
            decision.unit = neighbour ? neighbour->unit : source.unit;
            decision.point = neighbour ? neighbour->point : source.point;
            repeats = repeats_member(decision, source, earlier);
        }
        std::string changes;
        for (const auto& [path, value] : decision.point) {
            const auto before = source.point.find(path);
            if (before != source.point.end() && before->second == value) continue;
            changes += fmt::format("; {} {} -> {}", path,
                                   before == source.point.end() ? "absent" : before->second.dump(),
                                   value.dump());
        }
        decision.reason = fmt::format(
            "generation {}: rank {} of {}; it takes over trial {}'s checkpoint of {} {}{}",
            generation_, *decision.rank, *decision.of, source.number, to_string(spec_.time_attr),
            *decision.source_time, changes);
        if (repeats)
            decision.reason +=
                fmt::format("; {} draws gave no values that no other member has", member_tries_max);
        else if (tries > 1)
            decision.reason +=
                fmt::format("; drawn {} times, as another member had the values", tries);
    }

    AlgorithmSpec spec_;
    const Space& space_;    // of the search, which outlives its policy
    std::uint64_t seed_;
    std::int64_t unstarted_;
    std::int64_t generation_ = 0;
    std::vector<std::int64_t> running_;
    std::vector<std::int64_t> arrived_;
    std::deque<std::int64_t> to_resume_;
};

}    // namespace

std::optional<Explored> explored(const Space& space, const Point& point, const AlgorithmSpec& spec,
                                 Draws& draws) {
    for (int tries = 0; tries < explore_tries_max; ++tries) {
        Explored next{std::vector<double>(space.dimension()), {}};
        Point moved;
        for (const Parameter& parameter : space.parameters()) {
            if (!parameter.dimension) continue;
            // Three draws each, so that what one parameter does changes no other.
            const bool is_resampled = draws.next_uniform() < spec.resample_probability;
            const double u = draws.next_uniform();
            const bool up = draws.next_uniform() < 0.5;
            const auto before = point.find(parameter.path);
            const bool is_drawn = is_resampled || before == point.end();
            const Json value =
                is_drawn ? value_at(parameter.spec, u)
                         : perturbed(parameter.spec, before->second, spec.perturbation, up);
            const auto interval = interval_of(parameter.spec, value);
            next.unit[*parameter.dimension] = interval ? interval->middle() : u;
            moved[parameter.path] = value;
        }
        next.point = space.point_at(next.unit);
        for (auto& [path, value] : next.point)
            if (const auto one = moved.find(path); one != moved.end()) value = one->second;
        if (space.broken_constraint(next.point) == nullptr) return next;
    }
    return std::nullopt;
}

std::unique_ptr<TrialPolicy> pbt_policy(const AlgorithmSpec& spec, const Space& space,
                                        std::uint64_t seed) {
    return std::make_unique<Pbt>(spec, space, seed);
}

}    // namespace slipway::search
