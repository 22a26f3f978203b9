// Sweep configurations of Weights & Biases. Names, defaults and meanings are those of its
// documentation; docs/decisions/0053 says what is not the same here.

#include <algorithm>
#include <array>
#include <cmath>

#include "api/spec/table/reader.h"
#include "api/sweep_import/draft.h"

namespace slipway {

namespace {

constexpr std::string_view job_trains = "the job spec says what trains";

constexpr auto wandb_keys = std::to_array<KnownKey>({
    {"method"},
    {"metric"},
    {"parameters"},
    {"early_terminate"},
    {"run_cap"},
    {"name"},
    {"program", job_trains},
    {"command", job_trains},
    {"description", "a sweep has a name and labels"},
    {"project", "a project of the other service"},
    {"entity", "an account of the other service"},
    {"controller", "the service decides by itself"},
});

constexpr auto wandb_metric_keys = std::to_array<KnownKey>({{"name"}, {"goal"}, {"target"}});

constexpr auto wandb_early_keys =
    std::to_array<KnownKey>({{"type"},
                             {"min_iter"},
                             {"max_iter"},
                             {"s"},
                             {"eta"},
                             {"strict", "asha stops all but the best of a rung in any case"}});

constexpr auto wandb_parameter_keys = std::to_array<KnownKey>({{"value"},
                                                               {"values"},
                                                               {"distribution"},
                                                               {"min"},
                                                               {"max"},
                                                               {"mu"},
                                                               {"sigma"},
                                                               {"q"},
                                                               {"probabilities"}});

/// A distribution by its parts: "q_log_uniform_values" is uniform on a logarithmic scale, in
/// multiples of q, between the given values instead of their exponents.
struct Distribution {
    std::string_view name;
    bool is_normal = false;
    bool is_log = false;
    bool has_exponents = false;
    bool has_quantum = false;
    bool counts = false;
};

constexpr auto distributions = std::to_array<Distribution>({
    {.name = "uniform"},
    {.name = "int_uniform", .counts = true},
    {.name = "q_uniform", .has_quantum = true},
    {.name = "log_uniform", .is_log = true, .has_exponents = true},
    {.name = "log_uniform_values", .is_log = true},
    {.name = "q_log_uniform", .is_log = true, .has_exponents = true, .has_quantum = true},
    {.name = "q_log_uniform_values", .is_log = true, .has_quantum = true},
    {.name = "normal", .is_normal = true},
    {.name = "q_normal", .is_normal = true, .has_quantum = true},
    {.name = "log_normal", .is_normal = true, .is_log = true},
    {.name = "q_log_normal", .is_normal = true, .is_log = true, .has_quantum = true},
});

std::optional<Json> uniform_parameter(SweepDraft& draft, const Json& given,
                                      const Distribution& kind, const std::string& where) {
    auto low = number_of(draft, given, "min", where);
    auto high = number_of(draft, given, "max", where);
    if (!low || !high) {
        draft.refuse(fmt::format("{}min and max are both needed", where));
        return std::nullopt;
    }
    if (kind.has_exponents) {
        for (const auto& [name, exponent] : {std::pair("min", *low), std::pair("max", *high)})
            if (!std::isfinite(std::exp(exponent))) {
                draft.refuse(
                    fmt::format("{}{} is an exponent of e, and e^{} is too large; for the "
                                "value itself use the distribution {}_values",
                                where, name, exponent, kind.name));
                return std::nullopt;
            }
        low = std::exp(*low);
        high = std::exp(*high);
    }
    if (kind.has_quantum)
        return quantised(draft,
                         {.min = *low,
                          .max = *high,
                          .quantum = number_of(draft, given, "q", where).value_or(1),
                          .is_log = kind.is_log},
                         where + "q");
    if (kind.counts)
        return Json{{"type", "int_uniform"}, {"min", given.at("min")}, {"max", given.at("max")}};
    return Json{{"type", kind.is_log ? "log_uniform" : "uniform"}, {"min", *low}, {"max", *high}};
}

Json normal_parameter(SweepDraft& draft, const Json& given, const Distribution& kind,
                      const std::string& where) {
    Json made{{"type", kind.is_log ? "log_normal" : "normal"},
              {"mean", number_of(draft, given, "mu", where).value_or(0)},
              {"std", number_of(draft, given, "sigma", where).value_or(1)}};
    if (kind.has_quantum) made["step"] = number_of(draft, given, "q", where).value_or(1);
    return made;
}

/// What it is when the file does not say.
std::string implied_distribution(const Json& given) {
    if (given.contains("values")) return "categorical";
    if (given.contains("value")) return "constant";
    const bool counts = given.contains("min") && given.contains("max") &&
                        given.at("min").is_number_integer() && given.at("max").is_number_integer();
    if (counts) return "int_uniform";
    return given.contains("mu") || given.contains("sigma") ? "normal" : "uniform";
}

bool are_equal(const Json& list) {
    return list.is_array() &&
           std::ranges::all_of(list, [&](const Json& one) { return one == list.front(); });
}

std::optional<Json> ranged_parameter(SweepDraft& draft, const Json& given, const std::string& where,
                                     const std::string& name) {
    const auto kind = std::ranges::find(distributions, name, &Distribution::name);
    if (kind == distributions.end()) {
        draft.refuse(fmt::format("{}distribution: {} has no equal here", where, shortened(name)));
        return std::nullopt;
    }
    if (kind->is_normal) return normal_parameter(draft, given, *kind, where);
    return uniform_parameter(draft, given, *kind, where);
}

void read_wandb_parameter(SweepDraft& draft, const std::string& name, const Json& given);

void read_wandb_parameters(SweepDraft& draft, const std::string& prefix, const Json& given) {
    if (!given.is_object())
        return draft.refuse(fmt::format("{}parameters must hold names and parameters", prefix));
    for (const auto& [name, parameter] : given.items())
        read_wandb_parameter(draft, prefix + name, parameter);
}

void read_wandb_parameter(SweepDraft& draft, const std::string& name, const Json& given) {
    if (given.is_object() && given.contains("parameters") && given.size() == 1)
        return read_wandb_parameters(draft, name + ".", given.at("parameters"));
    const std::string where = "parameters." + name + ".";
    if (!judge_keys(draft, given, where, wandb_parameter_keys)) return;
    const std::string kind =
        text_of_key(draft, given, "distribution", where).value_or(implied_distribution(given));
    std::optional<Json> made;
    if (kind == "constant") {
        made = choice_of(draft, Json::array({given.value("value", Json())}), where + "value");
    } else if (kind == "categorical") {
        if (given.contains("probabilities") && !are_equal(given.at("probabilities")))
            draft.refuse(where + "probabilities: all values of a choice are equally likely here");
        made = choice_of(draft, given.value("values", Json()), where + "values");
    } else {
        made = ranged_parameter(draft, given, where, kind);
    }
    if (made) put_parameter(draft, name, *std::move(made));
}

void read_wandb_metric(SweepDraft& draft, const Json& file) {
    if (!file.contains("metric")) {
        if (draft.options.metric.empty())
            return draft.refuse(
                "the file has no metric, and a sweep needs one; --metric NAME says it");
        return put_metric(draft, "", true, "last");
    }
    const Json& metric = file.at("metric");
    if (!judge_keys(draft, metric, "metric.", wandb_metric_keys)) return;
    const std::string goal = text_of_key(draft, metric, "goal", "metric.").value_or("minimize");
    if (goal != "minimize" && goal != "maximize")
        draft.refuse("metric.goal must be minimize or maximize");
    put_metric(draft, text_of_key(draft, metric, "name", "metric.").value_or(""),
               goal == "minimize", "last");
    if (const auto target = number_of(draft, metric, "target", "metric."))
        draft.body["limits"]["target"] = *target;
}

void read_early_terminate(SweepDraft& draft, const Json& given) {
    const std::string where = "early_terminate.";
    if (!judge_keys(draft, given, where, wandb_early_keys)) return;
    if (text_of_key(draft, given, "type", where) != "hyperband")
        return draft.refuse("early_terminate.type must be hyperband");
    const auto eta = whole_of(draft, given, "eta", where).value_or(3);
    const auto least = whole_of(draft, given, "min_iter", where);
    const auto most = whole_of(draft, given, "max_iter", where);
    const auto brackets = whole_of(draft, given, "s", where);
    const auto length = take_length(draft);
    const auto max_time = length ? length : most;
    if (!max_time)
        return draft.refuse(
            "early_terminate: nothing says how long a trial trains; give epochs as a constant "
            "parameter, or train.epochs in the job");
    if (eta < 2 || eta > 100) return draft.refuse("early_terminate.eta must be from 2 to 100");
    if (brackets && (*brackets < 1 || *brackets > 20))
        return draft.refuse("early_terminate.s must be from 1 to 20");
    std::int64_t min_time = least.value_or(1);
    if (!least && most) {
        if (!brackets) return draft.refuse("early_terminate.s is needed with max_iter");
        min_time = std::max<std::int64_t>(
            1, std::llround(double(*most) / std::pow(double(eta), double(*brackets))));
    }
    Json sampler = draft.body["algorithm"];
    draft.body["algorithm"] = {{"name", "asha"},          {"mode", "stop"},
                               {"min_time", min_time},    {"max_time", *max_time},
                               {"reduction_factor", eta}, {"sampler", std::move(sampler)}};
    draft.note(
        fmt::format("early_terminate is asha in mode stop, with rungs from epoch {} on; an "
                    "iteration is an epoch",
                    min_time));
}

}    // namespace

void read_wandb_sweep(SweepDraft& draft, const Json& file) {
    if (!judge_keys(draft, file, "", wandb_keys)) return;
    const std::string method = text_of_key(draft, file, "method", "").value_or("");
    if (method != "grid" && method != "random" && method != "bayes")
        draft.refuse("method must be grid, random or bayes");
    draft.body["algorithm"]["name"] = method == "bayes" ? "tpe" : method;
    if (method == "bayes") draft.note("method bayes is tpe, not a Gaussian process");
    read_wandb_metric(draft, file);
    if (file.contains("parameters"))
        read_wandb_parameters(draft, "", file.at("parameters"));
    else
        draft.refuse("the file has no parameters");
    if (file.contains("early_terminate")) read_early_terminate(draft, file.at("early_terminate"));
    if (const auto cap = whole_of(draft, file, "run_cap", ""))
        draft.body["limits"]["max_trials"] = *cap;
    if (const auto name = text_of_key(draft, file, "name", "")) draft.body["name"] = *name;
}

}    // namespace slipway
