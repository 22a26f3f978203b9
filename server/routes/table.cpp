#include "server/routes/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>

#include "api/base/check.h"
#include "api/spec/endpoints.h"
#include "server/http/content_encoding.h"
#include "server/http/files.h"
#include "server/http/problem.h"
#include "server/routes/handlers.h"
#include "server/routes/submissions.h"

namespace slipway {
namespace {

constexpr auto rows = std::to_array<RouteRow>({
    {"create_job",
     {.function = routes::create_job, .own_idempotency = true, .gathers_submissions = true}},
    {"list_jobs", {routes::list_jobs}},
    {"get_job", {routes::get_job}},
    {"patch_job", {routes::patch_job}},
    {"delete_job", {routes::delete_job}},
    {"cancel_job", {routes::cancel_job}},
    {"kill_job", {routes::kill_job}},
    {"pause_job", {routes::pause_job}},
    {"resume_job", {routes::resume_job}},
    {"checkpoint_job", {routes::checkpoint_job}},
    {"retry_job", {.function = routes::retry_job, .own_idempotency = true}},
    {"fork_job",
     {.function = routes::fork_job,
      .own_idempotency = true,
      .class_pointer = "/changes/queue/class"}},
    {"bulk_jobs", {.function = routes::bulk_jobs, .heavy = true}},
    {"list_job_events", {routes::list_job_events}},
    {"list_job_logs", {routes::list_job_logs}},
    {"stream_events", {routes::stream_events}},
    {"list_job_metrics", {routes::list_job_metrics}},
    {"list_metrics", {routes::list_metrics}},
    {"get_job_metrics_csv", {routes::get_job_metrics_csv}},
    {"get_job_tensorboard", {routes::get_job_tensorboard}},
    {"list_job_checkpoints", {routes::list_job_checkpoints}},
    {"list_job_attempts", {routes::list_job_attempts}},
    {"explain_job", {routes::explain_job}},
    {"get_job_spec", {routes::get_job_spec}},
    {"get_job_report", {routes::get_job_report}},
    {"get_job_evaluation", {routes::get_job_evaluation}},
    {"list_job_graphs", {routes::list_job_graphs}},
    {"get_job_graph", {routes::get_job_graph}},
    {"get_job_trace", {routes::get_job_trace}},

    {"list_checkpoints", {routes::list_checkpoints}},
    {"get_checkpoint", {routes::get_checkpoint}},
    {"delete_checkpoint", {routes::delete_checkpoint}},
    {"pin_checkpoint", {routes::pin_checkpoint}},
    {"unpin_checkpoint", {routes::unpin_checkpoint}},
    {"get_checkpoint_file", {routes::get_checkpoint_file}},
    {"get_checkpoint_weights", {routes::get_checkpoint_weights}},

    {"create_evaluation", {.function = routes::create_evaluation, .own_idempotency = true}},
    {"list_evaluations", {routes::list_evaluations}},
    {"get_evaluation", {routes::get_evaluation}},
    {"create_prediction", {.function = routes::create_prediction, .own_idempotency = true}},
    {"list_predictions", {routes::list_predictions}},
    {"get_prediction", {routes::get_prediction}},
    {"get_prediction_result", {routes::get_prediction_result}},

    {"create_cross_validation",
     {.function = routes::create_cross_validation, .class_pointer = "/job/queue/class"}},
    {"list_cross_validations", {routes::list_cross_validations}},
    {"get_cross_validation", {routes::get_cross_validation}},
    {"delete_cross_validation", {routes::delete_cross_validation}},
    {"cancel_cross_validation", {routes::cancel_cross_validation}},
    {"retry_cross_validation", {.function = routes::retry_cross_validation, .heavy = true}},
    {"list_cross_validation_folds", {routes::list_cross_validation_folds}},
    {"get_cross_validation_summary", {routes::get_cross_validation_summary}},
    {"list_cross_validation_events", {routes::list_cross_validation_events}},
    {"compare_cross_validations", {routes::compare_cross_validations}},
    {"get_cross_validation_oof", {routes::get_cross_validation_oof}},

    {"create_dataset", {routes::create_dataset}},
    {"list_datasets", {routes::list_datasets}},
    {"get_dataset", {routes::get_dataset}},
    {"delete_dataset", {routes::delete_dataset}},
    {"get_dataset_preview", {routes::get_dataset_preview}},
    {"create_split", {routes::create_split}},
    {"list_splits", {routes::list_splits}},
    {"get_split", {routes::get_split}},
    {"get_split_manifest", {routes::get_split_manifest}},
    {"delete_split", {routes::delete_split}},
    {"create_upload", {routes::create_upload}},
    {"get_upload", {routes::get_upload}},
    {"append_upload", {routes::append_upload}},
    {"complete_upload", {routes::complete_upload}},
    {"delete_upload", {routes::delete_upload}},

    {"list_slices", {routes::list_slices}},
    {"list_hosts", {routes::list_hosts}},
    {"get_host", {routes::get_host}},
    {"drain_host", {routes::drain_host}},
    {"undrain_host", {routes::undrain_host}},
    {"delete_host", {routes::delete_host}},
    {"create_join_token", {.function = routes::create_join_token, .secret_member = "token"}},
    {"list_cores", {routes::list_cores}},
    {"get_core", {routes::get_core}},
    {"drain_core", {routes::drain_core}},
    {"undrain_core", {routes::undrain_core}},
    {"list_queue", {routes::list_queue}},
    {"get_queue_stats", {routes::get_queue_stats}},
    {"list_decisions", {routes::list_decisions}},
    {"simulate_queue", {routes::simulate_queue}},

    {"create_sweep", {routes::create_sweep}},
    {"list_sweeps", {routes::list_sweeps}},
    {"get_sweep", {routes::get_sweep}},
    {"patch_sweep", {routes::patch_sweep}},
    {"delete_sweep", {routes::delete_sweep}},
    {"pause_sweep", {routes::pause_sweep}},
    {"resume_sweep", {routes::resume_sweep}},
    {"stop_sweep", {routes::stop_sweep}},
    {"extend_sweep", {routes::extend_sweep}},
    {"promote_sweep",
     {.function = routes::promote_sweep,
      .own_idempotency = true,
      .class_pointer = "/changes/queue/class"}},
    {"retry_sweep", {routes::retry_sweep}},
    {"retry_sweep_trial", {routes::retry_sweep_trial}},
    {"list_sweep_trials", {routes::list_sweep_trials}},
    {"get_sweep_best", {routes::get_sweep_best}},
    {"list_sweep_decisions", {routes::list_sweep_decisions}},
    {"suggest_sweep_trials", {routes::suggest_sweep_trials}},
    {"observe_sweep_trial", {routes::observe_sweep_trial}},
    {"get_sweep_importance", {routes::get_sweep_importance}},
    {"simulate_sweep", {routes::simulate_sweep}},
    {"list_sweep_events", {routes::list_sweep_events}},

    {"create_webhook", {.function = routes::create_webhook, .secret_member = "secret"}},
    {"list_webhooks", {routes::list_webhooks}},
    {"get_webhook", {routes::get_webhook}},
    {"patch_webhook", {routes::patch_webhook}},
    {"delete_webhook", {routes::delete_webhook}},
    {"test_webhook", {routes::test_webhook}},
    {"list_webhook_deliveries", {routes::list_webhook_deliveries}},
    {"redeliver_webhook", {routes::redeliver_webhook}},

    {"list_audit", {routes::list_audit}},
    {"preview_retention", {routes::preview_retention}},

    {"create_project", {routes::create_project}},
    {"list_projects", {routes::list_projects}},
    {"get_project", {routes::get_project}},
    {"patch_project", {routes::patch_project}},
    {"get_project_quota", {routes::get_project_quota}},
    {"put_project_quota", {routes::put_project_quota}},
    {"list_members", {routes::list_members}},
    {"get_member", {routes::get_member}},
    {"put_member", {routes::put_member}},
    {"delete_member", {routes::delete_member}},
    {"list_groups", {routes::list_groups}},
    {"put_group", {routes::put_group}},

    {"get_me", {routes::get_me}},
    {"create_token", {.function = routes::create_token, .secret_member = "token"}},
    {"list_tokens", {routes::list_tokens}},
    {"revoke_token", {routes::revoke_token}},
    {"create_login_link", {.function = routes::create_login_link, .secret_member = "url"}},
    {"login", {routes::login}},
    {"login_by_link", {routes::login_by_link}},
    {"logout", {routes::logout}},

    {"healthz", {routes::healthz}},
    {"readyz", {routes::readyz}},
    {"metrics", {routes::metrics}},
    {"get_version", {routes::get_version}},
    {"get_capabilities", {routes::get_capabilities}},
    {"get_openapi", {routes::get_openapi}},
});

constexpr auto aliases = std::to_array<RouteAlias>({
    {"/v1/healthz", "healthz"},
    {"/v1/readyz", "readyz"},
    {"/v1/openapi.json", "get_openapi"},
    {"/version", "get_version"},
    {"/capabilities", "get_capabilities"},
});

const RouteRow& row_of(std::string_view endpoint) {
    const auto* row = std::ranges::find(rows, endpoint, &RouteRow::endpoint);
    check(row != rows.end(), "every endpoint has a handler");
    return *row;
}

bool takes_json(const Endpoint& endpoint) {
    return !endpoint.request.empty() || endpoint.method == "POST";
}

// What strangers may send, and bodies that say nothing or little.
std::size_t body_bytes_max_of(const Endpoint& endpoint) {
    constexpr std::size_t small_body_bytes_max = 4096;
    const bool small = endpoint.access == Access::open || endpoint.request.empty();
    return small ? small_body_bytes_max : json_body_bytes_max;
}

// What must answer when every worker is busy. Only what waits for nothing may be on an I/O thread.
Lane lane_of(std::string_view endpoint) {
    if (endpoint == "healthz" || endpoint == "readyz") return Lane::io;
    return endpoint == "metrics" ? Lane::reserved : Lane::worker;
}

Route make_route(const Endpoint& endpoint, std::string_view path, Services& services) {
    const GuardedRoute& guarded = row_of(endpoint.name).route;
    const auto method = parse_method(endpoint.method);
    check(method.has_value(), "an endpoint's method is one of HTTP's");
    Route route;
    route.method = *method;
    route.pattern = path;
    // Endpoints and rows live as long as the program.
    route.handler = [&services, &endpoint, &guarded](const Request& request) {
        return guard(request, services, endpoint, guarded);
    };
    route.lane = lane_of(endpoint.name);
    if (guarded.gathers_submissions) {
        route.gather = [&services] { return routes::gather_submissions(services); };
        route.may_gather = routes::may_gather_submission;
    }
    if (endpoint.access != Access::open)
        route.admit = [&services, &endpoint](const Request& request) {
            return admit_body(request, services, endpoint);
        };
    if (takes_json(endpoint)) {
        route.body_bytes_max = body_bytes_max_of(endpoint);
        route.media_types = {"application/json", "application/merge-patch+json"};
    }
    if (endpoint.name == "append_upload") {
        route.body_bytes_max = services.upload_bytes_max;
        route.media_types = {std::string(endpoint.body_media_type),
                             "application/offset+octet-stream"};
        route.admit = {};    // the receiver asks
        route.receive = [&services, &endpoint](const Request& request) {
            return routes::receive_upload(request, services, admit(request, services, endpoint));
        };
    }
    return route;
}

// The page itself is at "/"; its files beside it.
Route dashboard_route(const DashboardFile& file) {
    const bool page = file.path == "/index.html";
    const auto body = store_body(media_type_of(file.path), file.bytes);
    return get_route(page ? "/" : std::string(file.path),
                     [body](const Request&) { return stored_response(body); });
}

constexpr std::string_view documentation_folder = "/docs/";

// The pages are looked up by their path: a row for each would slow every request down that the
// table is asked about. A page is compressed when it is first asked for: most never are.
class Documentation {
public:
    explicit Documentation(std::span<const DashboardFile> files) {
        for (const DashboardFile& file : files)
            if (file.path.starts_with(documentation_folder)) pages_[file.path].bytes = file.bytes;
    }

