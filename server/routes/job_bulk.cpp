// One action on many jobs. The jobs are found first, then each gets the action by itself, in a
// transaction of its own, as if it had been asked for alone: a job that cannot take it is reported
// and keeps no other one from it. So the request may be sent again at any time; what was done is
// then `unchanged`. A client that closes its connection ends it before the next job. A dry run asks
// the same questions of the states that it has read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "api/spec/documents.h"
#include "server/routes/bodies.h"
#include "server/routes/guard.h"
#include "server/routes/handlers.h"
#include "server/routes/heavy_requests.h"
#include "server/routes/job_action.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/state_sentence.h"

namespace slipway::routes {
namespace {

constexpr std::size_t jobs_max = 1000;
constexpr int page_size = 200;

enum class Outcome { changed, unchanged, refused };
constexpr std::array<const char*, 3> outcome_words{"changed", "unchanged", "refused"};

struct Chosen {
    std::vector<store::Job> jobs;
    std::vector<std::string> missing = {};    // ids of which there is no job
    bool more = false;
};

store::JobFilter filter_of(const Context& context, const BulkFilter& asked) {
    if (!asked.project.empty() && !reaches(context, asked.project))
        throw_not_found("project", asked.project);
    store::JobFilter filter;
    filter.states = asked.states;
    filter.projects = asked.project.empty() ? context.who.projects(context.endpoint.access)
                                            : std::vector<std::string>{asked.project};
    filter.name_contains = asked.name;
    filter.labels = asked.labels;
    filter.dataset_id = asked.dataset;
    filter.kind = asked.kind;
    filter.parent_id = asked.parent;
    return filter;
}

Chosen find_jobs(const Context& context, const store::JobFilter& filter) {
    Chosen chosen;
    store::PageRequest request{.limit = page_size};
    do {
        require_client(context.request);
        auto page = store::list_jobs(context.services.store, filter, request);
        std::ranges::move(page.items, std::back_inserter(chosen.jobs));
        request.cursor = page.next_cursor;
    } while (!request.cursor.empty() && chosen.jobs.size() < jobs_max);
    chosen.more = !request.cursor.empty() || chosen.jobs.size() > jobs_max;
    if (chosen.jobs.size() > jobs_max) chosen.jobs.resize(jobs_max);
    return chosen;
}

bool has_all(const store::Job& job, const std::map<std::string, std::string>& labels) {
    return std::ranges::all_of(labels, [&](const auto& label) {
        const auto found = job.labels.find(label.first);
        return found != job.labels.end() && found->second == label.second;
    });
}

// As the statements of a list decide, but for a name: what is named by its id is not looked for.
bool matches(const store::Job& job, const BulkFilter& asked) {
    const auto allows = [](const auto& wanted, const auto& value) {
        return wanted.empty() || wanted == value;
    };
    return (asked.states.empty() || std::ranges::count(asked.states, job.state) > 0) &&
           allows(asked.project, job.project) && allows(asked.dataset, job.dataset_id) &&
           (!asked.kind || *asked.kind == job.kind) &&
           allows(asked.parent, job.parent ? job.parent->id : std::string()) &&
           has_all(job, asked.labels);
}

Chosen find_named(const Context& context, const BulkFilter& asked) {
    Chosen chosen;
    for (const std::string& id : asked.ids) {
        require_client(context.request);
        auto job = store::find_job(context.services.store, id);
        if (!job || !reaches(context, job->project)) {
            chosen.missing.push_back(id);
        } else if (matches(*job, asked)) {
            chosen.jobs.push_back(*std::move(job));
        }
    }
    return chosen;
}

Json item(const store::Job& job, Outcome outcome, std::optional<JobState> state,
          const std::string& message = {}) {
    return {{"job_id", job.id},
            {"name", job.name},
            {"state", state ? Json(to_string(*state)) : Json()},
            {"outcome", outcome_words[std::size_t(outcome)]},
            {"message", message.empty() ? Json() : Json(message)}};
}

// To be deleted and to be gone is the same, so that a deletion may be sent again.
Json missing_item(const std::string& id, JobAction action) {
    const Outcome outcome = action == JobAction::remove ? Outcome::unchanged : Outcome::refused;
    return {{"job_id", id},
            {"name", nullptr},
            {"state", nullptr},
            {"outcome", outcome_words[std::size_t(outcome)]},
            {"message", fmt::format("there is no job {}", id)}};
}

void note(const Context& context, const store::Job& job, JobAction action) {
    store::AuditEntry entry = audit_entry(context);
    entry.object = job.id;
    entry.detail = Json{{"action", to_string(action)}}.dump();
    store::append_audit(context.services.store, entry);
}

// The job's line of the answer. What refuses one job is its line; that the service cannot go on is
// the end of all.
Json act(const Context& context, const store::Job& job, JobAction action, bool dry_run) {
    try {
        std::optional<JobState> after;
        if (dry_run) {
            after = preview_action(job, action);
        } else if (const auto done = act_on(context, job, action)) {
            after = done->state;
        }
        const bool changed = after != job.state;
        if (changed && !dry_run) note(context, job, action);
        return item(job, changed ? Outcome::changed : Outcome::unchanged, after);
    } catch (const store::IllegalTransition& refusal) {
        return item(job, Outcome::refused, job.state,
                    illegal_transition_sentence("the job", refusal.from(), refusal.to()));
    } catch (const Error& refusal) {
        if (refusal.code() != ErrorCode::conflict && refusal.code() != ErrorCode::exhausted) throw;
        return item(job, Outcome::refused, job.state, refusal.what());
    }
}

std::int64_t count(const Json& items, Outcome outcome) {
    const Json word = outcome_words[std::size_t(outcome)];
    return std::ranges::count_if(items, [&](const Json& one) { return one["outcome"] == word; });
}

}    // namespace

Response bulk_jobs(const Context& context) {
    const JobBulkBody body = read_body(context.request, decode_job_bulk, "the bulk action");
    const bool dry_run = query_flag(context.request, "dry_run");
    const store::JobFilter filter = filter_of(context, body.filter);
    const Chosen chosen =
        body.filter.ids.empty() ? find_jobs(context, filter) : find_named(context, body.filter);
    Json items = Json::array();
    for (const store::Job& job : chosen.jobs) {
        require_client(context.request);
        items.push_back(act(context, job, body.action, dry_run));
    }
    for (const std::string& id : chosen.missing)
        items.push_back(missing_item(id, body.action));
    Json answer{{"action", to_string(body.action)},
                {"dry_run", dry_run},
                {"changed", count(items, Outcome::changed)},
                {"unchanged", count(items, Outcome::unchanged)},
                {"refused", count(items, Outcome::refused)},
                {"more", chosen.more}};
    answer["items"] = std::move(items);
    Response response = json_response(answer);
    response.audited = true;    // each job by itself
    return response;
}

}    // namespace slipway::routes
