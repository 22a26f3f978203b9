#include "scheduler/sweeps/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/spec/cross_validation_spec.h"
#include "api/spec/table/reader.h"
#include "scheduler/search/grid.h"
#include "scheduler/search/job_point.h"
#include "scheduler/search/parameter.h"
#include "scheduler/search/space_limits.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/submission/continued_spec.h"
#include "scheduler/submission/measured_check.h"

namespace slipway::sweeps {

namespace {

using search::Point;
using search::Space;

/// Its trials end where the algorithm says, not where their job does.
bool sets_the_end(const AlgorithmSpec& algorithm) {
    return algorithm.name == SearchMethod::asha || algorithm.name == SearchMethod::hyperband ||
           algorithm.name == SearchMethod::pbt;
}

/// Its trials end and go on from their checkpoints.
bool resumes(const AlgorithmSpec& algorithm) {
    const bool promotes =
        algorithm.name == SearchMethod::asha && algorithm.mode == AshaMode::promote;
    return promotes || algorithm.name == SearchMethod::hyperband ||
           algorithm.name == SearchMethod::pbt;
}

void set_end(Json& job, TimeAttribute attribute, std::int64_t until) {
    if (until == 0) return;
    Json& train = job["train"];
    if (!train.is_object() && !train.is_null()) return;    // the decoder says what is wrong
    train.erase(attribute == TimeAttribute::epoch ? "steps" : "epochs");
    train[attribute == TimeAttribute::epoch ? "epochs" : "steps"] = until;
}

/// A trial that goes on from checkpoints is the beginning of a training to max_time: a schedule
/// over the length of a job is one over that.
Json with_schedule_length(Json job, const AlgorithmSpec& algorithm) {
    constexpr auto stretched = std::to_array<std::string_view>({"cosine", "linear", "one_cycle"});
    Json& train = job["train"];
    const auto schedule = train.find("schedule");
    if (schedule == train.end() || !schedule->is_object() || schedule->contains("length"))
        return job;
    const auto name = schedule->find("name");
    if (name == schedule->end() || !name->is_string()) return job;
    if (std::ranges::find(stretched, name->get<std::string>()) == stretched.end()) return job;
    (*schedule)["length"] = algorithm.max_time;
    return job;
}

Json template_of(const SweepSpec& spec) {
    Json job = spec.job_template();
    if (!job.contains("project")) job["project"] = spec.project;
    if (sets_the_end(spec.algorithm))
        set_end(job, spec.algorithm.time_attr, spec.algorithm.max_time);
    return job;
}

/// What the best checkpoint of a trial's jobs is compared by.
struct BestRule {
    std::string metric;
    std::string mode;
    std::string_view source;    ///< the field that says so, for people
};

/// The objective, so that the best checkpoint has the value that the trial is judged by. A fold
/// that stops early is judged by its best evaluation.
BestRule best_rule(const SweepSpec& spec, const Json& job) {
    const BestRule own{.metric = measured_metric(spec),
                       .mode = std::string(to_string(spec.objective.mode)),
                       .source = "objective"};
    const Json::json_pointer place("/train/early_stopping");
    if (!spec.cross_validation || !job.contains(place) || !job[place].is_object()) return own;
    const Decoded<JobSpec> decoded = decode_job_spec(job);
    const auto& stopping = decoded.value.train.early_stopping;
    if (!decoded.ok() || !stopping) return own;    // the decoder complains
    return {.metric = stopping->metric,
            .mode = std::string(to_string(stopping->mode)),
            .source = "job.train.early_stopping"};
}

/// A trial's best checkpoint is the one with the value that it is judged by, and one is kept.
Json with_best_checkpoint(Json job, const SweepSpec& spec) {
    const BestRule rule = best_rule(spec, job);
    Json& checkpoint = job["checkpoint"];
    if (!checkpoint.is_object() && !checkpoint.is_null()) return job;    // the decoder complains
    Json& best = checkpoint["best"];
    if (!best.is_object() && !best.is_null()) return job;
    best["metric"] = rule.metric;
    best["mode"] = rule.mode;
    const bool judges_best = spec.objective.value == ObjectiveValue::best || spec.cross_validation;
    if (judges_best && best.contains("keep") && best["keep"] == 0) best["keep"] = 1;
    return job;
}

/// A trial's job but for its best checkpoint.
Result<Json> plain_trial_spec(const SweepSpec& spec, const Point& point, std::int64_t until) {
    Json job = template_of(spec);
    set_end(job, spec.algorithm.time_attr, until);
    const Result<Json> made = search::with_point(job, point);
    if (!made || until == 0 || !resumes(spec.algorithm)) return made;
    return with_schedule_length(*made, spec.algorithm);
}

/// What the sweep says of the best checkpoint, the job may leave out or say likewise.
void check_best_checkpoint(const SweepSpec& spec, const Point& first,
                           std::vector<Problem>& problems) {
    const Json& job = spec.job_template();
    if (!job.contains("checkpoint") || !job["checkpoint"].is_object()) return;
    const Json best = job["checkpoint"].value("best", Json());
    if (!best.is_object()) return;
    const Result<Json> made = plain_trial_spec(spec, first, 0);
    if (!made) return;
    const BestRule rule = best_rule(spec, *made);
    const auto require = [&](const char* field, const std::string& own) {
        if (!best.contains(field) || best[field] == own) return;
        problems.push_back(
            {std::string("/job/checkpoint/best/") + field,
             "inconsistent",
             fmt::format("job.checkpoint.best.{} must be that of {}, {}, got {}: the best "
                         "checkpoint of a trial is the one with its value; leave it out, or change "
                         "{}.{}",
                         field, rule.source, own, shown(best[field]), rule.source, field),
             {own}});
    };
    require("metric", rule.metric);
    require("mode", rule.mode);
}

void check_project(const SweepSpec& spec, std::vector<Problem>& problems) {
    const Json& job = spec.job_template();
    const auto project = job.find("project");
    if (project == job.end() || *project == spec.project) return;
    problems.push_back({"/job/project", "inconsistent",
                        fmt::format("job.project must be that of the sweep, {}, got {}; leave it "
                                    "out",
                                    spec.project, shown(*project))});
}

bool always(const SweepSpec&) {
    return true;
}
bool ends_are_set(const SweepSpec& spec) {
    return sets_the_end(spec.algorithm);
}
bool has_folds(const SweepSpec& spec) {
    return spec.cross_validation.has_value();
}

struct TakenPath {
    std::string_view path;    ///< with everything below it
    std::string_view why;
    bool (*applies)(const SweepSpec&);
};

constexpr auto taken_paths = std::to_array<TakenPath>({
    {"name", "names are made of the sweep's and the trial's number", always},
    {"project", "all trials are of the sweep's project", always},
    {"train.epochs", "the algorithm says how long trials train (max_time)", ends_are_set},
    {"train.steps", "the algorithm says how long trials train (max_time)", ends_are_set},
    {"checkpoint.best.metric", "the best checkpoint is that of the objective", always},
    {"checkpoint.best.mode", "the best checkpoint is that of the objective", always},
    {"data.dataset", "all trials have the folds of one dataset", has_folds},
    {"data.split", "all trials have the same folds", has_folds},
});

bool is_below(std::string_view path, std::string_view parent) {
    return path == parent || (path.starts_with(parent) && path[parent.size()] == '.');
}

void check_taken_paths(const SweepSpec& spec, std::vector<Problem>& problems) {
    for (const TakenPath& row : taken_paths) {
        if (!row.applies(spec)) continue;
        for (const auto& [path, parameter] : spec.space) {
            if (!is_below(path, row.path)) continue;
            problems.push_back({parameter.given_at.pointer, "not_allowed",
                                fmt::format("{} cannot be a parameter: {}", path, row.why)});
        }
    }
}

/// The first value that is tried of each parameter.
Point first_point(const Space& space) {
    Point point;
    for (const search::Parameter& one : space.parameters())
        if (space.exists(one, point)) point[one.path] = search::value_at(one.spec, 0.5);
    return point;
}

/// As it is written in the objective.
std::vector<std::string> objective_words(const SweepSpec& spec, std::string_view metric) {
    if (!spec.cross_validation) return {std::string(metric)};
    return {fmt::format("cv.{}.mean", metric), fmt::format("cv.{}.weighted_mean", metric)};
}

/// Folds always validate.
void check_validation(const SweepSpec& spec, const JobSpec& job, std::vector<Problem>& problems) {
    if (spec.cross_validation || submission::has_validation(job.data.split)) return;
    problems.push_back(
        {"/objective/metric", "inconsistent",
         fmt::format("objective.metric is {}, which needs validation samples, and job.{}; raise it",
                     spec.objective.metric, submission::no_validation_reason(job.data.split))});
}

void check_objective(const SweepSpec& spec, const JobSpec& job, std::vector<Problem>& problems) {
    std::vector<std::string> measured;
    for (const TaskMetric one : job.task.metrics)
        if (better(one))    // else it is no number
            std::ranges::move(objective_words(spec, fmt::format("val_{}", to_string(one))),
                              std::back_inserter(measured));
    if (std::ranges::find(job.task.metrics, TaskMetric::loss) == job.task.metrics.end())
        std::ranges::move(objective_words(spec, "val_loss"), std::back_inserter(measured));
    if (std::ranges::find(measured, spec.objective.metric) != measured.end()) return;
    const auto metric = validation_metric(measured_metric(spec));
    const auto own = metrics_of(job.task.type);
    const bool has_form = !spec.cross_validation || fold_metric(spec.objective.metric);
    const bool possible =
        has_form && metric && std::ranges::find(own, *metric) != own.end() && better(*metric);
    problems.push_back(
        {"/objective/metric", "not_allowed",
         possible
             ? fmt::format("objective.metric is {}, which job.task.metrics does not include; "
                           "add {} there, or choose one of: {}",
                           spec.objective.metric, to_string(*metric), fmt::join(measured, ", "))
             : fmt::format("objective.metric is {}, which a {} of task.type {} does not "
                           "measure; choose one of: {}",
                           spec.objective.metric,
                           spec.cross_validation ? "cross-validation" : "job",
                           to_string(job.task.type), fmt::join(measured, ", ")),
         measured});
}

/// Where trials go on from the end of their last job, there must be something to go on from.
void check_checkpoint(const SweepSpec& spec, const JobSpec& job, std::vector<Problem>& problems) {
    const bool in_epochs = spec.algorithm.time_attr == TimeAttribute::epoch;
    const bool saves_the_end =
        job.checkpoint.save_final || (in_epochs && job.checkpoint.every_epochs == 1);
    if (!resumes(spec.algorithm) || saves_the_end) return;
    problems.push_back(
        {"/job/checkpoint/save_final",
         "inconsistent",
         fmt::format("job.checkpoint.save_final cannot be false with algorithm {}{}: a trial ends "
                     "at each rung or generation and continues from the checkpoint saved there",
                     to_string(spec.algorithm.name),
                     spec.algorithm.name == SearchMethod::asha ? " in mode promote" : ""),
         {"true"}});
}

/// pbt continues a checkpoint with other values: they must fit its state.
void check_exploit(const SweepSpec& spec, const Space& space, std::vector<Problem>& problems) {
    if (spec.algorithm.name != SearchMethod::pbt) return;
    for (const search::Parameter& one : space.parameters()) {
        if (!one.dimension) continue;
        Point low = first_point(space);
        if (!low.contains(one.path)) continue;
        Point high = low;
        low[one.path] = search::value_at(one.spec, 0.001);
        high[one.path] = search::value_at(one.spec, 0.999);
        const auto before = trial_spec(spec, low, spec.algorithm.interval);
        const auto after = trial_spec(spec, high, spec.algorithm.max_time);
        if (!before || !after) continue;
        const auto decoded_before = decode_job_spec(*before);
        const auto decoded_after = decode_job_spec(*after);
        if (!decoded_before.ok() || !decoded_after.ok()) continue;
        const auto unfit = submission::check_continued(decoded_before.value, decoded_after.value);
        if (unfit.empty()) continue;
        problems.push_back({one.spec.given_at.pointer, "not_allowed",
                            fmt::format("{} cannot be a parameter with pbt, which continues from "
                                        "another trial's checkpoint with other values: {}",
                                        one.path, unfit.front().message)});
    }
}

/// What a cross-validation does not take: a split of a single fold, a job with a split of its own.
void check_folds(const SweepSpec& spec, const Point& point, std::vector<Problem>& problems) {
    if (!spec.cross_validation) return;
    const Result<Json> request = cross_validation_of(spec, point);
    if (!request) return;
    for (Problem& one : decode_cross_validation(*request).problems) {
        if (!one.pointer.starts_with("/job")) one.pointer.insert(0, "/cross_validation");
        problems.push_back(std::move(one));
    }
}

/// Checks of the job say where in a job; that of a cross-validation is one level deeper.
void put_below_folds(const SweepSpec& spec, std::vector<Problem>& problems) {
    if (!spec.cross_validation) return;
    for (Problem& one : problems)
        if (one.pointer == "/job" || one.pointer.starts_with("/job/"))
            one.pointer.insert(0, "/cross_validation");
}

void check_job(const SweepSpec& spec, const Space& space, std::vector<Problem>& problems) {
    const Json job = template_of(spec);
    std::ranges::move(search::space_problems(space, job), std::back_inserter(problems));
    if (!problems.empty()) return;
    const auto first = plain_trial_spec(spec, first_point(space), 0);
    if (!first) return;
    const Decoded<JobSpec> decoded = decode_job_spec(*first);
    if (!decoded.ok()) return;    // a combination: told when the trial is made
    check_best_checkpoint(spec, first_point(space), problems);
    check_objective(spec, decoded.value, problems);
    check_validation(spec, decoded.value, problems);
    if (!problems.empty()) return;    // it is part of every trial's job
    check_folds(spec, first_point(space), problems);
    check_checkpoint(spec, decoded.value, problems);
    check_exploit(spec, space, problems);
}

void check_grid(SweepSpec& spec, const Space& space, std::vector<Problem>& problems) {
    if (sampler_of(spec.algorithm).name != SamplerName::grid) return;
    auto found = search::grid_problems(space);
    if (found.empty()) {
        const auto limit =
            std::uint64_t(spec.limits.max_trials.value_or(std::int64_t(search::grid_points_max)));
        const auto size = search::grid_size(space, search::grid_points_max);
        // Fewer trials than points are a choice; more points than a grid may have are not.
        if (auto too_large = search::grid_too_large(size, search::grid_points_max))
            found.push_back(std::move(*too_large));
        else if (!spec.limits.max_trials)
            spec.limits.max_trials = std::int64_t(std::min(limit, size.points.value_or(limit)));
    }
    std::ranges::move(found, std::back_inserter(problems));
    if (spec.limits.max_trials && *spec.limits.max_trials < 1) spec.limits.max_trials = 1;
}

std::vector<Point> start_points(const SweepSpec& spec) {
    std::vector<Point> points;
    if (!spec.warm_start) return points;
    for (const Json& given : spec.warm_start->points) {
        Point point;
        for (const auto& [path, value] : given.items())
            point[path] = value;
        points.push_back(std::move(point));
    }
    return points;
}

std::optional<search::FoldSearch> fold_search(const SweepSpec& spec,
                                              std::vector<search::FoldSize> sizes) {
    if (!spec.cross_validation) return std::nullopt;
    const auto metric = fold_metric(spec.objective.metric);
    return search::FoldSearch{.sizes = std::move(sizes),
                              .is_weighted = metric && metric->is_weighted,
                              .pruning = spec.objective.fold_pruning};
}

}    // namespace

std::vector<Problem> check_sweep(SweepSpec& spec) {
    std::vector<Problem> problems;
    const std::optional<Space> space = Space::compile(spec.search_space(), problems);
    if (!space) return problems;
    problems = search::space_limit_problems(spec.search_space(), *space);
    if (!problems.empty()) return problems;    // the rest would take too long
    if (!spec.is_external()) {
        check_project(spec, problems);
        check_taken_paths(spec, problems);
        if (problems.empty()) check_job(spec, *space, problems);
        put_below_folds(spec, problems);
    }
    check_grid(spec, *space, problems);
    std::ranges::move(
        search::start_point_problems(*space, start_points(spec), "/warm_start/points"),
        std::back_inserter(problems));
    sort_problems(problems);
    return problems;
}

search::Search make_search(const SweepSpec& spec, std::int64_t max_trials,
                           std::vector<search::KnownResult> known,
                           std::vector<search::FoldSize> folds) {
    std::vector<Problem> problems;
    std::optional<Space> space = Space::compile(spec.search_space(), problems);
    if (!space)
        throw Error{ErrorCode::data_loss,
                    "the space of the sweep is of another version: " + joined_messages(problems)};
    return search::Search(std::move(*space),
                          {.algorithm = spec.algorithm,
                           .mode = spec.objective.mode,
                           .selection = spec.objective.value == ObjectiveValue::last
                                            ? search::ObjectiveSelection::last
                                            : search::ObjectiveSelection::best,
                           .seed = std::uint64_t(spec.seed),
                           .max_trials = max_trials,
                           .start_points = start_points(spec),
                           .known = std::move(known),
                           .folds = fold_search(spec, std::move(folds))});
}

bool judges_running_trials(const SweepSpec& spec) {
    using enum SearchMethod;
    const SearchMethod method = spec.algorithm.name;
    const bool runs_all = method == grid || method == random || method == sobol || method == tpe;
    return !spec.cross_validation && (!runs_all || spec.limits.target);
}

Result<Json> trial_spec(const SweepSpec& spec, const Point& point, std::int64_t until) {
    const Result<Json> made = plain_trial_spec(spec, point, until);
    if (!made) return made;
    return with_best_checkpoint(*made, spec);
}

Result<Json> fold_spec(const SweepSpec& spec, const Point& point, const std::string& dataset_id,
                       const std::string& split_id, std::int64_t fold) {
    const Result<Json> trial = trial_spec(spec, point, 0);
    if (!trial) return trial;
    Json job = *trial;
    job["data"]["dataset"] = dataset_id;
    job["data"]["split"] = {{"id", split_id}, {"fold", fold}};
    return job;
}

std::string measured_metric(const SweepSpec& spec) {
    const auto of_folds = fold_metric(spec.objective.metric);
    return spec.cross_validation && of_folds ? of_folds->metric : spec.objective.metric;
}

Result<Json> cross_validation_of(const SweepSpec& spec, const Point& point) {
    const Result<Json> job = trial_spec(spec, point, 0);
    if (!job) return job;
    Json request{{"project", spec.project}, {"job", *job}};
    if (spec.cross_validation->split) request["split"] = encode(*spec.cross_validation->split);
    request["outputs"] = {{"oof_predictions", false}};
    if (!spec.cross_validation->split_id.empty())
        request["split_id"] = spec.cross_validation->split_id;
    return request;
}

SweepFolds decode_folds(const store::JsonText& folds) {
    const Json stored = store::stored_json(folds);
    SweepFolds decoded;
    if (!stored.is_object()) return decoded;
    decoded.dataset_id = stored.at("dataset_id").get<std::string>();
    for (const Json& one : stored.at("sizes"))
        decoded.sizes.push_back({.train = one.at("train").get<std::int64_t>(),
                                 .val = one.at("val").get<std::int64_t>()});
    return decoded;
}

store::JsonText encode_folds(const SweepFolds& folds) {
    Json sizes = Json::array();
    for (const search::FoldSize& one : folds.sizes)
        sizes.push_back({{"train", one.train}, {"val", one.val}});
    return Json{{"dataset_id", folds.dataset_id}, {"sizes", std::move(sizes)}}.dump();
}

}    // namespace slipway::sweeps
