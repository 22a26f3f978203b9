// A forest of regression trees learns the objective over the unit cube, and the variance of each
// tree is divided exactly: into what the mean over all other parameters has, for one and for two
// parameters. Trials of a sampler that learns are dense where results are good; the forest is
// integrated over the whole cube all the same, each part of it counting by its size. Comparing
// groups of trials by one parameter was the method before: after tpe, whose late trials are good in
// all parameters at once, it found a parameter important that the objective did not contain.
//
// The coordinate of a parameter that a trial does not have means nothing, and point_at() ignores
// it, so the objective is a function over the cube also with conditions. Trees draw it.

#include "scheduler/sweeps/importance.h"

#include <algorithm>
#include <numeric>

#include "scheduler/sweeps/regression_forest.h"

namespace slipway::sweeps {

namespace {

constexpr std::size_t trials_min = 4;
// Both bound the time of a tree: it is the number of points times that of parameters.
constexpr std::size_t trials_max = 1000;
constexpr std::size_t coordinates_max = 64'000;
constexpr std::uint64_t trees = 64;
constexpr std::size_t box_points_min = 2;
constexpr std::size_t paired_max = 12;
constexpr double pair_shown_min = 0.01;
// One of 40 trials, those with the worst values, counts as the next better one: a trial that
// diverged must not hide all others.
constexpr std::size_t clipped_fraction = 40;

void clip_worst(std::vector<double>& losses) {
    std::vector<double> sorted = losses;
    std::ranges::sort(sorted);
    const std::size_t clipped = (sorted.size() + clipped_fraction - 1) / clipped_fraction;
    const double worst = sorted[sorted.size() - 1 - clipped];
    const double scale = std::max(std::abs(sorted.front()), std::abs(worst));
    for (double& loss : losses)
        loss = scale > 0 ? std::min(loss, worst) / scale : 0;
}

std::vector<std::size_t> chosen_trials(std::vector<std::size_t> numbers, std::size_t count,
                                       std::uint64_t seed) {
    search::Draws draws(seed, search::DrawSite::importance, trees);
    for (std::size_t i = 0; i < count; ++i)
        std::swap(numbers[i], numbers[i + draws.next_below(numbers.size() - i)]);
    numbers.resize(count);
    std::ranges::sort(numbers);
    return numbers;
}

/// The sums over trees of the fractions of their variances.
struct Fractions {
    std::vector<double> single;
    std::vector<std::vector<double>> pairs;    // by both dimensions, the smaller one first
    std::vector<double> gains;
};

/// The dimensions that split best.
std::vector<std::size_t> paired_dimensions(const std::vector<double>& gains) {
    std::vector<std::size_t> dimensions(gains.size());
    std::iota(dimensions.begin(), dimensions.end(), std::size_t{0});
    std::ranges::stable_sort(dimensions, std::greater{}, [&](std::size_t j) { return gains[j]; });
    dimensions.resize(std::min(dimensions.size(), paired_max));
    std::ranges::sort(dimensions);
    return dimensions;
}

Fractions fractions_of(const ForestData& data, std::uint64_t seed, const KeepGoing& may_go_on) {
    const std::size_t dimension = data.dimension;
    Fractions found{.single = std::vector<double>(dimension),
                    .pairs = std::vector(dimension, std::vector<double>(dimension)),
                    .gains = std::vector<double>(dimension)};
    std::vector<Tree> forest;
    for (std::uint64_t number = 0; number < trees; ++number) {
        may_go_on();
        forest.push_back(grow_tree(data, seed, number, box_points_min));
        for (std::size_t j = 0; j < dimension; ++j)
            found.gains[j] += forest.back().gains[j];
    }
    const std::vector<std::size_t> paired = paired_dimensions(found.gains);
    for (const Tree& tree : forest) {
        may_go_on();
        const TreeVariance variance = variance_of(tree, dimension);
        if (variance.total <= 0) continue;
        const double part = 1 / (variance.total * double(trees));
        for (std::size_t j = 0; j < dimension; ++j)
            found.single[j] += variance.single[j] * part;
        for (const std::size_t a : paired)
            for (const std::size_t b : paired)
                if (a < b) found.pairs[a][b] += pair_variance(tree, a, b, variance) * part;
    }
    return found;
}

}    // namespace

ImportanceInputs importance_inputs(const search::Search& search) {
    ImportanceInputs inputs{.seed = search.plan().seed};
    std::vector<const search::Parameter*> parameters;
    for (const search::Parameter& one : search.space().parameters()) {
        if (!one.dimension) continue;
        parameters.push_back(&one);
        inputs.paths.push_back(one.path);
    }
    std::vector<std::size_t> judged;
    std::vector<double> losses(search.trials().size());
    for (std::size_t i = 0; i < losses.size(); ++i) {
        const search::Trial& trial = search.trials()[i];
        if (trial.reports.empty()) continue;
        losses[i] = search::judged_report(trial, search.plan().selection).loss;
        if (losses[i] != search::worst_loss) judged.push_back(i);
    }
    if (judged.size() < trials_min || parameters.empty()) return inputs;
    const std::size_t count =
        std::min({judged.size(), trials_max, coordinates_max / parameters.size()});
    for (const std::size_t number : chosen_trials(std::move(judged), count, inputs.seed)) {
        const search::Trial& trial = search.trials()[number];
        inputs.losses.push_back(losses[number]);
        for (const search::Parameter* one : parameters) {
            inputs.units.push_back(trial.unit[*one->dimension]);
            inputs.is_absent.push_back(!trial.point.contains(one->path));
        }
    }
    return inputs;
}

Importances importance_of(const ImportanceInputs& inputs, const KeepGoing& may_go_on) {
    Importances found{.trials = inputs.losses.size()};
    if (inputs.losses.size() < trials_min) return found;
    const std::size_t dimension = inputs.paths.size();
    ForestData data{.dimension = dimension,
                    .units = inputs.units,
                    .values = inputs.losses,
                    .is_free = inputs.is_absent};
    clip_worst(data.values);
    const Fractions fractions = fractions_of(data, inputs.seed, may_go_on);
    for (std::size_t j = 0; j < dimension; ++j)
        found.parameters.push_back({inputs.paths[j], fractions.single[j], fractions.single[j]});
    for (std::size_t a = 0; a < dimension; ++a) {
        for (std::size_t b = a + 1; b < dimension; ++b) {
            const double explained = fractions.pairs[a][b];
            found.parameters[a].total += explained;
            found.parameters[b].total += explained;
            if (explained >= pair_shown_min)
                found.pairs.push_back({inputs.paths[a], inputs.paths[b], explained});
        }
    }
    for (Importance& one : found.parameters)
        one.total = std::min(one.total, 1.0);
    std::ranges::stable_sort(found.parameters, std::greater{}, &Importance::total);
    std::ranges::stable_sort(found.pairs, std::greater{}, &PairImportance::explained);
    return found;
}

}    // namespace slipway::sweeps
