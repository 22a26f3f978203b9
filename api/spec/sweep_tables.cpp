#include <algorithm>

#include "api/base/id.h"
#include "api/base/parsed_json.h"
#include "api/spec/job_spec.h"
#include "api/spec/search_tables.h"
#include "api/spec/sweep_spec.h"
#include "api/spec/table/collections.h"
#include "api/spec/tables.h"

namespace slipway {

namespace {

constexpr std::int64_t sweep_trials_max = 100'000;
constexpr auto nonfinite_words = std::to_array<std::string_view>({"nan", "inf", "-inf"});
constexpr auto trial_ends = std::to_array<std::string_view>({"completed", "failed"});

bool is_sweep_id(std::string_view text) {
    return is_id("swp", text);
}

const TextForm sweep_id_form{"the id of a sweep (swp_…)", "^swp_[0-9a-z]{26}$", is_sweep_id};

bool is_metric_name(std::string_view text) {
    return !text.empty() && text.size() <= 100 &&
           std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c < 127; });
}

const TextForm metric_name_form{"the name of a metric, such as val_loss", "^[!-~]{1,100}$",
                                is_metric_name};

const Object<ObjectiveSpec>& objective_table() {
    static const auto table =
        Object<ObjectiveSpec>("SweepObjective", "What a sweep optimises.")
            .field("metric", &ObjectiveSpec::metric,
                   "Metric of the validation part that trials are compared by. Of a sweep without "
                   "a job, any name.",
                   Text{.form = &metric_name_form})
            .field("mode", &ObjectiveSpec::mode,
                   "Whether a smaller or a larger value is better. Default: as suits the metric.",
                   Choice<MetricMode>{})
            .field("value", &ObjectiveSpec::value,
                   "Whether a trial is judged by its best or by its last value.",
                   Choice<ObjectiveValue>{})
            .rule([](const Json& given, ObjectiveSpec& spec, const Reader&) {
                if (given.contains("mode")) return;
                const auto metric = validation_metric(spec.metric);
                if (metric) spec.mode = better(*metric).value_or(MetricMode::min);
            });
    return table;
}

const Object<SweepLimitsSpec>& sweep_limits_table() {
    static const auto table =
        Object<SweepLimitsSpec>("SweepLimits",
                                "Limits of a sweep; the first that is reached ends it.")
            .field("max_trials", &SweepLimitsSpec::max_trials,
                   "Number of trials. Default: all points of a grid, the population of pbt; "
                   "required for the other algorithms.",
                   Integer{.min = 1, .max = sweep_trials_max})
            .field("max_concurrent", &SweepLimitsSpec::max_concurrent,
                   "Number of trials that run or wait in the queue at a time.",
                   Integer{.min = 1, .max = 1000})
            .field("max_failures", &SweepLimitsSpec::max_failures,
                   "Failed trials that end the sweep. Default: 10 while no trial has a finite "
                   "value, otherwise no limit.",
                   Integer{.min = 1, .max = sweep_trials_max})
            .field("max_core_s", &SweepLimitsSpec::max_core_s,
                   "Core-seconds of all trials together.", Number{.above = 0})
            .field("max_wall_s", &SweepLimitsSpec::max_wall_s,
                   "Seconds since the sweep was created.", Number{.above = 0})
            .field("target", &SweepLimitsSpec::target,
                   "Value of the objective that is good enough.", Number{})
            .field("stall", &SweepLimitsSpec::stall,
                   "Number of trials in a row that end without a new best value.",
                   Integer{.min = 1, .max = sweep_trials_max});
    return table;
}

const Object<WarmStartSpec>& warm_start_table() {
    static const auto table =
        Object<WarmStartSpec>("SweepWarmStart", "What a sweep knows when it begins.")
            .field("points", &WarmStartSpec::points,
                   "Points to try first, by path. What a point leaves out is drawn at random.",
                   List<AnyObject>{.item = {}, .max = 1000}, {.absent_when_empty = true})
            .field("sweeps", &WarmStartSpec::sweeps,
                   "Earlier sweeps of the same objective: tpe learns from their trials.",
                   List<Text>{.item = {.form = &sweep_id_form}, .max = 20, .unique = true},
                   {.absent_when_empty = true});
    return table;
}

/// Algorithms that say by themselves how many trials there are.
void judge_max_trials(SweepSpec& spec, const Reader& at) {
    if (spec.limits.max_trials || sampler_of(spec.algorithm).name == SamplerName::grid) return;
    if (spec.algorithm.name == SearchMethod::pbt) {
        spec.limits.max_trials = spec.algorithm.population;
        return;
    }
    const Reader here = at.at("limits").at("max_trials");
    here.report("missing_field",
                fmt::format("{} is required with algorithm {}: how many trials the sweep has",
                            here.path(), to_string(spec.algorithm.name)));
}

void judge_sweep(const Json&, SweepSpec& spec, const Reader& at) {
    judge_max_trials(spec, at);
    if (!spec.warm_start || spec.warm_start->sweeps.empty()) return;
    if (sampler_of(spec.algorithm).name == SamplerName::tpe) return;
    const Reader here = at.at("warm_start").at("sweeps");
    here.report("inconsistent",
                fmt::format("{} has a meaning only with the algorithm or the sampler tpe, which "
                            "learns from results; give warm_start.points instead",
                            here.path()));
}

}    // namespace

