#include "scheduler/store/decisions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scheduler/store/decision_steps.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/prune.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

/// Decisions as columns.
struct DecisionColumns {
    std::vector<std::string> jobs, kinds, codes, messages, related, hosts, cores, fences;

    void add(const std::string& job_id, std::string_view kind, const DecisionReason& reason) {
        jobs.push_back(job_id);
        kinds.emplace_back(kind);
        codes.push_back(reason.code);
        messages.push_back(reason.message);
        related.push_back(reason.related_job);
        hosts.emplace_back();
        cores.emplace_back();
        fences.emplace_back();
    }

    Statement statement() const {
        return {&queries::add_decisions,
                {jobs, kinds, codes, messages, related, hosts, cores, fences}};
    }
};

Decision read_decision(const Row& row) {
    return {.id = row.integer("id"),
            .at = row.time("at"),
            .job_id = row.text("job_id"),
            .project = row.text("project"),
            .kind = row.text("kind"),
            .reason = {.code = row.text("code"),
                       .message = row.text("message"),
                       .related_job = row.text("related_job")},
            .host = row.text("host"),
            .cores = row.is_null("cores") ? std::vector<int>{} : row.smalls("cores")};
}

}    // namespace

std::optional<Statement> starts_statement(std::span<const Placement> placements) {
    DecisionColumns columns;
    for (const Placement& placement : placements) {
        if (!placement.why || placement.members.empty()) continue;
        columns.add(placement.job_id, "start", *placement.why);
        const PlacedMember& first = placement.members.front();
        columns.hosts.back() = first.host;
        columns.cores.back() = fmt::format("{{{}}}", fmt::join(first.cores, ","));
        columns.fences.back() = placement.fence;
    }
    if (columns.jobs.empty()) return std::nullopt;
    return columns.statement();
}

void record_decisions(Store& store, const std::vector<NewDecision>& decisions,
                      const LeaderTerm& term) {
    if (decisions.empty()) return;
    DecisionColumns columns;
    for (const NewDecision& one : decisions)
        columns.add(one.job_id, one.kind, one.reason);
    write_as_leader(store.pool(), term, {columns.statement()});
}

Page<Decision> list_decisions(Store& store, const DecisionFilter& filter, const PageRequest& page) {
    std::string scope = "decisions\n" + filter.job_id;
    for (const std::string& project : filter.projects)
        scope += "\n" + project;
    Statement list{&queries::list_decisions, {place_of(scope, page), rows_to_ask(page)}};
    if (!filter.job_id.empty()) {
        list.query = &queries::list_decisions_of_job;
        list.params.emplace_back(filter.job_id);
        list.params.push_back(Param::or_null(filter.projects));
    } else if (!filter.projects.empty()) {
        list.query = &queries::list_decisions_of_projects;
        list.params.emplace_back(filter.projects);
    }
    return make_page<Decision>(read(store.pool(), list), page, scope, read_decision,
                               [](const Row& row) {
                                   return CursorPlace{row.text("id"), ""};
                               });
}

std::int64_t prune_decisions(Store& store, std::chrono::milliseconds keep, std::int64_t rows_max,
                             const LeaderTerm& term) {
    return write_as_leader(store.pool(), term,
                           {{&queries::prune_decisions, {keep, rows_max, pruned_at_once}}})
        .at(0)
        .affected();
}

}    // namespace slipway::store
