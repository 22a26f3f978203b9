#include "scheduler/store/attempts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "api/spec/spelling.h"
#include "scheduler/store/job_rows.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

Json encode_outcome(const AttemptEnd& end) {
    Json json{{"exit_kind", end.exit_kind},
              {"message", end.message},
              {"job_state", to_string(end.job_state)},
              {"counts_as_restart", end.counts_as_restart},
              {"retry_after_ms", end.retry_after.count()},
              {"retry_after_max_ms", end.retry_after_max.count()},
              {"result", end.result},
              {"crash_key", end.crash_key},
              {"repeats_max", end.repeats_max},
              {"fault_host", end.fault_host},
              {"fails_everywhere", end.fails_everywhere}};
    if (end.exit_status) json["exit_status"] = *end.exit_status;
    if (end.reason) json["reason"] = {{"code", end.reason->code}, {"message", end.reason->message}};
    return json;
}

std::optional<AttemptEnd> read_outcome(const Row& row) {
    if (row.is_null("outcome")) return std::nullopt;
    const Json json = Json::parse(row.text("outcome"));
    AttemptEnd end{.exit_kind = json.at("exit_kind"),
                   .message = json.at("message"),
                   .job_state = parse_word<JobState>(json.at("job_state").get<std::string>())
                                    .value_or(JobState::failed),
                   .counts_as_restart = json.at("counts_as_restart"),
                   .retry_after = std::chrono::milliseconds(json.at("retry_after_ms")),
                   .result = json.at("result"),
                   .crash_key = json.at("crash_key")};
    // Another host's agent may be older.
    end.retry_after_max = std::chrono::milliseconds(json.value("retry_after_max_ms", 0));
    end.repeats_max = json.value("repeats_max", end.repeats_max);
    end.fault_host = json.value("fault_host", "");
    end.fails_everywhere = json.value("fails_everywhere", false);
    if (json.contains("exit_status")) end.exit_status = json["exit_status"].get<int>();
    if (json.contains("reason"))
        end.reason = Reason{json["reason"].at("code"), json["reason"].at("message")};
    return end;
}

