// A fork is a job of its own: it is checked as any other, with the changed spec of its origin as
// the request, and remembers where it came from. What it begins with is one of three: the whole
// state of a checkpoint (weights, optimizer, place in the data), only its weights, or nothing. With
// the whole state the changed spec must fit that state. A retry is the fork without changes that
// begins with the newest state there is. The origin stays as it is: a job has one end.
#include "scheduler/submission/forked_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/base/id.h"
#include "api/base/parsed_json.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/submission/continued_spec.h"
#include "scheduler/submission/job_kinds.h"
#include "scheduler/submission/measured_check.h"
#include "scheduler/submission/training_job.h"

namespace slipway::submission {

namespace {

JobSpec stored_spec(const store::Job& origin) {
    auto spec = decode_job_spec(store::stored_json(origin.spec));
    if (spec.ok()) return std::move(spec.value);
    throw OldJobSpec(fmt::format("the spec of job {} is of another version: {}", origin.id,
                                 joined_messages(spec.problems)));
}

/// Where the places of the spec are in the request.
void put_below(std::vector<Problem>& problems, std::string_view prefix) {
    for (Problem& one : problems)
        one.pointer.insert(0, prefix);
}

Problem problem_at(std::string pointer, std::string code, std::string message) {
    return {.pointer = std::move(pointer), .code = std::move(code), .message = std::move(message)};
}

struct ChosenCheckpoint {
    std::string id;    ///< empty: none, or a problem
    std::vector<Problem> problems = {};
    std::int64_t step = 0;
    std::int64_t epoch = 0;    ///< that it has completed
};

ChosenCheckpoint refuse(std::string pointer, std::string code, std::string message) {
    return {.id = {},
            .problems = {problem_at(std::move(pointer), std::move(code), std::move(message))}};
}

ChosenCheckpoint take(const store::Checkpoint& checkpoint) {
    if (std::string why = store::incompatibility(checkpoint); !why.empty())
        return refuse("/checkpoint", "incompatible", why + ", or set start to scratch");
    return {
        .id = checkpoint.id, .problems = {}, .step = checkpoint.step, .epoch = checkpoint.epoch};
}

ChosenCheckpoint choose_best(const store::Job& origin, store::Store& store) {
    const Json best = store::stored_json(origin.best);
    const std::string id = best.is_object() ? best.value("checkpoint", "") : std::string();
    const auto found = id.empty() ? std::nullopt : store::find_checkpoint(store, id);
    if (found && !found->deleted_at) return take(*found);
    return refuse("/checkpoint", "no_checkpoint",
                  fmt::format("job {} has no best checkpoint; leave checkpoint out for the newest "
                              "one",
                              origin.id));
}

/// The checkpoint that is asked for, of those of the origin that are kept.
ChosenCheckpoint choose(const store::Job& origin, const std::string& wanted, store::Store& store) {
    if (wanted == "best") return choose_best(origin, store);
    if (wanted == "last") {
        const auto newest = store::find_newest_checkpoint(store, origin.id);
        if (newest) return take(*newest);
        return refuse("/start", "no_checkpoint",
                      fmt::format("job {} has no checkpoint; set start to scratch", origin.id));
    }
    const auto found = is_id("ckp", wanted) ? store::find_checkpoint(store, wanted) : std::nullopt;
    if (found && found->job_id == origin.id && !found->deleted_at) return take(*found);
    return refuse("/checkpoint", "not_found",
                  fmt::format("job {} has no checkpoint \"{}\"; checkpoint must be last, best or "
                              "the id of one of its checkpoints (GET /v1/jobs/{}/checkpoints)",
                              origin.id, wanted, origin.id));
}

/// Fields that exclude each other: a change of one takes the place of the other.
struct Alternatives {
    const char* one;
    const char* other;
};
constexpr auto alternatives = std::to_array<Alternatives>({
    {"/train/epochs", "/train/steps"},
    {"/accelerator/cores", "/accelerator/core_ids"},
    {"/accelerator/cores", "/accelerator/slice"},
    {"/accelerator/core_ids", "/accelerator/slice"},
    {"/data/split/val_fraction", "/data/split/id"},
    {"/data/split/val_fraction", "/data/split/train"},
    {"/data/split/id", "/data/split/train"},
});

bool says(const Json& changes, const Json::json_pointer& place) {
    return changes.contains(place) && !changes.at(place).is_null();
}

void erase(Json& spec, const Json::json_pointer& place) {
    if (spec.contains(place)) spec.at(place.parent_pointer()).erase(place.back());
}

void drop_replaced(Json& spec, const Json& changes) {
    for (const Alternatives& row : alternatives) {
        const Json::json_pointer one(row.one);
        const Json::json_pointer other(row.other);
        if (says(changes, one) && !says(changes, other)) erase(spec, other);
        if (says(changes, other) && !says(changes, one)) erase(spec, one);
    }
}

/// The changed spec. What a change leaves without a meaning goes: the epochs when steps are asked
/// for, the betas of adam when the optimizer becomes sgd.
Decoded<JobSpec> changed_spec(const JobSpec& before, const Json& changes) {
    Json changed = encode(before);
    changed.merge_patch(changes);
    drop_replaced(changed, changes);
    Decoded<JobSpec> spec = decode_changed(changed, changes);
    bool dropped = false;
    for (const Problem& one : spec.problems) {
        const Json::json_pointer place(one.pointer);
        if (one.code != "not_in_this_variant" || changes.contains(place)) continue;
        erase(changed, place);
        dropped = true;
    }
    if (dropped) spec = decode_changed(changed, changes);
    if (!says(changes, Json::json_pointer("/checkpoint/best/metric")))
        forget_unmeasured(spec.value);
    return spec;
}

/// A run that continues has something left to do.
std::vector<Problem> check_rest(const TrainSpec& train, const ChosenCheckpoint& from) {
    const auto refuse_end = [&](const char* field, std::int64_t done) {
        return problem_at(
            fmt::format("/train/{}", field), "out_of_bounds",
            fmt::format("train.{} must be more than {}, which the checkpoint has completed; raise "
                        "it, or set start to weights or scratch",
                        field, done));
    };
    if (train.epochs && *train.epochs <= from.epoch) return {refuse_end("epochs", from.epoch)};
    if (train.steps && *train.steps <= from.step) return {refuse_end("steps", from.step)};
    return {};
}

/// Gives the request the weights of the checkpoint, or takes those away that the state replaces.
void set_start(JobSpec& spec, ForkStart start, const std::string& checkpoint_id) {
    if (start == ForkStart::keep_training) spec.model.init.reset();
    if (start != ForkStart::weights || checkpoint_id.empty()) return;
    if (!spec.model.init) spec.model.init.emplace();
    spec.model.init->from = checkpoint_id;
}

Decoded<CheckedJob> check_again(const store::Job& origin, const JobForkBody& request,
                                const Submitter& submitter, store::Store& store, bool is_retry) {
    const JobSpec before = stored_spec(origin);
    Decoded<JobSpec> spec = changed_spec(before, request.changes);
    std::vector<Problem> problems;
    ChosenCheckpoint chosen;
    if (request.start != ForkStart::scratch) {
        chosen = choose(origin, request.checkpoint, store);
        problems = std::move(chosen.problems);
    }
    const bool continues = request.start == ForkStart::keep_training;
    if (continues && spec.ok()) spec.problems = check_continued(before, spec.value);
    // A retry may have nothing left but its end.
    if (continues && spec.ok() && !is_retry) spec.problems = check_rest(spec.value.train, chosen);
    set_start(spec.value, request.start, chosen.id);
    Decoded<CheckedJob> checked =
        (continues ? check_resumed_training : check_training)(std::move(spec), submitter, store);
    if (continues && checked.ok() && checked.value.dataset_id() != origin.dataset_id)
        checked.problems.push_back(
            problem_at("/data/dataset", "inconsistent",
                       "data.dataset must stay the same to continue from a checkpoint; set start "
                       "to weights or scratch for another dataset"));
    put_below(checked.problems, "/changes");
    std::ranges::move(problems, std::back_inserter(checked.problems));
    sort_problems(checked.problems);
    checked.value.origin =
        store::JobOrigin{.action = is_retry ? "retry" : "fork",
                         .job_id = origin.id,
                         .continues_from = continues ? chosen.id : std::string()};
    if (continues) checked.value.checkpoint_ids = {chosen.id};
    return checked;
}

}    // namespace

Decoded<JobSpec> decode_changed(const Json& spec, const Json& changes) {
    const bool renames = changes.contains("name") || changes.contains("labels");
    return decode_job_spec(ParsedJson{.value = spec, .duplicates = {}, .is_stored = !renames});
}

Decoded<CheckedJob> check_retry(const store::Job& origin, const Submitter& submitter,
                                store::Store& store) {
    if (origin.kind == JobKind::train) {
        const auto newest = store::find_newest_checkpoint(store, origin.id);
        JobForkBody same;
        same.start = newest ? ForkStart::keep_training : ForkStart::scratch;
        // Or it would expire again at once.
        if (origin.state == JobState::expired)
            same.changes = {{"limits", {{"valid_until", nullptr}}}};
        return check_again(origin, same, submitter, store, true);
    }
    const JobKindRow& row = row_of(origin.kind);
    const ParsedJson request{
        .value = store::stored_json(origin.payload), .duplicates = {}, .is_stored = true};
    Decoded<CheckedJob> checked = row.check(row.decode(request), submitter, store);
    checked.value.origin = store::JobOrigin{.action = "retry", .job_id = origin.id};
    return checked;
}

Decoded<CheckedJob> check_fork(const store::Job& origin, const JobForkBody& request,
                               const Submitter& submitter, store::Store& store) {
    return check_again(origin, request, submitter, store, false);
}

}    // namespace slipway::submission
