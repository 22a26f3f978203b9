#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "api/base/check.h"
#include "api/base/error.h"
#include "api/base/version.h"
#include "api/spec/documents.h"
#include "scheduler/store/host_pools.h"
#include "server/http/content_encoding.h"
#include "server/http/problem.h"
#include "server/routes/handlers.h"
#include "server/routes/health.h"
#include "server/routes/render.h"
#include "server/sse/hub.h"
#include "server/sse/project_hub.h"

namespace slipway::routes {
namespace {

void append_sample(std::string& text, const PrometheusSample& sample) {
    text +=
        fmt::format("# HELP {} {}\n# TYPE {} {}\n{} {}\n", sample.name, sample.help, sample.name,
                    sample.is_counter ? "counter" : "gauge", sample.name, sample.value);
}

// Below it neither the database nor executors can be expected to go on.
constexpr std::int64_t free_disk_bytes_min = std::int64_t{64} << 20;

// Of the home folder, which is local: a store may be on a file server that hangs (store_space.h).
std::optional<std::int64_t> free_disk_bytes(const Services& services) {
    std::error_code problem;
    const auto space = std::filesystem::space(services.artifacts.folder(Artifact::run), problem);
    if (problem) return std::nullopt;
    return static_cast<std::int64_t>(space.available);
}

// What only the database knows. While it is down the rest is still worth scraping.
std::string database_samples(const DatabaseHealth& health) {
    std::string text;
    append_sample(text, {.name = "slipway_database_up",
                         .help = "1: it answers.",
                         .value = health.answers ? 1.0 : 0.0});
    if (!health.answers) return text;
    text += "# HELP slipway_jobs Jobs in each state.\n# TYPE slipway_jobs gauge\n";
    for (const auto& [state, count] : health.jobs)
        text += fmt::format("slipway_jobs{{state=\"{}\"}} {}\n", to_string(state), count);
    return text;
}

// The capabilities around their two members that are not the same for every service: a rendered
// document, cut where they belong.
struct CapabilitiesText {
    std::string before_confinement, before_limits, end;
};

CapabilitiesText cut_capabilities() {
    constexpr std::string_view confinement = "\"@confinement\"";
    constexpr std::string_view limits = "\"@limits\"";
    const std::string text = capabilities_document("@confinement", "@limits").dump();
    const std::size_t first = text.find(confinement);
    const std::size_t second = text.find(limits);
    check(first < second && second != std::string::npos, "the document has both, in this order");
    return {.before_confinement = text.substr(0, first),
            .before_limits =
                text.substr(first + confinement.size(), second - first - confinement.size()),
            .end = text.substr(second + limits.size()) + "\n"};
}

}    // namespace

Response healthz(const Context&) {
    return json_response({{"status", "ok"}});
}

Response readyz(const Context& context) {
    const DatabaseHealth health = context.services.health.latest();
    if (!health.answers) throw Error(ErrorCode::unavailable, health.problem);
    const auto free_bytes = free_disk_bytes(context.services);
    if (free_bytes && *free_bytes < free_disk_bytes_min)
        throw ProblemError(
            {.status = 503,
             .code = "disk_full",
             .detail = fmt::format("the disk of the home folder has {} MiB free, and {} MiB are "
                                   "needed: free space",
                                   *free_bytes >> 20, free_disk_bytes_min >> 20)});
    return json_response({{"status", "ready"}});
}

Response metrics(const Context& context) {
    std::string text = context.services.metrics.text();
    append_sample(text,
                  {.name = "slipway_streams",
                   .help = "Event streams that clients hold open.",
                   .value = static_cast<double>(context.services.hub.stream_count() +
                                                context.services.project_hub.stream_count())});
    if (context.services.metric_samples)
        for (const PrometheusSample& sample : context.services.metric_samples())
            append_sample(text, sample);
    if (const auto free_bytes = free_disk_bytes(context.services))
        append_sample(text, {.name = "slipway_disk_free_bytes",
                             .help = "What is free on the disk of the home folder.",
                             .value = static_cast<double>(*free_bytes)});
    text += database_samples(context.services.health.latest());
    return text_response(std::move(text), "text/plain; version=0.0.4; charset=utf-8");
}

Response get_version(const Context& context) {
    return json_response({{"version", release_version()},
                          {"commit", source_commit()},
                          {"api", "v1"},
                          {"host", context.services.host_name}});
}

Response get_capabilities(const Context& context) {
    Json confinement = Json::array();
    for (const ConfinementState& one : context.services.confinement)
        confinement.push_back(
            {{"name", one.name}, {"enforced", one.enforced}, {"detail", one.detail}});
    const TenantLimits& limits = context.services.limits;
    const Json told{{"queued_jobs", limits.queued_jobs},
                    {"checking_datasets", limits.checking_datasets},
                    {"making_splits", limits.making_splits},
                    {"active_sweeps", limits.active_sweeps},
                    {"projects", limits.projects},
                    {"open_uploads", limits.open_uploads},
                    {"stored_bytes", limits.stored_bytes},
                    {"tokens", limits.tokens},
                    {"members", limits.members},
                    {"webhooks", limits.webhooks},
                    {"requests_per_s", limits.requests_per_s},
                    {"requests_burst", limits.requests_burst},
                    {"upload_bytes", context.services.upload_bytes_max},
                    {"pool_max_wall_s", store::list_time_limits(context.services.store)}};
    // The tables stay as they are; they are rendered once.
    static const CapabilitiesText parts = cut_capabilities();
    return text_response(parts.before_confinement + confinement.dump() + parts.before_limits +
                             told.dump() + parts.end,
                         "application/json");
}

Response get_openapi(const Context&) {
    static const std::string text = openapi_document(release_version()).dump() + "\n";
    static const std::shared_ptr<const StoredBody> body = store_body("application/json", text);
    return stored_response(body);
}

}    // namespace slipway::routes
