#include "server/main/serve.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <set>
#include <span>

#include "api/base/id.h"
#include "api/base/log_file.h"
#include "api/base/log_format.h"
#include "api/base/posix.h"
#include "scheduler/agent/shared_store.h"
#include "scheduler/maintenance/explain_wait.h"
#include "scheduler/store/host_pools.h"
#include "scheduler/sweeps/loop.h"
#include "server/http/server.h"
#include "server/main/first_start.h"
#include "server/main/forecasts.h"
#include "server/main/host_checks.h"
#include "server/main/node_check.h"
#include "server/main/parts.h"
#include "server/main/pool_options.h"
#include "server/main/scheduler.h"
#include "server/main/store_space.h"
#include "server/main/weights_export.h"
#include "server/routes/health.h"
#include "server/routes/table.h"
#include "server/sse/hub.h"
#include "server/sse/project_hub.h"
#include "server/sse/store_feed.h"
#include "server/webhooks/dispatcher.h"
#include "web/assets.h"

namespace slipway {
namespace {

constexpr std::chrono::seconds drain_wait{120};
constexpr std::chrono::milliseconds stop_grace{5000};

// With the pages of the documentation.
std::vector<DashboardFile> dashboard_files() {
    std::vector<DashboardFile> files;
    for (const std::span<const Asset> assets : {web_assets(), documentation_assets()})
        for (const Asset& asset : assets)
            files.push_back({asset.path, asset.bytes});
    return files;
}

ServerOptions server_options(const Options& options) {
    ServerOptions made;
    made.addresses = options.addresses;
    made.port = options.port;
    made.certificate_file = options.certificate_file;
    made.private_key_file = options.private_key_file;
    for (const std::string& text : options.trusted_proxies)
        made.trusted_proxies.push_back(parse_network(text));
    made.public_names = options.public_names;
    made.public_names.push_back(machine_name());
    made.limits.buffered_body_bytes = options.buffered_body_bytes;
    made.limits.buffered_answer_bytes = options.buffered_answer_bytes;
    return made;
}

// One connection for each thread that runs handlers: requests wait for no connection, and hold none
// of those that the scheduler, health and streams work with.
store::StoreOptions request_store_options(const Database& database, const ServerOptions& http) {
    return {.database = database.url,
            .application_name = "slipwayd requests",
            .connections_max = static_cast<int>(http.worker_threads + http.reserved_threads)};
}

LogFileOptions log_file_of(const Options& options, const Home& home) {
    return {.path = home.log_file(),
            .bytes_max = options.log_bytes_max,
            .old_files_max = options.log_files - 1};
}

void begin_log(const Options& options, const Home& home, StopSignals& signals) {
    set_log_format(options.log_format);
    start_logging(options.log_level, log_file_of(options, home));
    signals.on_hangup(reopen_log);
}

std::string address_text(const Options& options, std::uint16_t port) {
    std::string host = options.addresses.empty() ? "127.0.0.1" : options.addresses.front();
    if (host == "0.0.0.0" || host == "::") host = "127.0.0.1";
    if (host.find(':') != std::string::npos) host = "[" + host + "]";
    return fmt::format("http{}://{}:{}", options.certificate_file.empty() ? "" : "s", host, port);
}

void say_ready(const Options& options, const std::string& address, const Home& home) {
    fmt::print("slipwayd is ready at {} (home {})\n", address, home.path().string());
    std::fflush(stdout);
    if (!options.ready_file.empty()) write_file_aside(options.ready_file, address + "\n");
    log_info("ready", {{"address", address}, {"home", home.path().string()}});
}

WaitExplanation explanation_of(const WaitReason& reason) {
    return {.code = reason.code,
            .message = reason.message,
            .cores = reason.cores,
            .blocking_job = reason.blocking_job};
}

// The second signal: end now, but do not leave the cluster half-way: it recovers from its log.
void end_at_once(const Database& database) {
    log_warn("second signal: ending now");
    const int postmaster = database.cluster ? database.cluster->pid() : 0;
    if (postmaster > 1) kill(postmaster, SIGQUIT);
    std::_Exit(1);
}

void stop_scheduler(Scheduler& scheduler, store::Store& store, const Options& options,
                    OperatorRequest asked) {
    if (!options.drain && asked != OperatorRequest::drain) return scheduler.stop();
    scheduler.stop([&](const Scheduler::Agents& agents) {
        drain(store, agents, host_names(options), drain_wait);
    });
}

MaintenanceOptions maintenance_options(const Options& options) {
    MaintenanceOptions made;
    made.host = options.host_name;
    made.audit_keep = std::chrono::days{options.audit_days};
    made.retention = options.retention;
    return made;
}

CoordinatorOptions coordinator_options(const Options& options, const Home& home) {
    return {.host = options.host_name,
            .home = home.path(),
            .queued_jobs_max = options.limits.queued_jobs};
}

std::vector<ConfinementState> confinement_states(const Options& options) {
    std::vector<ConfinementState> states;
    for (const ConfinementFeature& one : enforced_features(options))
        states.push_back({one.name, one.enforced, one.detail});
    return states;
}

WebhookOptions webhook_options_of(const Options& options) {
    WebhookOptions made;
    for (const std::string& text : options.webhook_allow)
        made.allowed.push_back(parse_network(text));
    made.keep = std::chrono::days{options.webhook_log_days};
    return made;
}

// Deliveries never wait for requests, nor these for them.
store::StoreOptions webhook_store_options(const Database& database) {
    return {
        .database = database.url, .application_name = "slipwayd webhooks", .connections_max = 3};
}

std::vector<PrometheusSample> samples_of(const WebhookCounts& counts) {
    const auto counter = [](const char* name, const char* help, std::int64_t value) {
        return PrometheusSample{name, help, true, double(value)};
    };
    return {
        counter("slipway_webhooks_delivered_total", "Webhook messages that were accepted.",
                counts.delivered),
        counter("slipway_webhooks_retried_total",
                "Attempts to deliver a webhook message that failed and will be repeated.",
                counts.retried),
        counter("slipway_webhooks_failed_total",
                "Webhook messages that were given up after their last attempt.", counts.failed)};
}

/// The loop starts after the server, and ends after its last request.
struct SweepSamples {
    std::atomic<const sweeps::SweepLoop*> loop{nullptr};
};

std::vector<PrometheusSample> samples_of(const sweeps::SweepLoopCounts& counts) {
    return {{"slipway_sweeps_behind",
             "Sweeps whose points take so long to choose that they take turns.", false,
             double(counts.behind)},
            {"slipway_sweeps_slices_used_total",
             "Steps of sweeps that were cut short since choosing points took too long.", true,
             double(counts.slices_used)}};
}

// What the routes ask of the rest of the service.
std::shared_ptr<SweepSamples> wire(Services& services, Scheduler& scheduler,
                                   WebhookDispatcher& webhooks, store::Store& store,
                                   const std::vector<AgentOptions>& agents) {
    std::set<std::shared_ptr<const Launcher>> launchers;    // hosts share them
    for (const AgentOptions& agent : agents)
        launchers.insert(agent.launcher);
    services.explain_wait = [&store, launchers = std::move(launchers)](
                                std::string_view job_id) -> std::optional<WaitExplanation> {
        for (const auto& launcher : launchers)
            if (std::string waits = launcher->explain_wait(std::string(job_id)); !waits.empty())
                return WaitExplanation{.code = "waiting_for_slurm",
                                       .message = std::move(waits),
                                       .cores = {},
                                       .blocking_job = {}};
        const auto reason =
            explain_wait(store, std::string(job_id), MaintenanceOptions{}.host_silence_max);
        if (!reason) return std::nullopt;
        return explanation_of(*reason);
    };
    const auto sweeps_counted = std::make_shared<SweepSamples>();
    // Shared, because a std::function copies what it has.
    const auto space =
        std::make_shared<StoreSpace>(services.artifacts.folder(Artifact::run),
                                     services.artifacts.shared_folder(), services.clock);
    services.metric_samples = [&scheduler, &webhooks, sweeps_counted, space] {
        std::vector<PrometheusSample> samples = scheduler.metric_samples();
        if (const auto free_bytes = space->free_bytes())
            samples.push_back({.name = "slipway_store_free_bytes",
                               .help = "What is free on the disk of the store.",
                               .value = double(*free_bytes)});
        std::ranges::move(samples_of(webhooks.counts()), std::back_inserter(samples));
        if (const sweeps::SweepLoop* loop = sweeps_counted->loop)
            std::ranges::move(samples_of(loop->counts()), std::back_inserter(samples));
        return samples;
    };
    services.on_webhook = [&webhooks] { webhooks.wake(); };
    services.on_queued = [&scheduler] { scheduler.wake_maintenance(); };
    services.on_changed = [&scheduler] { scheduler.wake_agent(); };
    return sweeps_counted;
}

// Jobs of trials are in the same queue as those of users, and under the same limit.
std::unique_ptr<sweeps::SweepLoop> start_sweeps(store::Store& store, Services& services,
                                                Scheduler& scheduler, SweepSamples& counted) {
    auto loop = std::make_unique<sweeps::SweepLoop>(
        store,
        submission::QueueLimit{.queued = *services.queued_jobs,
                               .jobs_max = services.limits.queued_jobs},
        sweeps::SweepLoopOptions{.on_queued = [&scheduler] { scheduler.wake_maintenance(); }},
        services.clock);
    counted.loop = loop.get();
    return loop;
}

/// What all parts find in the store.
void prepare(store::Store& store, const Home& home, const Options& options) {
    require_shared_store(store, home, true);
    store::set_default_pool(store, default_pool_of(options));
    store::set_time_limits(store, time_limits_of(options));
}

/// To who has started the service, and to the commands that look for it.
void say_where(const Options& options, const Home& home, std::uint16_t port) {
    const std::string address = address_text(options, port);
    home.keep_address(address);
    say_ready(options, address, home);
}

/// Streams first: they would go on for ever.
void stop_requests(Hub& hub, ProjectHub& project_hub, Server& server) {
    hub.stop();
    project_hub.stop();
    server.stop(stop_grace);
}

}    // namespace

int serve(const Options& given, StopSignals& signals) {
    const Home home(home_folder(given.home));
    begin_log(given, home, signals);
    const Clock& clock = system_clock();
    log_info("starting", {{"home", home.path().string()}, {"host", given.host_name}});
    check_confinement(given);
    Database database = open_database(given, home);
    const Options options = with_slice_address(given, *database.store);
    store::Store& store = *database.store;
    prepare(store, home, options);
    log_info("admin token", {{"file", ensure_admin_token(home, store, clock)}});

    const ServerOptions http = server_options(options);
    store::Store requests(request_store_options(database, http));
    Authenticator authenticator(requests, clock);
    HttpMetrics metrics;
    LongPolls long_polls(clock);
    HealthMonitor health(store, clock);
    ProjectHub project_hub(project_feed(store, requests), {.name = new_id("evt", clock)}, clock);
    Hub hub(store_feed(store, requests,
                       [&project_hub](const std::string& topic) { project_hub.hear(topic); }));
    Scheduler scheduler;
    Services services{.store = requests,
                      .clock = clock,
                      .authenticator = authenticator,
                      .hub = hub,
                      .project_hub = project_hub,
                      .metrics = metrics,
                      .long_polls = long_polls,
                      .health = health,
                      .artifacts = ArtifactStore(home.path()),
                      .confinement = confinement_states(options),
                      .dataset_roots = options.dataset_roots,
                      .dashboard = dashboard_files(),
                      .host_name = options.host_name,
                      .upload_bytes_max = options.upload_bytes_max,
                      .limits = options.limits,
                      .retention = options.retention,
                      .transfers = std::make_shared<Transfers>(store_transfer_checks(store))};
    const std::vector<AgentOptions> agents = agents_of(options, home);
    WeightsExporter exporter(store, agents.front(),
                             ArtifactStore(home.path()).folder(Artifact::weights_export));
    ExportQueue exports(
        exporter.folder(), [&exporter](const auto&... of_export) { exporter.run(of_export...); },
        clock);
    services.exports = &exports;
    const WebhookOptions webhook_options = webhook_options_of(options);
    const OutgoingClient outgoing(webhook_options.allowed, webhook_options.limits);
    services.outgoing = &outgoing;
    store::Store webhook_store(webhook_store_options(database));
    WebhookDispatcher webhooks(webhook_store, webhook_options, clock);
    const auto sweeps_counted = wire(services, scheduler, webhooks, requests, agents);
    wire_forecasts(services, requests, clock);

    // The port first: when another process has it, nothing else has been started for nothing.
    Server server(http, make_router(services), metrics, clock);
    server.start();
    scheduler.start(store, agents, maintenance_options(options), coordinator_options(options, home),
                    clock);
    auto sweep_loop = start_sweeps(store, services, scheduler, *sweeps_counted);
    say_where(options, home, server.port());

    const OperatorRequest asked = signals.wait();
    signals.on_second([&database] { end_at_once(database); });
    log_info("stopping", {{"drain", options.drain || asked == OperatorRequest::drain}});
    stop_requests(hub, project_hub, server);
    sweep_loop.reset();
    stop_scheduler(scheduler, store, options, asked);
    log_info("stopped");
    return 0;
}

int run_agent(const Options& given, StopSignals& signals) {
    Database database = open_service_database(given);
    // Before folders are made where the mount is missing.
    check_store_id(*database.store, ArtifactStore(home_folder(given.home)));
    const Options options = with_slice_address(given, *database.store);
    const Home home(home_folder(options.home));
    begin_log(options, home, signals);
    check_confinement(options);
    require_shared_store(*database.store, home, false);
    for (const Finding& finding : node_findings(options, database.store.get()))
        if (!finding.good)
            log_warn("this host lacks something",
                     {{"what", finding.name}, {"reason", finding.detail}});
    const std::vector<AgentOptions> agents = agents_of(options, home);
    register_hosts(*database.store, agents);
    Scheduler scheduler;
    scheduler.start(*database.store, agents, maintenance_options(options),
                    coordinator_options(options, home), system_clock());
    say_ready(options, "no address: agent only", home);
    const OperatorRequest asked = signals.wait();
    signals.on_second([&database] { end_at_once(database); });
    stop_scheduler(scheduler, *database.store, options, asked);
    log_info("stopped");
    return 0;
}

}    // namespace slipway