const Object<SweepSpec>& sweep_table() {
    static const auto table =
        Object<SweepSpec>("SweepSpec", "A hyperparameter search: many jobs that differ in values.")
            .field("name", &SweepSpec::name, "Human-readable name. Default: made from the metric.",
                   Text{}, {.absent_when_empty = true})
            .field("project", &SweepSpec::project, "Project that the sweep and its jobs belong to.",
                   Text{.form = &plain_name})
            .field("labels", &SweepSpec::labels, "Key-value labels for filtering.",
                   Map<Text>{.key = &plain_name, .item = {.min = 0}}, {.absent_when_empty = true})
            .field("objective", &SweepSpec::objective, "What the sweep optimises.",
                   Nested<ObjectiveSpec>{&objective_table()})
            .field("space", &SweepSpec::space,
                   "Parameters by dotted path into the job spec, such as train.optimizer.lr.",
                   SpaceKind{}, {.required = true})
            .field("constraints", &SweepSpec::constraints,
                   "Expressions that every point satisfies, such as \"train.batch_size_per_core "
                   "<= 64 or model.arch == 'resnet18'\".",
                   List<Text>{.item = {.max = 1000}, .max = 64}, {.absent_when_empty = true})
            .field("algorithm", &SweepSpec::algorithm, "How points are chosen and compared.",
                   Nested<AlgorithmSpec>{&algorithm_table()}, {.required = true})
            .field("limits", &SweepSpec::limits, "When the sweep ends.",
                   Nested<SweepLimitsSpec>{&sweep_limits_table()})
            .field("seed", &SweepSpec::seed,
                   "Seed of everything random: the same seed and the same observations give the "
                   "same decisions.",
                   Integer{})
            .field("warm_start", &SweepSpec::warm_start, "What the sweep knows when it begins.",
                   Nested<WarmStartSpec>{&warm_start_table()})
            .field(
                "job", &SweepSpec::job,
                "Job spec that the values of a trial are put into. Absent: trials run elsewhere; "
                "ask for them with suggest and report their values with observe.",
                AnyObject{}, {.absent_when_empty = true})
            .rule(judge_sweep);
    return table;
}

const Object<SweepPatchBody>& sweep_patch_table() {
    static const auto table =
        Object<SweepPatchBody>("SweepPatch", "Changes to a sweep; absent fields stay unchanged.")
            .field("name", &SweepPatchBody::name, "New name.", Text{})
            .field("labels", &SweepPatchBody::labels, "New labels, in place of all.",
                   Map<Text>{.key = &plain_name, .item = {.min = 0}})
            .field("max_concurrent", &SweepPatchBody::max_concurrent,
                   "Number of trials that run or wait in the queue at a time, from now on.",
                   Integer{.min = 1, .max = 1000});
    return table;
}

const Object<SweepExtendBody>& sweep_extend_table() {
    static const auto table =
        Object<SweepExtendBody>("SweepExtend", "More trials for a sweep, also for one that ended.")
            .field("max_trials", &SweepExtendBody::max_trials,
                   "Number of trials that the sweep may have from now on.",
                   Integer{.min = 1, .max = sweep_trials_max}, {.required = true});
    return table;
}

const Object<SweepSuggestBody>& sweep_suggest_table() {
    static const auto table =
        Object<SweepSuggestBody>("SweepSuggest", "Asks a sweep without a job for trials.")
            .field("count", &SweepSuggestBody::count, "Number of trials.",
                   Integer{.min = 1, .max = 100});
    return table;
}

const Object<SweepObserveBody>& sweep_observe_table() {
    static const auto table =
        Object<SweepObserveBody>("SweepObserve", "What a trial that runs elsewhere has measured.")
            .field("time", &SweepObserveBody::time,
                   "Epochs or steps after which the value was measured; grows with each report.",
                   Integer{.min = 1, .max = 1'000'000'000})
            .field("value", &SweepObserveBody::value, "Value of the objective.", Number{})
            .field("nonfinite", &SweepObserveBody::nonfinite,
                   "nan, inf or -inf, in place of a value.", Word{.allowed = nonfinite_words},
                   {.absent_when_empty = true})
            .field("end", &SweepObserveBody::end, "completed or failed: the trial has ended.",
                   Word{.allowed = trial_ends}, {.absent_when_empty = true})
            .rule([](const Json&, SweepObserveBody& body, const Reader& at) {
                const bool measured = body.value || !body.nonfinite.empty();
                if (body.value && !body.nonfinite.empty())
                    at.at("nonfinite")
                        .report("conflicting_fields", "value and nonfinite exclude each other");
                if (measured != body.time.has_value())
                    at.at("time").report("missing_field",
                                         "time and value (or nonfinite) belong together; give both "
                                         "or neither");
                if (!measured && body.end.empty())
                    at.at("value").report(
                        "missing_field", "an observation has a time with a value, an end, or both");
            });
    return table;
}

const Object<SweepSimulateBody>& sweep_simulate_table() {
    static const auto table =
        Object<SweepSimulateBody>("SweepSimulate",
                                  "Another algorithm to replay the recorded trials under.")
            .field("algorithm", &SweepSimulateBody::algorithm, "The algorithm to try.",
                   Nested<AlgorithmSpec>{&algorithm_table()}, {.required = true})
            .field("max_concurrent", &SweepSimulateBody::max_concurrent,
                   "Trials at a time. Default: that of the sweep.", Integer{.min = 1, .max = 1000});
    return table;
}

}    // namespace slipway
