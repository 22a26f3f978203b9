#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "api/spec/sweep_spec.h"
#include "scheduler/cross_validation/checked_request.h"
#include "scheduler/search/grid.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/projects.h"
#include "scheduler/submission/named_dataset.h"
#include "scheduler/submission/training_job.h"
#include "scheduler/sweeps/plan.h"
#include "scheduler/sweeps/value_checkpoint.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/guard.h"
#include "server/routes/handlers.h"
#include "server/routes/heavy_requests.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/sweep_answer.h"

namespace slipway::routes {
namespace {

constexpr int previewed_trials = 8;
// Of choosing their points (search::Search::effort): about 50 ms.
constexpr std::int64_t preview_effort_max = 20'000'000;
// A larger spec may have thousands of values, each of which is tried in the job.
constexpr std::size_t light_spec_bytes_max = std::size_t{16} << 10;

/// A sweep that can be stored, and what it probably does not mean.
struct CheckedSweep {
    SweepSpec spec;
    std::vector<Problem> warnings = {};
};

void put_below(std::vector<Problem>& problems, std::string_view prefix) {
    for (Problem& one : problems)
        one.pointer.insert(0, prefix);
}

search::Search new_search(const SweepSpec& spec) {
    return sweeps::make_search(spec, spec.limits.max_trials.value_or(1));
}

// Else each trial would be refused, when it is submitted.
void check_class(const Context& context, const SweepSpec& spec, QueueClass job_class,
                 std::string_view pointer, std::vector<Problem>& problems) {
    const auto refusal =
        store::find_class_refusal(context.services.store, spec.project, to_string(job_class));
    if (!refusal) return;
    ProblemItem item = class_problem(*refusal, pointer);
    problems.push_back({std::move(item.pointer), std::move(item.code), std::move(item.message),
                        std::move(item.allowed)});
}

void check_first_folds(const Context& context, CheckedSweep& sweep, const search::Point& point,
                       std::vector<Problem>& problems) {
    const SweepSpec& spec = sweep.spec;
    const Result<Json> request = sweeps::cross_validation_of(spec, point);
    if (!request) return;
    const ParsedJson body{.value = *request, .duplicates = {}};
    auto checked = check_cross_validation(decode_cross_validation(body), submitter_of(context.who),
                                          context.services.store);
    put_below(checked.problems, "/cross_validation");
    put_below(checked.value.warnings, "/cross_validation");
    sweep.warnings = std::move(checked.value.warnings);
    if (checked.ok())
        check_class(context, spec, checked.value.spec.job.queue.job_class,
                    "/cross_validation/job/queue/class", problems);
    std::ranges::move(checked.problems, std::back_inserter(problems));
}

// Whether its artifacts exist is asked of the first trial's job.
void check_first_job(const Context& context, CheckedSweep& sweep, std::vector<Problem>& problems) {
    const SweepSpec& spec = sweep.spec;
    search::Search search = new_search(spec);
    const search::Decision first = search.on(search::AskEvent{}).back();
    if (first.action != search::Action::start) {
        problems.push_back({"/constraints", "inconsistent",
                            "no point satisfies the constraints: " + first.reason});
        return;
    }
    if (spec.is_external()) return;
    if (spec.cross_validation) return check_first_folds(context, sweep, first.point, problems);
    const Result<Json> job = sweeps::trial_spec(spec, first.point, first.until);
    if (!job) return;
    Decoded<JobSpec> decoded = decode_job_spec(ParsedJson{.value = *job, .duplicates = {}});
    auto checked = submission::check_training(std::move(decoded), submitter_of(context.who),
                                              context.services.store);
    // A combination of values that is no job is for constraints to exclude; it is told here.
    put_below(checked.problems, "/job");
    if (checked.ok()) {
        check_class(context, spec, checked.value.spec.queue.job_class, "/job/queue/class",
                    problems);
        if (auto warning = sweeps::missing_value_warning(spec, checked.value.spec))
            sweep.warnings.push_back(*std::move(warning));
    }
    std::ranges::move(checked.problems, std::back_inserter(problems));
}

// Why the results of an earlier sweep say nothing about this one; empty: they do.
std::string why_unrelated(const SweepSpec& spec, const SweepSpec& earlier) {
    const auto words = [](const ObjectiveSpec& objective) {
        return fmt::format("{} ({})", objective.metric, to_string(objective.mode));
    };
    if (words(spec.objective) != words(earlier.objective))
        return fmt::format("optimises {}, and this sweep {}", words(earlier.objective),
                           words(spec.objective));
    const bool shares = std::ranges::any_of(
        spec.space, [&](const auto& parameter) { return earlier.space.contains(parameter.first); });
    return shares ? std::string() : "has no parameter of this sweep";
}

// As tpe takes its own trials: those that were cut short come after whole ones.
void add_results(const Context& context, const std::string& id, bool same_time, Json& known) {
    for (const store::SweepTrial& trial : store::all_sweep_trials(context.services.store, id)) {
        const bool is_whole = trial.state == "completed";
        const bool is_cut = trial.state == "paused" || trial.state == "stopped";
        if (!trial.value || !(is_whole || (is_cut && same_time))) continue;
        Json one{{"point", stored_json(trial.point)}, {"value", *trial.value}};
        if (!is_whole) one["reached"] = trial.last_time.value_or(0);
        known.push_back(std::move(one));
    }
}

// Results of earlier sweeps that the caller sees, as they are now.
Json known_results(const Context& context, const SweepSpec& spec) {
    Json known = Json::array();
    if (!spec.warm_start) return known;
    std::vector<Problem> problems;
    for (std::size_t i = 0; i < spec.warm_start->sweeps.size(); ++i) {
        const std::string& id = spec.warm_start->sweeps[i];
        const auto refuse = [&](std::string code, std::string message) {
            problems.push_back(
                {fmt::format("/warm_start/sweeps/{}", i), std::move(code), std::move(message)});
        };
        const auto sweep = store::find_sweep(context.services.store, id);
        if (!sweep || !context.who.sees(sweep->project)) {
            refuse("not_found", fmt::format("there is no sweep {}", id));
            continue;
        }
        const SweepSpec earlier = decode_sweep(stored_json(sweep->spec)).value;
        if (const std::string why = why_unrelated(spec, earlier); !why.empty()) {
            refuse("inconsistent", fmt::format("warm_start.sweeps[{}]: the sweep {} {}, so its "
                                               "results cannot be learned from; leave it out",
                                               i, id, why));
            continue;
        }
        add_results(context, id, earlier.algorithm.time_attr == spec.algorithm.time_attr, known);
    }
    throw_problems(problems, "invalid_spec", "the sweep");
    return known;
}

CheckedSweep read_sweep_spec(const Context& context) {
    Decoded<SweepSpec> decoded = decode_sweep(parse_body(context.request));
    throw_problems(decoded.problems, "invalid_spec", "the sweep");
    require_project(context.who, context.endpoint.access, decoded.value.project);
    std::vector<Problem> problems = sweeps::check_sweep(decoded.value);
    CheckedSweep sweep{.spec = std::move(decoded.value)};
    if (problems.empty()) check_first_job(context, sweep, problems);
    throw_problems(problems, "invalid_spec", "the sweep");
    return sweep;
}

// Of a sweep of cross-validations, the split that it has or makes.
std::optional<store::SplitUse> split_use(const Context& context, const SweepSpec& spec) {
    if (!spec.cross_validation) return std::nullopt;
    const SweepFoldsSpec& folds = *spec.cross_validation;
    const Json& data = folds.job.at("data");
    const std::string name = data.at("dataset").get<std::string>();
    const auto dataset =
        submission::find_named_dataset(context.services.store, spec.project, name).dataset;
    if (!dataset) throw_not_found("dataset", name);
    store::SplitUse use{.dataset_id = dataset->id, .split_id = folds.split_id};
    if (folds.split)
        use.make = store::StoredSplit{.id = new_id("spl"),
                                      .dataset_id = dataset->id,
                                      .request = encode(*folds.split).dump(),
                                      .created_by = context.who.token_id};
    return use;
}

Json combinations(const SweepSpec& spec, const search::Space& space) {
    if (sampler_of(spec.algorithm).name != SamplerName::grid) return nullptr;
    return search::grid_combinations(space);
}

Response preview_sweep(const CheckedSweep& sweep) {
    const SweepSpec& spec = sweep.spec;
    search::Search search = new_search(spec);
    Json trials = Json::array();
    for (int i = 0; i < previewed_trials && search.effort() < preview_effort_max; ++i) {
        const search::Decision decision = search.on(search::AskEvent{}).back();
        if (decision.action != search::Action::start) break;
        trials.push_back({{"number", decision.trial},
                          {"point", decision.point},
                          {"until", decision.until > 0 ? Json(decision.until) : Json(nullptr)},
                          {"reason", decision.reason}});
    }
    return json_response({{"spec", encode(spec)},
                          {"max_trials", spec.limits.max_trials.value_or(1)},
                          {"warnings", render_warnings(sweep.warnings)},
                          {"combinations", combinations(spec, search.space())},
                          {"trials", std::move(trials)}});
}

Response created_sweep(const Context& context) {
    CheckedSweep sweep = read_sweep_spec(context);
    SweepSpec& spec = sweep.spec;
    const Json known = known_results(context, spec);
    if (query_flag(context.request, "dry_run")) return preview_sweep(sweep);
    const std::string id = new_id("swp");
    if (spec.name.empty())
        spec.name = fmt::format("{}-{}", spec.objective.metric, id.substr(id.size() - 6));
    const auto split = split_use(context, spec);
    const store::Sweep made =
        store::create_sweep(context.services.store,
                            {.id = id,
                             .name = spec.name,
                             .project = spec.project,
                             .labels = spec.labels,
                             .spec = encode(spec).dump(),
                             .max_trials = int(spec.limits.max_trials.value_or(1)),
                             .max_concurrent = int(spec.limits.max_concurrent),
                             .external = spec.is_external(),
                             .created_by = context.who.token_id},
                            known.dump(),
                            {.active_max = context.services.limits.active_sweeps,
                             .making_splits_max = context.services.limits.making_splits},
                            split);
    if (split) context.services.on_changed();
    Json out = render_sweep(made);
    out["warnings"] = render_warnings(sweep.warnings);
    return json_response(out, 201)
        .with("ETag", version_etag(made.version))
        .with("Location", "/v1/sweeps/" + id);
}

}    // namespace

Response create_sweep(const Context& context) {
    if (context.request.body.size() <= light_spec_bytes_max) return created_sweep(context);
    return context.services.heavy_requests->run(context.request, context.who.token_id,
                                                [&] { return created_sweep(context); });
}

Response list_sweeps(const Context& context) {
    const store::SweepFilter filter{
        .projects = projects_asked(context),
        .states = query_enumerators<SweepState>(context.request, "state"),
        .name_contains = query_text(context.request, "name"),
        .labels = query_pairs(context.request, "label")};
    const auto page =
        store::list_sweeps(context.services.store, filter, query_page(context.request));
    Json items = Json::array();
    for (const store::Sweep& sweep : page.items)
        items.push_back(render_sweep(sweep));
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response get_sweep(const Context& context) {
    const store::Sweep sweep = the_sweep(context);
    if (auto later = context.services.long_polls.wait(
            context.request, std::to_string(sweep.version), is_final(sweep.state)))
        return *std::move(later);
    Json out = render_sweep(sweep);
    out["core_s"] = store::sweep_core_seconds(context.services.store, sweep.id);
    return json_response(out).with("ETag", version_etag(sweep.version));
}

Response patch_sweep(const Context& context) {
    const SweepPatchBody body = read_body(context.request, decode_sweep_patch, "the change");
    return sweep_response(change_sweep(context, [&](const store::Sweep&) {
        store::SweepStep step{.name = body.name, .labels = body.labels};
        if (body.max_concurrent) step.max_concurrent = int(*body.max_concurrent);
        return std::optional(std::move(step));
    }));
}

Response delete_sweep(const Context& context) {
    const store::Sweep sweep = the_sweep(context);
    if (!is_final(sweep.state))
        throw Error{ErrorCode::conflict,
                    fmt::format("a sweep that is {} cannot be deleted; stop it first",
                                to_string(sweep.state))};
    while (store::delete_jobs_of_parent(context.services.store, sweep.id) > 0) {
    }
    if (!store::delete_sweep(context.services.store, sweep.id)) throw_not_found("sweep", sweep.id);
    return no_content();
}

}    // namespace slipway::routes
