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
constexpr double trial_lease_s_min = 1;
constexpr double trial_lease_s_max = 604'800;    // a week
constexpr auto nonfinite_words = std::to_array<std::string_view>({"nan", "inf", "-inf"});
constexpr auto trial_ends = std::to_array<std::string_view>({"completed", "failed"});

bool is_sweep_id(std::string_view text) {
    return is_id("swp", text);
}

const TextForm sweep_id_form{"the id of a sweep (swp_…)", "^swp_[0-9a-z]{26}$", is_sweep_id};

/// As long as the store keeps names, and UTF-8, since labels are parts of names (val_auc_кошка).
constexpr std::size_t metric_name_bytes_max = 200;

bool is_metric_name(std::string_view text) {
    // Control characters and the blank behind them: U+0080 to U+00A0.
    for (std::size_t at = text.find('\xC2'); at < text.size(); at = text.find('\xC2', at + 1))
        if (text.substr(at) < "\xC2\xA1") return false;
    return !text.empty() && text.size() <= metric_name_bytes_max &&
           std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c != 127; });
}

const TextForm metric_name_form{"the name of a metric, such as val_loss",
                                R"(^[^\x00-\x20\x7f-\xa0]{1,200}$)", is_metric_name};

const Object<FoldPruningSpec>& fold_pruning_table() {
    static const auto table =
        Object<FoldPruningSpec>("FoldPruning",
                                "When a trial that is a cross-validation trains no further folds.")
            .field("min_folds", &FoldPruningSpec::min_folds, "Folds that every trial trains.",
                   Integer{.min = 2, .max = split_folds_max})
            .field("confidence", &FoldPruningSpec::confidence,
                   "A trial trains no further folds if the probability that it will be the best "
                   "one is below 1 - confidence.",
                   Number{.min = 0.5, .max = 0.9999})
            .field("wave", &FoldPruningSpec::wave,
                   "Number of trials that are compared with each other, fold after fold; the "
                   "trials of the next wave start when this one has ended.",
                   Integer{.min = 2, .max = 1000});
    return table;
}

