// The fraction of the variance of the trials' ranks that lies between groups of similar values
// (omega squared of a one-way analysis of variance). Ranks, so that one diverged trial does not
// hide everything else; omega squared, so that many groups of few trials explain nothing by chance.
// fANOVA fits a forest and integrates it: it sees interactions, which this does not, and needs a
// forest. A parameter whose effect depends on another one is underrated here.

#include "scheduler/sweeps/importance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "scheduler/search/parameter.h"

namespace slipway::sweeps {

namespace {

constexpr std::size_t trials_min = 4;
constexpr std::size_t groups_max = 8;

struct Judged {
    const search::Trial* trial;
    double rank = 0;
};

/// Ranks from 0; equal losses share their mean.
std::vector<Judged> ranked(const search::Search& search) {
    std::vector<std::pair<double, const search::Trial*>> judged;
    for (const search::Trial& trial : search.trials()) {
        if (trial.reports.empty()) continue;
        const double loss = search::judged_report(trial, search.plan().selection).loss;
        if (loss != search::worst_loss) judged.emplace_back(loss, &trial);
    }
    std::ranges::stable_sort(judged, {}, [](const auto& one) { return one.first; });
    std::vector<Judged> ranks;
    for (std::size_t begin = 0; begin < judged.size();) {
        std::size_t end = begin;
        while (end < judged.size() && judged[end].first == judged[begin].first)
            ++end;
        for (std::size_t i = begin; i < end; ++i)
            ranks.push_back({judged[i].second, double(begin + end - 1) / 2});
        begin = end;
    }
    return ranks;
}

/// The group of each trial: equal values of a choice; numbers by quantiles. Trials without the
/// parameter are a group.
std::vector<int> groups_of(const search::Parameter& parameter, const std::vector<Judged>& trials) {
    std::vector<std::string> words(trials.size());
    std::vector<double> numbers;
    const bool is_number =
        !search::is_categorical(parameter.spec) && parameter.spec.type != ParameterType::choice;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const auto value = trials[i].trial->point.find(parameter.path);
        if (value == trials[i].trial->point.end()) continue;
        words[i] = value->second.dump();
        if (is_number) numbers.push_back(value->second.get<double>());
    }
    std::ranges::sort(numbers);
    const std::size_t quantiles =
        std::min(groups_max, std::max<std::size_t>(2, std::size_t(std::sqrt(numbers.size()))));
    std::map<std::string, int> known;
    std::vector<int> groups;
    for (const std::string& word : words) {
        std::string group = word;
        if (is_number && !word.empty()) {
            const auto place = std::ranges::lower_bound(numbers, std::stod(word)) - numbers.begin();
            group = std::to_string(std::size_t(place) * quantiles / numbers.size());
        }
        groups.push_back(known.emplace(group, int(known.size())).first->second);
    }
    return groups;
}

double omega_squared(const std::vector<Judged>& trials, const std::vector<int>& groups, int count) {
    double mean = 0;
    for (const Judged& one : trials)
        mean += one.rank / double(trials.size());
    std::vector<double> sums(std::size_t(count), 0);
    std::vector<double> sizes(std::size_t(count), 0);
    double total = 0;
    for (std::size_t i = 0; i < trials.size(); ++i) {
        const double deviation = trials[i].rank - mean;
        total += deviation * deviation;
        sums[std::size_t(groups[i])] += deviation;
        sizes[std::size_t(groups[i])] += 1;
    }
    double between = 0;
    for (std::size_t group = 0; group < sums.size(); ++group)
        between += sums[group] * sums[group] / sizes[group];
    const double freedom = double(trials.size()) - count;
    if (freedom <= 0 || total <= 0) return 0;
    const double within = (total - between) / freedom;
    return std::clamp((between - (count - 1) * within) / (total + within), 0.0, 1.0);
}

}    // namespace

std::vector<Importance> importance_of(const search::Search& search) {
    std::vector<Importance> found;
    const std::vector<Judged> trials = ranked(search);
    if (trials.size() < trials_min) return found;
    for (const search::Parameter& parameter : search.space().parameters()) {
        if (!parameter.dimension) continue;
        const std::vector<int> groups = groups_of(parameter, trials);
        const int count = *std::ranges::max_element(groups) + 1;
        found.push_back(
            {parameter.path, count < 2 ? 0 : omega_squared(trials, groups, count), count});
    }
    std::ranges::stable_sort(
        found, [](const Importance& a, const Importance& b) { return a.explained > b.explained; });
    return found;
}

}    // namespace slipway::sweeps
