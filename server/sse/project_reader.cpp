// Events have no number across jobs: an insert into one sequence for all would make all jobs wait
// for each other. So the reader keeps a cursor for each job, and learns from notifications which
// jobs to read. A job that it has no cursor of has its events since a time read; that time is
// when the reader began, or a time before which everything was read when it last forgot quiet jobs.
// A notification may be lost: jobs with recent events are looked up at intervals, by time, and the
// cursors tell what was read already. What can no longer be read in order breaks the ring off:
// readers then get a gap, not a hole that nobody sees.

#include "server/sse/project_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/json.h"

namespace slipway {
namespace {

constexpr std::size_t jobs_per_read = 100;
constexpr int changed_jobs_max = 2000;
// Commits may be later than the time of their events.
constexpr std::chrono::milliseconds commit_delay_max{5000};
constexpr std::chrono::milliseconds behind_max{60000};
constexpr std::string_view deleted_state = "deleted";

std::vector<std::string> words_of(ProjectEventTypes types) {
    std::vector<std::string> words;
    for (std::size_t type = 0; type < Spelling<ProjectEventType>::words.size(); ++type)
        if ((types >> type & 1U) != 0) words.emplace_back(Spelling<ProjectEventType>::words[type]);
    return words;
}

std::string json_quoted(std::string_view text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string data_of(const store::EventHead& head, const store::Event& event) {
    return fmt::format(R"({{"project":{},"job_id":"{}","seq":{},"time":"{}","body":{}}})",
                       json_quoted(head.project), head.job_id, event.seq,
                       to_rfc3339(event.created_at), event.body);
}

struct ObjectKind {
    std::string_view prefix;
    std::string_view member;
    ProjectEventType type;
};

constexpr auto object_kinds = std::to_array<ObjectKind>({
    {"ds_", "dataset_id", ProjectEventType::dataset},
    {"spl_", "split_id", ProjectEventType::split},
    {"job_", "job_id", ProjectEventType::state},
});

void append_object(const store::ObjectChange& change, ProjectEvents& found) {
    const auto* const kind = std::ranges::find_if(
        object_kinds, [&](const ObjectKind& one) { return change.id.starts_with(one.prefix); });
    if (kind == object_kinds.end() || change.project.empty()) return;
    const bool deleted = change.state == deleted_state;
    const std::string body =
        deleted ? "{}" : fmt::format(R"({{"state":{}}})", json_quoted(change.state));
    found.events.push_back(
        {.project = change.project,
         .type = deleted ? ProjectEventType::deleted : kind->type,
         .data = fmt::format(R"({{"project":{},"{}":{},"body":{}}})", json_quoted(change.project),
                             kind->member, json_quoted(change.id), body)});
}

void append_events(const store::JobChanges& job, ProjectEvents& found) {
    for (const store::Event& event : job.events)
        if (const auto type = parse_word<ProjectEventType>(event.type))
            found.events.push_back(
                {.project = job.head.project, .type = *type, .data = data_of(job.head, event)});
}

}    // namespace

void ProjectReader::find_changed(ChangedTopics& topics, std::chrono::milliseconds behind,
                                 ProjectEvents& found) {
    const auto heads = behind < behind_max
                           ? feed_.changed(behind + commit_delay_max, changed_jobs_max)
                           : std::vector<store::EventHead>{};
    if (behind >= behind_max || heads.size() >= std::size_t(changed_jobs_max)) {
        since_ = next_since_ = feed_.now();
        seen_.clear();
        topics = {};
        found = {.events = {}, .broken_off = true};
        return;
    }
    for (const store::EventHead& head : heads) {
        const auto seen = seen_.find(head.job_id);
        if (seen == seen_.end() || seen->second.read_to < head.event_seq)
            topics.job_ids.insert(head.job_id);
    }
    topics.look_at_all = false;
}

void ProjectReader::read(ChangedTopics& topics, ProjectEventTypes types,
                         std::chrono::milliseconds behind, ProjectEvents& found) {
    if (topics.look_at_all) find_changed(topics, behind, found);
    const std::vector<std::string> words = words_of(types);
    std::set<std::string> rest;
    while (!topics.job_ids.empty()) {
        std::vector<store::EventCursor> cursors;
        for (const std::string& id : topics.job_ids) {
            const auto seen = seen_.find(id);
            cursors.push_back(
                {id, seen == seen_.end() ? store::unknown_cursor : seen->second.read_to});
            if (cursors.size() == jobs_per_read) break;
        }
        for (const store::JobChanges& job : feed_.read(cursors, since_, words)) {
            append_events(job, found);
            seen_[job.head.job_id] = {.read_to = job.read_to, .of_late = true};
            if (job.read_to < job.head.event_seq) rest.insert(job.head.job_id);
        }
        for (const store::EventCursor& cursor : cursors)
            topics.job_ids.erase(cursor.job_id);
    }
    topics.job_ids = std::move(rest);
    for (const store::ObjectChange& change : std::exchange(topics.objects, {}))
        append_object(change, found);
}

void ProjectReader::forget_quiet() {
    const Instant now = feed_.now();
    if (next_since_ != Instant{}) since_ = std::max(since_, next_since_);
    next_since_ = now;
    for (auto job = seen_.begin(); job != seen_.end();)
        job = std::exchange(job->second.of_late, false) ? std::next(job) : seen_.erase(job);
}

}    // namespace slipway