const Object<ObjectiveSpec>& objective_table() {
    static const auto table =
        Object<ObjectiveSpec>("SweepObjective", "What a sweep optimises.")
            .field("metric", &ObjectiveSpec::metric,
                   "Validation metric that trials are compared by. For a sweep without a job: any "
                   "name. For cross-validations: cv.METRIC.mean, such as cv.val_loss.mean, or "
                   "cv.METRIC.weighted_mean, the mean over validation samples.",
                   Text{.form = &metric_name_form})
            .field("mode", &ObjectiveSpec::mode,
                   "Whether a smaller or a larger value is better. Default: as suits the metric.",
                   Choice<MetricMode>{})
            .field("value", &ObjectiveSpec::value,
                   "Whether a trial is judged by its best or by its last value.",
                   Choice<ObjectiveValue>{})
            .field("fold_pruning", &ObjectiveSpec::fold_pruning,
                   "For cross-validations: end trials early that are unlikely to be the best after "
                   "their first folds. Absent: every trial trains every fold.",
                   Nested<FoldPruningSpec>{&fold_pruning_table()})
            .rule([](const Json& given, ObjectiveSpec& spec, const Reader&) {
                if (given.contains("mode")) return;
                const auto of_folds = fold_metric(spec.metric);
                const auto metric = validation_metric(of_folds ? of_folds->metric : spec.metric);
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
                   "Maximum number of trials that run or wait in the queue at a time.",
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
                   "Value of the objective that ends the sweep when it is reached.", Number{})
            .field("stall", &SweepLimitsSpec::stall,
                   "Number of trials in a row that end without a new best value.",
                   Integer{.min = 1, .max = sweep_trials_max});
    return table;
}

const Object<WarmStartSpec>& warm_start_table() {
    static const auto table =
        Object<WarmStartSpec>("SweepWarmStart", "What a sweep knows when it starts.")
            .field("points", &WarmStartSpec::points,
                   "Points to try first, by path. Parameters that a point leaves out are sampled "
                   "at random.",
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

const Object<SweepFoldsSpec>& sweep_folds_table() {
    static const auto table =
        Object<SweepFoldsSpec>("SweepCrossValidation",
                               "What each trial of a sweep cross-validates.")
            .field("split", &SweepFoldsSpec::split,
                   "How to divide the dataset; if it already has an equal split, that one is used.",
                   Nested<SplitCreate>{&split_create_table()}, {.unless = "split_id"})
            .field("split_id", &SweepFoldsSpec::split_id,
                   "Id of a stored split of the dataset (spl_…), instead of split.", Text{},
                   {.absent_when_empty = true})
            .field("job", &SweepFoldsSpec::job,
                   "Job spec of each fold that the values of a trial are put into, without name, "
                   "project and data.split.",
                   AnyObject{}, {.required = true});
    return table;
}

bool compares_whole_trials(SearchMethod method) {
    return method == SearchMethod::grid || method == SearchMethod::random ||
           method == SearchMethod::sobol || method == SearchMethod::tpe;
}

/// Folds are the time of such a trial.
void judge_fold_search(const SweepSpec& spec, const Reader& at) {
    if (compares_whole_trials(spec.algorithm.name)) return;
    const Reader here = at.at("algorithm").at("name");
    here.report("not_allowed",
                fmt::format("{} cannot be {} with cross_validation: it compares trials by epochs "
                            "or steps of one job; choose grid, random, sobol or tpe, and "
                            "objective.fold_pruning",
                            here.path(), to_string(spec.algorithm.name)),
                {"grid", "random", "sobol", "tpe"});
}

void judge_fold_pruning(const SweepSpec& spec, const Reader& at) {
    const FoldPruningSpec& pruning = *spec.objective.fold_pruning;
    const Reader here = at.at("objective").at("fold_pruning");
    if (!spec.cross_validation)
        return here.report("inconsistent",
                           fmt::format("{} has a meaning only with cross_validation, whose trials "
                                       "have folds",
                                       here.path()));
    if (spec.limits.stall) {
        const Reader stall = at.at("limits").at("stall");
        stall.report("inconsistent",
                     fmt::format("{} cannot be combined with objective.fold_pruning: trials that "
                                 "are ended early come before the one that wins",
                                 stall.path()));
    }
    const auto& split = spec.cross_validation->split;
    if (!split || split->method == SplitMethod::leave_one_group_out) return;
    const std::int64_t repeats = split->method == SplitMethod::repeated_kfold ? split->repeats : 1;
    if (pruning.min_folds < split->folds * repeats) return;
    const Reader min_folds = here.at("min_folds");
    min_folds.report("inconsistent",
                     fmt::format("{} must be below the number of folds, {}, got {}",
                                 min_folds.path(), split->folds * repeats, pruning.min_folds));
}

void judge_cross_validation(const Json& given, SweepSpec& spec, const Reader& at) {
    if (spec.cross_validation) {
        const Reader here = at.at("cross_validation");
        if (!spec.job.is_null())
            here.report("conflicting_fields",
                        fmt::format("{} and job exclude each other: the job of a cross-validation "
                                    "is in {}",
                                    here.path(), here.at("job").path()));
        const bool names_metric =
            given.contains("objective") && given.at("objective").contains("metric");
        if (!names_metric) spec.objective.metric = "cv.val_loss.mean";
        if (given.contains("objective") && given.at("objective").contains("value") &&
            spec.objective.value == ObjectiveValue::best)
            at.at("objective")
                .at("value")
                .report("inconsistent",
                        "objective.value cannot be best with cross_validation: the value of a fold "
                        "is that "
                        "of its last evaluation; leave it out",
                        {"last"});
        spec.objective.value = ObjectiveValue::last;
        judge_fold_search(spec, at);
    }
    if (spec.objective.fold_pruning) judge_fold_pruning(spec, at);
}

void judge_sweep(const Json& given, SweepSpec& spec, const Reader& at) {
    judge_max_trials(spec, at);
    judge_cross_validation(given, spec, at);
    if (!spec.warm_start || spec.warm_start->sweeps.empty()) return;
    if (sampler_of(spec.algorithm).name == SamplerName::tpe) return;
    const Reader here = at.at("warm_start").at("sweeps");
    here.report("inconsistent",
                fmt::format("{} has a meaning only with the algorithm or the sampler tpe, which "
                            "learns from results; give warm_start.points instead",
                            here.path()));
}

}    // namespace

std::optional<FoldMetric> fold_metric(std::string_view objective) {
    constexpr std::string_view prefix = "cv.";
    if (!objective.starts_with(prefix)) return std::nullopt;
    const std::size_t dot = objective.rfind('.');
    if (dot <= prefix.size()) return std::nullopt;
    const std::string_view word = objective.substr(dot + 1);
    if (word != "mean" && word != "weighted_mean") return std::nullopt;
    return FoldMetric{.metric = std::string(objective.substr(prefix.size(), dot - prefix.size())),
                      .is_weighted = word == "weighted_mean"};
}

const Object<SweepSpec>& sweep_table() {
    static const auto table =
        Object<SweepSpec>("SweepSpec", "A hyperparameter search: many jobs that differ in values.")
            .field("name", &SweepSpec::name, "Human-readable name. Default: made from the metric.",
                   Text{.is_name = true}, {.absent_when_empty = true})
            .field("project", &SweepSpec::project, "Project that the sweep and its jobs belong to.",
                   Text{.form = &plain_name})
            .field("labels", &SweepSpec::labels, "Key-value labels for filtering.",
                   Map<Text>{.key = &plain_name, .item = {.min = 0, .is_name = true}},
                   {.absent_when_empty = true})
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
            .field("warm_start", &SweepSpec::warm_start, "What the sweep knows when it starts.",
                   Nested<WarmStartSpec>{&warm_start_table()})
            .field("keep_checkpoints", &SweepSpec::keep_checkpoints,
                   "best: checkpoints of unsuccessful trials are deleted while the sweep runs, "
                   "except pinned ones and those in use; all: as the job spec says.",
                   Choice<KeptCheckpoints>{})
            .field("keep_reports", &SweepSpec::keep_reports,
                   "best: programs and timelines of unsuccessful trials are deleted while the "
                   "sweep runs, their reports stay; all: as the job spec says.",
                   Choice<KeptCheckpoints>{})
            .field(
                "job", &SweepSpec::job,
                "Job spec that the values of a trial are put into. Absent: trials run elsewhere; "
                "ask for them with suggest and report their values with observe.",
                AnyObject{}, {.absent_when_empty = true})
            .field("cross_validation", &SweepSpec::cross_validation,
                   "Instead of job: each trial is a cross-validation, and the objective is its "
                   "mean over the folds.",
                   Nested<SweepFoldsSpec>{&sweep_folds_table()})
            .rule(judge_sweep);
    return table;
}

const Object<SweepPatchBody>& sweep_patch_table() {
    static const auto table =
        Object<SweepPatchBody>("SweepPatch", "Changes to a sweep; absent fields stay unchanged.")
            .field("name", &SweepPatchBody::name, "New name.", Text{.is_name = true})
            .field("labels", &SweepPatchBody::labels, "New labels; they replace all existing ones.",
                   Map<Text>{.key = &plain_name, .item = {.min = 0, .is_name = true}})
            .field("max_concurrent", &SweepPatchBody::max_concurrent,
                   "Maximum number of trials that run or wait in the queue at a time.",
                   Integer{.min = 1, .max = 1000});
    return table;
}

const Object<SweepExtendBody>& sweep_extend_table() {
    static const auto table =
        Object<SweepExtendBody>("SweepExtend", "More trials for a sweep, also for one that ended.")
            .field("max_trials", &SweepExtendBody::max_trials, "New maximum number of trials.",
                   Integer{.min = 1, .max = sweep_trials_max}, {.required = true});
    return table;
}

const Object<SweepPromoteBody>& sweep_promote_table() {
    static const auto table =
        Object<SweepPromoteBody>("SweepPromote", "A training job made from a trial of a sweep.")
            .field("trial", &SweepPromoteBody::trial, "Number of the trial. Default: the best one.",
                   Integer{.min = 0, .max = sweep_trials_max})
            .field("changes", &SweepPromoteBody::changes,
                   "Changes to the trial's job spec, as a JSON merge patch (RFC 7396).",
                   AnyObject{})
            .field("start", &SweepPromoteBody::start,
                   "continue: from the full training state of the trial's checkpoint; weights: "
                   "from its weights only; scratch: without a checkpoint. Default: continue; for "
                   "cross-validations scratch, the only possible value.",
                   Choice<ForkStart>{})
            .field("pin", &SweepPromoteBody::pin, "Pin the checkpoint that the job starts from.",
                   Flag{});
    return table;
}

const Object<SweepSuggestBody>& sweep_suggest_table() {
    static const auto table =
        Object<SweepSuggestBody>("SweepSuggest", "Asks a sweep without a job for trials.")
            .field("count", &SweepSuggestBody::count, "Number of trials.",
                   Integer{.min = 1, .max = 100})
            .field("lease_s", &SweepSuggestBody::lease_s,
                   "Seconds in which each of the trials must be observed again; otherwise its "
                   "worker counts as lost, and the next suggest returns the trial. "
                   "Default: none, a trial waits for its worker without end.",
                   Number{.min = trial_lease_s_min, .max = trial_lease_s_max});
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
            .field(
                "lease_s", &SweepObserveBody::lease_s,
                "Lease of the trial, in seconds from now on. An observation of this field alone is "
                "a sign of life. Default: the trial keeps its lease, which each report renews.",
                Number{.min = trial_lease_s_min, .max = trial_lease_s_max})
            .rule([](const Json&, SweepObserveBody& body, const Reader& at) {
                const bool measured = body.value || !body.nonfinite.empty();
                if (body.value && !body.nonfinite.empty())
                    at.at("nonfinite")
                        .report("conflicting_fields", "value and nonfinite exclude each other");
                if (measured != body.time.has_value())
                    at.at("time").report("missing_field",
                                         "time and value (or nonfinite) belong together; give both "
                                         "or neither");
                if (!measured && body.end.empty() && !body.lease_s)
                    at.at("value").report("missing_field",
                                          "an observation has a time with a value, an end, or "
                                          "lease_s, or several of them");
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
