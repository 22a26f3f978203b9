// Experiment configurations of Determined AI. Names, defaults and meanings are those of its
// documentation; docs/decisions/0053 says what is not the same here.

#include <algorithm>
#include <array>
#include <cmath>

#include "api/spec/table/reader.h"
#include "api/sweep_import/draft.h"

namespace slipway {

namespace {

constexpr std::string_view job_says = "the job spec says it";
constexpr std::string_view other_service = "of the other service";

constexpr auto experiment_keys = std::to_array<KnownKey>({
    {"name"},
    {"searcher"},
    {"hyperparameters"},
    {"reproducibility"},
    {"description", "a sweep has a name and labels"},
    {"labels", "labels have values here"},
    {"data", job_says},
    {"entrypoint", job_says},
    {"min_validation_period", job_says},
    {"min_checkpoint_period", job_says},
    {"checkpoint_policy", job_says},
    {"perform_initial_validation", job_says},
    {"records_per_epoch", job_says},
    {"scheduling_unit", job_says},
    {"max_restarts", "limits.max_restarts of the job spec says it"},
    {"resources", "accelerator of the job spec says it"},
    {"project", other_service},
    {"workspace", other_service},
    {"environment", other_service},
    {"bind_mounts", other_service},
    {"checkpoint_storage", other_service},
    {"data_layer", other_service},
    {"debug", other_service},
    {"integrations", other_service},
    {"log_policies", other_service},
    {"optimizations", other_service},
    {"profiling", other_service},
    {"retention_policy", other_service},
    {"slurm", other_service},
    {"pbs", other_service},
    {"tensorboard_storage", other_service},
    {"notes", other_service},
    {"internal", other_service},
});

constexpr auto searcher_keys = std::to_array<KnownKey>({
    {"name"},
    {"metric"},
    {"smaller_is_better"},
    {"max_length"},
    {"max_time"},
    {"time_metric"},
    {"max_trials"},
    {"max_concurrent_trials"},
    {"num_rungs"},
    {"max_rungs"},
    {"divisor"},
    {"mode"},
    {"stop_once"},
    {.name = "bracket_rungs", .refused = "which brackets there are follows from mode here"},
    {.name = "source_trial_id",
     .refused = "trials begin with the weights that the job spec says (model.init)"},
    {.name = "source_checkpoint_uuid",
     .refused = "trials begin with the weights that the job spec says (model.init)"},
});

constexpr auto hyperparameter_keys = std::to_array<KnownKey>(
    {{"type"}, {"val"}, {"vals"}, {"minval"}, {"maxval"}, {"base"}, {"count"}});
constexpr auto reproducibility_keys = std::to_array<KnownKey>({{"experiment_seed"}});

/// How long a trial trains.
struct Length {
    std::int64_t amount = 0;
    bool is_in_steps = false;
};

std::optional<Length> unit_length(SweepDraft& draft, std::string_view unit, std::int64_t amount) {
    if (unit == "epochs" || unit == "epoch") return Length{.amount = amount};
    if (unit == "batches" || unit == "batch") return Length{.amount = amount, .is_in_steps = true};
    draft.refuse(fmt::format("searcher: a length in {} has no equal here; epochs and batches have",
                             shortened(unit)));
    return std::nullopt;
}

std::optional<Length> length_of(SweepDraft& draft, const Json& searcher) {
    const std::string where = "searcher.";
    if (searcher.contains("max_time")) {
        const auto amount = whole_of(draft, searcher, "max_time", where);
        const auto unit = text_of_key(draft, searcher, "time_metric", where);
        if (!unit) draft.refuse("searcher.time_metric is needed with max_time: epochs or batches");
        return amount && unit ? unit_length(draft, *unit, *amount) : std::nullopt;
    }
    if (!searcher.contains("max_length")) return std::nullopt;
    const Json& given = searcher.at("max_length");
    if (!given.is_object() || given.size() != 1) {
        draft.refuse("searcher.max_length must say its unit: {epochs: N} or {batches: N}");
        return std::nullopt;
    }
    const std::string unit = given.begin().key();
    const auto amount = whole_of(draft, given, unit.c_str(), "searcher.max_length.");
    return amount ? unit_length(draft, unit, *amount) : std::nullopt;
}

/// The first rung of as many as there are, each the divisor's multiple of the one before.
std::int64_t first_rung(std::int64_t length, std::int64_t divisor, std::int64_t rungs) {
    double first = double(length);
    for (std::int64_t i = 1; i < rungs && first >= 1; ++i)
        first /= double(divisor);
    return std::max<std::int64_t>(1, std::llround(first));
}

/// 1: all trials begin at the first rung; each one more begins a rung later.
std::int64_t brackets_of(const std::string& mode, std::int64_t rungs) {
    if (mode == "aggressive") return 1;
    if (mode == "conservative") return std::max<std::int64_t>(1, rungs - 1);
    return std::max<std::int64_t>(1, std::min(rungs - 1, rungs - (rungs - 1) / 2));
}

/// So many rungs as lengths and trials suffice for.
std::int64_t possible_rungs(std::int64_t length, std::int64_t trials, std::int64_t divisor,
                            std::int64_t rungs_max) {
    std::int64_t rungs = 1;
    for (std::int64_t power = divisor;
         rungs < rungs_max && power <= length && power <= std::max<std::int64_t>(trials, 1);
         power *= divisor)
        ++rungs;
    return rungs;
}

void put_ladder(SweepDraft& draft, const Json& searcher, bool is_adaptive, const Length& length) {
    const std::string where = "searcher.";
    const auto divisor = whole_of(draft, searcher, "divisor", where).value_or(4);
    if (divisor < 2 || divisor > 100) return draft.refuse("searcher.divisor must be from 2 to 100");
    const auto asked = whole_of(draft, searcher, is_adaptive ? "max_rungs" : "num_rungs", where);
    if (!asked && !is_adaptive) return draft.refuse("searcher.num_rungs is needed with asha");
    const std::string mode = text_of_key(draft, searcher, "mode", where).value_or("standard");
    if (mode != "aggressive" && mode != "standard" && mode != "conservative")
        return draft.refuse("searcher.mode must be aggressive, standard or conservative");
    const auto trials = whole_of(draft, searcher, "max_trials", where).value_or(1);
    const auto rungs = possible_rungs(length.amount, is_adaptive ? trials : INT64_MAX / 100,
                                      divisor, std::clamp<std::int64_t>(asked.value_or(5), 1, 20));
    if (rungs < 2)
        return draft.refuse(fmt::format(
            "searcher: a length of {} with divisor {} leaves one rung, and asha needs two",
            length.amount, divisor));
    if (asked && *asked != rungs)
        draft.note(fmt::format("{} rungs instead of {}: no more are possible", rungs, *asked));
    const std::int64_t first = first_rung(length.amount, divisor, rungs);
    const std::int64_t brackets = is_adaptive ? brackets_of(mode, rungs) : 1;
    draft.body["algorithm"] = {
        {"name", "asha"},
        {"mode", flag_of(draft, searcher, "stop_once", where).value_or(false) ? "stop" : "promote"},
        {"time_attr", length.is_in_steps ? "step" : "epoch"},
        {"min_time", first},
        {"max_time", length.amount},
        {"reduction_factor", divisor},
        {"brackets", brackets}};
    if (is_adaptive)
        draft.note(fmt::format("adaptive_asha in mode {} is asha with {} of {} brackets", mode,
                               brackets, rungs));
}

/// Of searches that train all trials to the end: the job says how long, or the workers know.
void put_length(SweepDraft& draft, const std::optional<Length>& length) {
    if (!length) return;
    if (draft.is_external())
        return draft.note(
            fmt::format("searcher.max_length ({}) is left out: who runs the trials has "
                        "to know it",
                        length->amount));
    Json& train = draft.body["job"]["train"];
    if (!train.is_object()) train = Json::object();
    train.erase("epochs");
    train.erase("steps");
    train[length->is_in_steps ? "steps" : "epochs"] = length->amount;
}

void read_searcher(SweepDraft& draft, const Json& searcher) {
    const std::string where = "searcher.";
    if (!judge_keys(draft, searcher, where, searcher_keys)) return;
    put_metric(draft, text_of_key(draft, searcher, "metric", where).value_or(""),
               flag_of(draft, searcher, "smaller_is_better", where).value_or(true), "best");
    const std::string name = text_of_key(draft, searcher, "name", where).value_or("");
    const auto length = length_of(draft, searcher);
    Json& limits = draft.body["limits"];
    if (const auto trials = whole_of(draft, searcher, "max_trials", where))
        limits["max_trials"] = *trials;
    if (const auto most = whole_of(draft, searcher, "max_concurrent_trials", where))
        limits["max_concurrent"] = *most == 0 ? 1000 : *most;
    if (name == "asha" || name == "adaptive_asha") {
        if (!length)
            return draft.refuse(fmt::format("searcher.max_length is needed with {}", name));
        return put_ladder(draft, searcher, name == "adaptive_asha", *length);
    }
    for (const char* key : {"num_rungs", "max_rungs", "divisor", "mode", "stop_once"})
        if (searcher.contains(key))
            draft.refuse(fmt::format("searcher.{} has no meaning with {}", key, shortened(name)));
    put_length(draft, length);
    if (name == "grid" || name == "random") {
        draft.body["algorithm"]["name"] = name;
    } else if (name == "single") {
        draft.body["algorithm"]["name"] = "random";
        limits["max_trials"] = 1;
        draft.note("searcher single is random with one trial");
    } else {
        draft.refuse(
            fmt::format("searcher.name: {} has no equal here; single, random, grid, asha "
                        "and adaptive_asha have",
                        shortened(name)));
    }
}

std::optional<Json> ranged(SweepDraft& draft, const Json& given, const std::string& type,
                           const std::string& where) {
    auto low = number_of(draft, given, "minval", where);
    auto high = number_of(draft, given, "maxval", where);
    if (!low || !high) {
        draft.refuse(fmt::format("{}minval and maxval are both needed", where));
        return std::nullopt;
    }
    Json made;
    if (type == "int") {
        made = {{"type", "int_uniform"}, {"min", given.at("minval")}, {"max", given.at("maxval")}};
    } else if (type == "log") {
        const double base = number_of(draft, given, "base", where).value_or(10);
        made = {
            {"type", "log_uniform"}, {"min", std::pow(base, *low)}, {"max", std::pow(base, *high)}};
    } else {
        made = {{"type", "uniform"}, {"min", *low}, {"max", *high}};
    }
    if (const auto count = whole_of(draft, given, "count", where)) made["count"] = *count;
    return made;
}

std::optional<Json> typed(SweepDraft& draft, const Json& given, const std::string& name) {
    const std::string where = "hyperparameters." + name + ".";
    if (!judge_keys(draft, given, where, hyperparameter_keys)) return std::nullopt;
    const std::string type = given.at("type").get<std::string>();
    if (type == "const")
        return choice_of(draft, Json::array({given.value("val", Json())}), where + "val");
    if (type == "categorical") return choice_of(draft, given.value("vals", Json()), where + "vals");
    if (type == "int" || type == "double" || type == "log")
        return ranged(draft, given, type, where);
    draft.refuse(
        fmt::format("{}type: {} has no equal here; const, int, double, log and "
                    "categorical have",
                    where, shortened(type)));
    return std::nullopt;
}

void read_hyperparameters(SweepDraft& draft, const std::string& prefix, const Json& given) {
    for (const auto& [key, value] : given.items()) {
        const std::string name = prefix + key;
        const bool is_typed =
            value.is_object() && value.contains("type") && value.at("type").is_string();
        std::optional<Json> made;
        if (is_typed)
            made = typed(draft, value, name);
        else if (value.is_object())
            read_hyperparameters(draft, name + ".", value);
        else
            made = choice_of(draft, Json::array({value}), "hyperparameters." + name);
        if (made) put_parameter(draft, name, *std::move(made));
    }
}

}    // namespace

void read_determined_experiment(SweepDraft& draft, const Json& file) {
    if (!judge_keys(draft, file, "", experiment_keys)) return;
    read_searcher(draft, file.at("searcher"));
    if (file.contains("hyperparameters") && file.at("hyperparameters").is_object())
        read_hyperparameters(draft, "", file.at("hyperparameters"));
    else
        draft.refuse("the file has no hyperparameters");
    if (file.contains("reproducibility") &&
        judge_keys(draft, file.at("reproducibility"), "reproducibility.", reproducibility_keys)) {
        if (const auto seed =
                whole_of(draft, file.at("reproducibility"), "experiment_seed", "reproducibility."))
            draft.body["seed"] = *seed;
    }
    if (const auto name = text_of_key(draft, file, "name", "")) draft.body["name"] = *name;
    // The searcher says how long trials train.
    Json& space = draft.body["space"];
    for (const char* length : {"train.epochs", "train.steps"})
        if (!draft.is_external() && file.at("searcher").is_object() &&
            (file.at("searcher").contains("max_length") ||
             file.at("searcher").contains("max_time")) &&
            space.erase(length) > 0)
            draft.note(fmt::format("the parameter {} is left out: the searcher says it", length));
}

}    // namespace slipway