/// As PostgreSQL reads bytea.
std::string hex_bytes(std::string_view bytes) {
    std::string text = "\\x";
    for (const char byte : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

AttemptMember read_member(const Row& row) {
    return {.rank = row.small("rank"),
            .host = row.text("host"),
            .cores = row.smalls("cores"),
            .pid = row.maybe_integer("pid"),
            .start_ticks = row.maybe_integer("start_ticks"),
            .frames_relayed = row.integer("frames_relayed"),
            .rendezvous = row.is_null("rendezvous") ? "" : row.bytes("rendezvous"),
            .ended_at = row.maybe_time("exited_at"),
            .end = read_outcome(row)};
}

/// Without its members: each has a row.
Attempt read_attempt(const Row& row) {
    return {.job_id = row.text("job_id"),
            .attempt = row.small("attempt"),
            .fence = row.text("fence"),
            .members = {},
            .resumed_from = row.text("resumed_from"),
            .exit_kind = row.text("exit_kind"),
            .exit_status = row.maybe_small("exit_status"),
            .message = row.text("message"),
            .created_at = row.time("created_at"),
            .started_at = row.maybe_time("started_at"),
            .ended_at = row.maybe_time("ended_at")};
}

bool is_of(const Row& row, const Attempt& attempt) {
    return row.text("job_id") == attempt.job_id && row.small("attempt") == attempt.attempt;
}

HostAttempt read_host_attempt(const Row& row) {
    return {.attempt = read_attempt(row),
            .rank = 0,
            .project = row.text("project"),
            .job_state = read_state(row),
            .intent = intent_of(row),
            .spec = row.text("spec"),
            .kind = read_kind(row),
            .payload = row.text("payload"),
            .restarts = row.small("restarts"),
            .restarts_max = row.small("restarts_max"),
            .crash_key = row.text("crash_key"),
            .dataset_id = row.text("dataset_id"),
            .dataset_name = row.text("dataset_name"),
            .dataset_format = row.text("dataset_format"),
            .dataset_source = row.text("dataset_source"),
            .dataset_options = row.text("dataset_options"),
            .dataset_content_hash = row.text("dataset_content_hash"),
            .resume_checkpoint = row.text("checkpoint_name"),
            .resume_checkpoint_id = row.text("checkpoint_id"),
            .resume_job_id = row.text("checkpoint_job_id"),
            .saves_requested = row.small("saves_requested"),
            .traceparent = row.text("traceparent"),
            .lease_expired = row.flag("lease_expired"),
            .is_watched = row.flag("is_watched")};
}

}    // namespace

std::vector<HostAttempt> list_live_attempts(Store& store, std::string_view host) {
    std::vector<HostAttempt> attempts;
    for (const Row row :
         read_with_kept_plan(store.pool(), {&queries::list_live_attempts, {host}})) {
        if (attempts.empty() || !is_of(row, attempts.back().attempt))
            attempts.push_back(read_host_attempt(row));
        HostAttempt& found = attempts.back();
        found.attempt.members.push_back(read_member(row));
        if (found.attempt.members.back().host == host)
            found.rank = found.attempt.members.back().rank;
    }
    return attempts;
}

Page<Attempt> list_attempts(Store& store, std::string_view job_id, const PageRequest& page) {
    const std::string scope = fmt::format("attempts {}", job_id);
    const Param before = place_of(scope, page);
    Page<Attempt> attempts;
    std::vector<Attempt>& found = attempts.items;
    for (const Row row :
         read(store.pool(), queries::list_attempts, {job_id, before, rows_to_ask(page)})) {
        if (found.empty() || !is_of(row, found.back())) found.push_back(read_attempt(row));
        found.back().members.push_back(read_member(row));
    }
    if (std::ssize(found) > page.limit) {    // the first is only there to tell that more are
        found.erase(found.begin());
        attempts.next_cursor = write_cursor(scope, {std::to_string(found.front().attempt), {}});
    }
    return attempts;
}

std::chrono::duration<double> find_run_time(Store& store, std::string_view job_id) {
    const Rows rows = read(store.pool(), queries::find_run_time, {job_id});
    return std::chrono::duration<double>(rows[0].number("seconds"));
}

void record_process(Store& store, const AttemptKey& key, int rank, std::int64_t pid,
                    std::int64_t start_ticks, std::string_view resumed_from_id) {
    const Rows rows =
        write(store.pool(), queries::record_process,
              {key.job_id, key.attempt, key.fence, rank, pid, start_ticks, resumed_from_id});
    if (rows.affected() == 0) throw Fenced(key);
}

void offer_rendezvous(Store& store, const AttemptKey& key, int rank, std::string_view bytes) {
    const Rows rows = write(store.pool(), queries::offer_rendezvous,
                            {key.job_id, key.attempt, key.fence, rank, hex_bytes(bytes)});
    if (rows.affected() == 0) throw Fenced(key);
}

void end_member(Store& store, const AttemptKey& key, int rank, const AttemptEnd& end) {
    const Rows rows = write(
        store.pool(), queries::end_member,
        {key.job_id, key.attempt, key.fence, rank, repaired_json(encode_outcome(end).dump())});
    if (rows.affected() == 0) throw Fenced(key);
}

std::vector<Slice> list_slices(Store& store, const std::vector<std::string>& projects) {
    std::vector<Slice> slices;
    for (const Row row : read(store.pool(), queries::list_slices, {Param::or_null(projects)})) {
        if (slices.empty() || !is_of(row, slices.back().attempt))
            slices.push_back({.attempt = read_attempt(row),
                              .project = row.text("project"),
                              .job_name = row.text("job_name"),
                              .job_state = read_state(row)});
        slices.back().attempt.members.push_back(read_member(row));
    }
    return slices;
}

std::vector<AttemptKey> renew_leases(Store& store, std::string_view host,
                                     const std::vector<AttemptKey>& held,
                                     std::chrono::milliseconds lease) {
    std::vector<std::string> job_ids;
    std::vector<int> attempts;
    std::vector<std::string> fences;
    for (const AttemptKey& key : held) {
        job_ids.push_back(key.job_id);
        attempts.push_back(key.attempt);
        fences.push_back(key.fence);
    }
    std::vector<AttemptKey> lost;
    for (const Row row :
         write(store.pool(), queries::renew_leases, {host, job_ids, attempts, fences, lease})) {
        lost.push_back({row.text("job_id"), row.small("attempt"), row.text("fence")});
    }
    return lost;
}

}    // namespace slipway::store
