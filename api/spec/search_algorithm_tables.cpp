#include <cmath>

#include "api/spec/search_tables.h"
#include "api/spec/table/collections.h"

namespace slipway {

namespace {

constexpr std::int64_t search_time_max = 1'000'000'000;

template <Spelled E>
std::vector<std::string_view> words_of_enumeration() {
    const auto words = all_words<E>();
    return {words.begin(), words.end()};
}

void judge_algorithm(const Json&, AlgorithmSpec& spec, const Reader& at) {
    const bool has_rungs = spec.name == SearchMethod::asha || spec.name == SearchMethod::hyperband;
    const Reader max_time = at.at("max_time");
    if (has_rungs && spec.max_time <= spec.min_time) {
        max_time.report("inconsistent", fmt::format("{} must be above min_time, {}, got {}",
                                                    max_time.path(), spec.min_time, spec.max_time));
    }
    if (spec.name == SearchMethod::asha && spec.max_time > spec.min_time) {
        std::int64_t rungs = 1;
        for (std::int64_t time = spec.min_time; time < spec.max_time; ++rungs)
            time *= spec.reduction_factor;
        const Reader brackets = at.at("brackets");
        if (spec.brackets > rungs - 1) {
            brackets.report(
                "inconsistent",
                fmt::format("{} must be at most {}, the rungs from min_time to max_time "
                            "but one, got {}",
                            brackets.path(), rungs - 1, spec.brackets));
        }
    }
    if (spec.name == SearchMethod::pbt && spec.interval >= spec.max_time) {
        const Reader interval = at.at("interval");
        interval.report("inconsistent", fmt::format("{} must be below max_time, {}, got {}",
                                                    interval.path(), spec.max_time, spec.interval));
    }
    if (spec.sampler && spec.sampler->name == SamplerName::grid &&
        spec.name == SearchMethod::hyperband) {
        at.at("sampler").at("name").report(
            "not_allowed",
            fmt::format("{} cannot be grid with hyperband, which decides how many trials it needs",
                        at.at("sampler").at("name").path()),
            {"random", "sobol", "tpe"});
    }
}

/// The rows that a sampler has wherever it is written.
template <class T>
void add_sampler_fields(Object<T>& table) {
    table
        .field("scramble", &T::scramble,
               "Scramble the sequence by the sweep's seed. Points stay evenly spread.", Flag{},
               {.only = {"sobol"}})
        .field("startup_trials", &T::startup_trials,
               "Number of results before the model is used; earlier trials are spread evenly.",
               Integer{.min = 1, .max = 100000}, {.only = {"tpe"}})
        .field("candidates", &T::candidates, "Candidates sampled from the model for each trial.",
               Integer{.min = 1, .max = 10000}, {.only = {"tpe"}})
        .field("constant_liar", &T::constant_liar,
               "Count running trials as bad results, so that concurrent trials differ.", Flag{},
               {.only = {"tpe"}});
}

void add_rung_fields(Object<AlgorithmSpec>& table) {
    table
        .field("mode", &AlgorithmSpec::mode,
               "stop: trials run until they are stopped. promote: trials pause at each rung; the "
               "best continue from their checkpoints.",
               Choice<AshaMode>{}, {.only = {"asha"}})
        .field("time_attr", &AlgorithmSpec::time_attr, "Unit of all times of the algorithm.",
               Choice<TimeAttribute>{}, {.only = {"asha", "hyperband", "median_stop", "pbt"}})
        .field("min_time", &AlgorithmSpec::min_time, "Time at which trials are first compared.",
               Integer{.min = 1, .max = search_time_max}, {.only = {"asha", "hyperband"}})
        .field("max_time", &AlgorithmSpec::max_time, "Time after which a trial is complete.",
               Integer{.min = 1, .max = search_time_max},
               {.required = true, .only = {"asha", "hyperband", "pbt"}})
        .field("reduction_factor", &AlgorithmSpec::reduction_factor,
               "One of this many trials goes from each rung to the next.",
               Integer{.min = 2, .max = 100}, {.only = {"asha", "hyperband"}})
        .field("brackets", &AlgorithmSpec::brackets,
               "Number of brackets; each starts one rung later than the one before.",
               Integer{.min = 1, .max = 20}, {.only = {"asha"}});
}

void add_other_fields(Object<AlgorithmSpec>& table) {
    table
        .field("grace_time", &AlgorithmSpec::grace_time, "No trial is stopped before this time.",
               Integer{.min = 1, .max = search_time_max}, {.only = {"median_stop"}})
        .field("min_samples", &AlgorithmSpec::min_samples,
               "No trial is stopped until this many others have reached its time.",
               Integer{.min = 1, .max = 100000}, {.only = {"median_stop"}})
        .field("population", &AlgorithmSpec::population, "Number of trials.",
               Integer{.min = 2, .max = 10000}, {.only = {"pbt"}})
        .field("interval", &AlgorithmSpec::interval, "Length of a generation.",
               Integer{.min = 1, .max = search_time_max}, {.only = {"pbt"}})
        .field("quantile", &AlgorithmSpec::quantile,
               "Fraction of the trials that copies one of the best after each generation.",
               Number{.max = 0.5, .above = 0}, {.only = {"pbt"}})
        .field("resample_probability", &AlgorithmSpec::resample_probability,
               "Probability that a copied parameter is sampled again instead of perturbed.",
               Number{.min = 0, .max = 1}, {.only = {"pbt"}})
        .field("perturbation", &AlgorithmSpec::perturbation,
               "Factor by which copied numbers are multiplied or divided.",
               Number{.max = 100, .above = 1}, {.only = {"pbt"}})
        .field("sampler", &AlgorithmSpec::sampler, "How points are chosen. Default: random.",
               Nested<SamplerSpec>{&sampler_table()},
               {.only = {"asha", "hyperband", "median_stop", "pbt"}});
}

}    // namespace

const Object<SamplerSpec>& sampler_table() {
    static const auto table = [] {
        Object<SamplerSpec> made("SamplerSpec", "How the points of a sweep are chosen.");
        made.variants("name", words_of_enumeration<SamplerName>(), "",
                      [](const SamplerSpec& spec) { return to_string(spec.name); })
            .field("name", &SamplerSpec::name, "Sampler.", Choice<SamplerName>{},
                   {.required = true});
        add_sampler_fields(made);
        return made;
    }();
    return table;
}

const Object<AlgorithmSpec>& algorithm_table() {
    static const auto table = [] {
        Object<AlgorithmSpec> made("AlgorithmSpec",
                                   "Which trials a sweep runs, and which of them it continues.");
        made.variants("name", words_of_enumeration<SearchMethod>(), "",
                      [](const AlgorithmSpec& spec) { return to_string(spec.name); })
            .field("name", &AlgorithmSpec::name, "Algorithm.", Choice<SearchMethod>{},
                   {.required = true});
        add_sampler_fields(made);
        add_rung_fields(made);
        add_other_fields(made);
        made.rule(judge_algorithm);
        return made;
    }();
    return table;
}

SamplerSpec sampler_of(const AlgorithmSpec& algorithm) {
    if (algorithm.sampler) return *algorithm.sampler;
    SamplerSpec sampler;
    sampler.scramble = algorithm.scramble;
    sampler.startup_trials = algorithm.startup_trials;
    sampler.candidates = algorithm.candidates;
    sampler.constant_liar = algorithm.constant_liar;
    if (algorithm.name <= SearchMethod::tpe)
        sampler.name = *parse_word<SamplerName>(to_string(algorithm.name));
    return sampler;
}

Decoded<AlgorithmSpec> decode_algorithm(const Json& json) {
    Decoded<AlgorithmSpec> decoded{};
    algorithm_table().read(json, decoded.value, Reader(decoded.problems, algorithm_table()));
    sort_problems(decoded.problems);
    return decoded;
}

Json encode(const AlgorithmSpec& algorithm) {
    return algorithm_table().write(algorithm);
}

}    // namespace slipway
