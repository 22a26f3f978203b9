#include "server/routes/render.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "api/base/metric_value.h"

namespace slipway {
namespace {

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

// Adds a member to the text of an object that has others. What is stored is JSON that PostgreSQL
// has checked: it is sent as it is, for parsing and writing it again cost half of a list's time.
void add_stored(JsonText& object, std::string_view name, const JsonText& stored) {
    object.pop_back();
    object += fmt::format(",\"{}\":{}}}", name, stored.empty() ? "null" : stored);
}

template <class T>
Json value_or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

}    // namespace

Json render_time(const std::optional<Instant>& time) {
    return time ? Json(to_rfc3339(*time)) : Json(nullptr);
}

std::string version_etag(std::int64_t version) {
    return fmt::format("\"v{}\"", version);
}

JsonText render(const store::Job& job, std::optional<int> position, std::optional<double> eta_s) {
    Json out{{"id", job.id},
             {"name", job.name},
             {"project", job.project},
             {"labels", job.labels},
             {"state", to_string(job.state)},
             {"reason", nullptr},
             {"kind", to_string(job.kind)},
             {"dataset_id", text_or_null(job.dataset_id)},
             {"attempts", job.attempts},
             {"restarts", job.restarts},
             {"created_by", text_or_null(job.created_by)},
             {"created_at", to_rfc3339(job.created_at)},
             {"started_at", render_time(job.started_at)},
             {"finished_at", render_time(job.finished_at)}};
    out["origin"] = nullptr;
    if (job.origin)
        out["origin"] = {{"action", job.origin->action},
                         {"job_id", job.origin->job_id},
                         {"continues_from", text_or_null(job.origin->continues_from)}};
    out["parent"] = nullptr;
    if (job.parent) out["parent"] = {{"id", job.parent->id}, {"key", job.parent->key}};
    if (job.reason) out["reason"] = {{"code", job.reason->code}, {"message", job.reason->message}};
    out["traceparent"] = text_or_null(job.traceparent);
    if (job.order_value) out["order_value"] = *job.order_value;
    if (!job.pruned.empty()) out["pruned"] = job.pruned;
    if (position) out["queue"] = {{"position", *position}, {"eta_s", value_or_null(eta_s)}};
    JsonText text = to_text(out);
    add_stored(text, "spec", job.spec);
    add_stored(text, "effective", job.effective);
    add_stored(text, "progress", job.progress);
    add_stored(text, "best", job.best);
    add_stored(text, "result", job.result);
    for (const JobKind kind : all_job_kinds)
        if (has_payload(kind))
            add_stored(text, traits(kind).payload_member, kind == job.kind ? job.payload : "");
    return text;
}

Json render(const store::AttemptMember& member) {
    const auto of_end = [&](auto value) { return member.end ? value(*member.end) : Json(); };
    return {{"rank", member.rank},
            {"host", member.host},
            {"cores", member.cores},
            {"pid", value_or_null(member.pid)},
            {"exit_kind", of_end([](const auto& end) { return Json(end.exit_kind); })},
            {"exit_status", of_end([](const auto& end) { return value_or_null(end.exit_status); })},
            {"message", of_end([](const auto& end) { return text_or_null(end.message); })},
            {"ended_at", render_time(member.ended_at)}};
}

Json render(const store::Slice& slice) {
    Json members = Json::array();
    std::size_t cores = 0;
    for (const store::AttemptMember& member : slice.attempt.members) {
        members.push_back(render(member));
        cores += member.cores.size();
    }
    return {
        {"job_id", slice.attempt.job_id},   {"name", slice.job_name},
        {"project", slice.project},         {"state", to_string(slice.job_state)},
        {"attempt", slice.attempt.attempt}, {"cores", cores},
        {"members", std::move(members)},    {"created_at", to_rfc3339(slice.attempt.created_at)}};
}

Json render(const store::Attempt& attempt) {
    Json members = Json::array();
    for (const store::AttemptMember& member : attempt.members)
        members.push_back(render(member));
    const store::AttemptMember& first = attempt.members.front();
    return {{"attempt", attempt.attempt},
            {"host", first.host},
            {"cores", first.cores},
            {"pid", value_or_null(first.pid)},
            {"members", std::move(members)},
            {"resumed_from", text_or_null(attempt.resumed_from)},
            {"exit_kind", text_or_null(attempt.exit_kind)},
            {"exit_status", value_or_null(attempt.exit_status)},
            {"message", text_or_null(attempt.message)},
            {"created_at", to_rfc3339(attempt.created_at)},
            {"started_at", render_time(attempt.started_at)},
            {"ended_at", render_time(attempt.ended_at)}};
}

JsonText render(const store::Event& event) {
    JsonText text =
        to_text({{"seq", event.seq}, {"type", event.type}, {"time", to_rfc3339(event.created_at)}});
    add_stored(text, "body", event.body);
    return text;
}

JsonText render(const store::Checkpoint& checkpoint) {
    Json out{{"id", checkpoint.id},
             {"job_id", checkpoint.job_id},
             {"attempt", checkpoint.attempt},
             {"name", checkpoint.name},
             {"step", checkpoint.step},
             {"epoch", checkpoint.epoch},
             {"kinds", checkpoint.kinds},
             {"bytes", checkpoint.bytes},
             {"metric", nullptr},
             {"pinned", checkpoint.pinned},
             {"created_at", to_rfc3339(checkpoint.created_at)},
             {"deleted_at", render_time(checkpoint.deleted_at)}};
    if (!checkpoint.metric_name.empty()) {
        out["metric"] = {{"name", checkpoint.metric_name}};
        put_value(out["metric"], checkpoint.metric_value.value_or(NAN));
    }
    JsonText text = to_text(out);
    add_stored(text, "files", checkpoint.files);
    add_stored(text, "written_by",
               checkpoint.written_by.empty() ? JsonText("null") : checkpoint.written_by);
    return text;
}

Json render(const store::Dataset& dataset) {
    return {{"id", dataset.id},
            {"project", dataset.project},
            {"name", dataset.name},
            {"format", dataset.format},
            {"source", stored_json(dataset.source)},
            {"options", stored_json(dataset.options)},
            {"state", to_string(dataset.state)},
            {"report", stored_json(dataset.report)},
            {"problems", stored_json(dataset.problems)},
            {"content_hash", text_or_null(dataset.content_hash)},
            {"bytes", dataset.bytes},
            {"created_by", text_or_null(dataset.created_by)},
            {"created_at", to_rfc3339(dataset.created_at)},
            {"checked_at", render_time(dataset.checked_at)}};
}

Json render(const store::StoredSplit& split) {
    return {{"id", split.id},
            {"dataset_id", split.dataset_id},
            {"request", stored_json(split.request)},
            {"state", to_string(split.state)},
            {"report", stored_json(split.report)},
            {"problems", stored_json(split.problems)},
            {"folds", split.folds > 0 ? Json(split.folds) : Json()},
            {"hash", text_or_null(split.hash)},
            {"bytes", split.bytes},
            {"created_by", text_or_null(split.created_by)},
            {"created_at", to_rfc3339(split.created_at)},
            {"made_at", render_time(split.made_at)}};
}

Json render(const store::Upload& upload) {
    return {{"id", upload.id},
            {"filename", upload.filename},
            {"size", upload.size},
            {"sha256", text_or_null(upload.sha256)},
            {"received", upload.received},
            {"complete", upload.complete},
            {"created_at", to_rfc3339(upload.created_at)},
            {"expires_at", to_rfc3339(upload.expires_at)}};
}

Json render(const store::Host& host) {
    Json drain;
    if (host.drain)
        drain = {{"reason", text_or_null(host.drain->reason)},
                 {"at", to_rfc3339(host.drain->at)},
                 {"by", text_or_null(host.drain->by)}};
    return {{"name", host.name},
            {"pool", host.pool},
            {"cores", host.cores},
            {"physical_cpus", host.physical_cpus},
            {"memory_bytes", host.memory_bytes},
            {"drained", host.drained},
            {"drain", std::move(drain)},
            {"heartbeat_at", to_rfc3339(host.heartbeat_at)},
            {"silent_s", static_cast<double>(host.silent_for.count()) / 1000}};
}

Json render(const store::Core& core) {
    const bool drained = core.drained || core.host_drain;
    const char* state = !core.job_id.empty() ? "busy"
                        : drained            ? "drained"
                        : core.alive         ? "free"
                                             : "lost";
    return {{"host", core.host},
            {"pool", core.pool},
            {"core", core.core},
            {"state", state},
            {"drained", drained},
            {"drain_reason", text_or_null(core.drain_reason)},
            {"alive", core.alive},
            {"job_id", text_or_null(core.job_id)},
            {"attempt", core.job_id.empty() ? Json(nullptr) : Json(core.attempt)},
            {"leased_at", render_time(core.leased_at)},
            {"lease_expires_at", render_time(core.lease_expires_at)}};
}

void put_estimate(Json& out, const std::optional<StartEstimate>& estimate) {
    out["estimated_start_at"] = estimate ? Json(to_rfc3339(estimate->at)) : Json();
    out["estimate_from"] = estimate ? Json(estimate->from) : Json();
}

Json render(const store::QueuedJob& job, const std::optional<StartEstimate>& estimate) {
    Json out{{"position", value_or_null(job.position)},
             {"job_id", job.job_id},
             {"name", job.name},
             {"project", job.project},
             {"class", job.queue_class},
             {"cores", job.cores},
             {"core_id", value_or_null(job.core_id)},
             {"pool", text_or_null(job.pool)},
             {"queued_at", to_rfc3339(job.queued_at)},
             {"not_before", render_time(job.not_before)}};
    put_estimate(out, estimate);
    return out;
}

Json render(const store::Token& token) {
    return {{"id", token.id},
            {"name", token.name},
            {"prefix", token.lookup},
            {"role", token.role},
            {"projects", token.projects},
            {"member", text_or_null(token.member)},
            {"created_by", text_or_null(token.created_by)},
            {"created_at", to_rfc3339(token.created_at)},
            {"expires_at", render_time(token.expires_at)},
            {"last_used_at", render_time(token.last_used_at)},
            {"revoked_at", render_time(token.revoked_at)}};
}

Json render(const store::AuditEntry& entry) {
    return {{"id", entry.id},
            {"at", to_rfc3339(entry.at)},
            {"token_id", text_or_null(entry.token_id)},
            {"action", entry.action},
            {"object", text_or_null(entry.object)},
            {"request_id", text_or_null(entry.request_id)},
            {"detail", stored_json(entry.detail)}};
}

Json render(const store::Project& project) {
    return {{"name", project.name},
            {"weight", project.weight},
            {"quota",
             {{"cores", value_or_null(project.cores_max)},
              {"class_max", text_or_null(project.class_max)}}},
            {"usage_core_s", project.usage_core_s},
            {"cores_held", project.cores_held},
            {"queued_jobs", project.queued_jobs},
            {"created_by", text_or_null(project.created_by)},
            {"created_at", to_rfc3339(project.created_at)}};
}

Json render(const store::Membership& membership) {
    return {{"project", membership.project},
            {"member", membership.member},
            {"role", to_string(membership.role)},
            {"changed_by", text_or_null(membership.changed_by)},
            {"created_at", to_rfc3339(membership.created_at)},
            {"changed_at", to_rfc3339(membership.changed_at)}};
}

Json render(const Identity& identity) {
    Json roles = Json::array();
    for (const store::Grant& grant : identity.grants)
        roles.push_back(
            {{"project", text_or_null(grant.project)}, {"role", to_string(grant.role)}});
    const auto role = identity.role();
    return {{"token_id", identity.token_id},
            {"name", identity.token_name},
            {"member", text_or_null(identity.member)},
            {"role", role ? Json(to_string(*role)) : Json()},
            {"projects", store::projects_of(identity.grants, Role::viewer)},
            {"roles", std::move(roles)},
            {"by_cookie", identity.by_cookie}};
}

Json render_list(Json items, const std::string& next_cursor) {
    return {{"items", std::move(items)}, {"next_cursor", text_or_null(next_cursor)}};
}

JsonText render_list(const std::vector<JsonText>& items, const std::string& next_cursor) {
    return fmt::format("{{\"items\":[{}],\"next_cursor\":{}}}", fmt::join(items, ","),
                       to_text(text_or_null(next_cursor)));
}

std::string to_text(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Response json_response(const Json& body, int status) {
    return json_text_response(to_text(body), status);
}

Response json_text_response(JsonText body, int status) {
    Response response;
    response.status = status;
    response.body = std::move(body);
    response.body += '\n';
    return response;
}

Response text_response(std::string body, std::string media_type) {
    Response response;
    response.body = std::move(body);
    response.media_type = std::move(media_type);
    return response;
}

Response no_content() {
    Response response;
    response.status = 204;
    response.media_type.clear();
    return response;
}

}    // namespace slipway