    bool empty() const { return pages_.empty(); }

    Response page(const std::string& path) const {
        const auto found = pages_.find(path);
        if (found == pages_.end())
            throw ProblemError({.status = 404,
                                .code = "not_found",
                                .detail = "the documentation has no page " + path});
        const Page& page = found->second;
        const std::lock_guard lock(mutex_);
        if (!page.body) page.body = store_body(media_type_of(path), page.bytes);
        return stored_response(page.body);
    }

private:
    struct Page {
        std::string_view bytes;
        mutable std::shared_ptr<const StoredBody> body;    // guarded by mutex_
    };
    std::map<std::string_view, Page> pages_;    // constant after construction
    mutable std::mutex mutex_;
};

std::vector<Route> documentation_routes(std::span<const DashboardFile> files) {
    const auto pages = std::make_shared<const Documentation>(files);    // shared by its rows
    if (pages->empty()) return {};
    std::vector<Route> made;
    // Relative: it holds behind a proxy with a path prefix too.
    made.push_back(get_route("/docs", [](const Request&) {
        Response onward;
        onward.status = 303;
        return std::move(onward).with("Location", "docs/index.html");
    }));
    made.push_back(get_route("/docs/{page}", [pages](const Request& request) {
        return pages->page(fmt::format("/docs/{}", request.parameter("page")));
    }));
    made.push_back(get_route("/docs/{folder}/{page}", [pages](const Request& request) {
        return pages->page(
            fmt::format("/docs/{}/{}", request.parameter("folder"), request.parameter("page")));
    }));
    return made;
}

}    // namespace

std::span<const RouteRow> route_rows() {
    return rows;
}

std::span<const RouteAlias> route_aliases() {
    return aliases;
}

Router make_router(Services& services) {
    std::vector<Route> made;
    for (const Endpoint& endpoint : endpoints())
        made.push_back(make_route(endpoint, endpoint.path, services));
    for (const RouteAlias& alias : aliases)
        made.push_back(make_route(find_endpoint(alias.endpoint), alias.path, services));
    for (const DashboardFile& file : services.dashboard)
        if (!file.path.starts_with(documentation_folder)) made.push_back(dashboard_route(file));
    std::ranges::move(documentation_routes(services.dashboard), std::back_inserter(made));
    return Router(std::move(made));
}

}    // namespace slipway
