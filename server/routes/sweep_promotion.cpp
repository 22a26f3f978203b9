#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/base/plural.h"
#include "api/spec/job_actions.h"
#include "api/spec/sweep_spec.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/submission/forked_job.h"
#include "scheduler/submission/measured_check.h"
#include "scheduler/submission/training_job.h"
#include "scheduler/sweeps/plan.h"
#include "scheduler/sweeps/value_checkpoint.h"
#include "server/routes/bodies.h"
#include "server/routes/guard.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/submissions.h"
#include "server/routes/sweep_answer.h"

namespace slipway::routes {
namespace {

store::SweepTrial promoted_trial(const Context& context, const store::Sweep& sweep,
                                 const SweepPromoteBody& body) {
    if (!body.trial && !sweep.best)
        throw Error{ErrorCode::conflict,
                    "no trial of the sweep has a finite value yet; name one in trial"};
    const auto number = body.trial.value_or(sweep.best ? sweep.best->trial : 0);
    auto trial = store::find_sweep_trial(context.services.store, sweep.id, int(number));
    if (trial) return *std::move(trial);
    throw_problems(
        {{"/trial", "not_found",
          fmt::format("trial must be 0 to {}: the sweep has {}; got {}", sweep.counts.trials - 1,
                      counted(sweep.counts.trials, "trial"), number)}},
        "invalid_body", "the promotion");
    return {};
}

// Folds have weights of their own: there is no checkpoint of the whole trial.
submission::CheckedJob job_of_folds(const Context& context, const SweepSpec& spec,
                                    const store::SweepTrial& trial, const SweepPromoteBody& body) {
    if (body.start && *body.start != ForkStart::scratch)
        throw_problems({{"/start",
                         "inconsistent",
                         fmt::format("start must be scratch, got {}: the trial is a "
                                     "cross-validation, each fold has weights of its own",
                                     to_string(*body.start)),
                         {"scratch"}}},
                       "invalid_body", "the promotion");
    const Result<Json> made = sweeps::trial_spec(spec, point_of(trial), 0);
    if (!made) throw made.error();
    Json job = *made;
    job.merge_patch(body.changes);
    Decoded<JobSpec> decoded = submission::decode_changed(job, body.changes);
    const Json::json_pointer best("/checkpoint/best/metric");
    if (!body.changes.contains(best)) submission::forget_unmeasured(decoded.value);
    if (decoded.ok()) require_project(context.who, context.endpoint.access, decoded.value.project);
    auto checked = submission::check_training(std::move(decoded), submitter_of(context.who),
                                              context.services.store);
    for (Problem& one : checked.problems)
        one.pointer.insert(0, "/changes");
    return require_job(std::move(checked), "the promotion");
}

// What the job begins with, and which job has it: the weights with the value of the trial.
JobForkBody fork_of_value(const Context& context, const store::Sweep& sweep, const SweepSpec& spec,
                          const SweepPromoteBody& body, store::SweepTrial& trial) {
    JobForkBody fork{.changes = body.changes,
                     .start = body.start.value_or(ForkStart::keep_training)};
    if (fork.start == ForkStart::scratch) return fork;
    const auto found = sweeps::find_value_checkpoint(context.services.store, sweep.id, spec, trial);
    if (!found.checkpoint)
        throw_problems({{"/start",
                         "no_checkpoint",
                         fmt::format("trial {} has no weights to start from: {}; set start to "
                                     "scratch",
                                     trial.number, found.missing),
                         {"scratch"}}},
                       "invalid_body", "the promotion");
    fork.checkpoint = found.checkpoint->id;
    trial.job_id = found.checkpoint->job_id;
    return fork;
}

submission::CheckedJob fork_of_trial(const Context& context, const store::Sweep& sweep,
                                     const SweepSpec& spec, store::SweepTrial trial,
                                     const SweepPromoteBody& body) {
    const JobForkBody fork = fork_of_value(context, sweep, spec, body, trial);
    const auto origin =
        trial.job_id.empty() ? std::nullopt : store::find_job(context.services.store, trial.job_id);
    if (!origin)
        throw Error{ErrorCode::conflict,
                    fmt::format("trial {} has no job that could be promoted", trial.number)};
    const auto project = body.changes.find("project");
    if (project != body.changes.end() && project->is_string())
        require_project(context.who, context.endpoint.access, project->get<std::string>());
    return require_job(
        submission::check_fork(*origin, fork, submitter_of(context.who), context.services.store),
        "the promotion");
}

}    // namespace

Response promote_sweep(const Context& context) {
    const SweepPromoteBody body = read_body(context.request, decode_sweep_promote, "the promotion");
    const store::Sweep sweep = the_sweep(context);
    const auto spec = decode_sweep(stored_json(sweep.spec));
    if (sweep.external || !spec.ok())
        throw Error{ErrorCode::conflict,
                    "the trials of this sweep run elsewhere; there is no job to promote"};
    const store::SweepTrial trial = promoted_trial(context, sweep, body);
    submission::CheckedJob job = spec.value.cross_validation
                                     ? job_of_folds(context, spec.value, trial, body)
                                     : fork_of_trial(context, sweep, spec.value, trial, body);
    if (!body.changes.contains("name"))
        job.spec.name = fmt::format("{}-{}-promoted", sweep.name, trial.number);
    if (query_flag(context.request, "dry_run")) return json_response(preview(context, job));
    std::function<void(store::Transaction&)> also;
    if (body.pin && !job.checkpoint_ids.empty())
        also = [id = job.checkpoint_ids.front()](store::Transaction& transaction) {
            store::pin_checkpoint_in(transaction, id);
        };
    return submit(context, std::move(job), std::move(also));
}

}    // namespace slipway::routes
