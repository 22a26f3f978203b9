#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/spec/dataset_root.h"
#include "scheduler/artifacts/artifact_store.h"
#include "scheduler/store/retention.h"
#include "scheduler/store/store.h"
#include "scheduler/submission/queued_jobs.h"
#include "scheduler/sweeps/kept_runs.h"
#include "server/auth/authenticator.h"
#include "server/auth/identity.h"
#include "server/auth/request_rates.h"
#include "server/http/message.h"
#include "server/http/metrics.h"
#include "server/routes/export_queue.h"
#include "server/routes/heavy_requests.h"
#include "server/routes/long_poll.h"
#include "server/routes/queue_forecast.h"
#include "server/routes/tenant_limits.h"
#include "server/routes/transfers.h"
#include "server/routes/upload_hashes.h"

namespace slipway {

class HealthMonitor;
class OutgoingClient;
class Hub;
class ProjectHub;
struct Endpoint;

/// One file of the dashboard; part of the program.
struct DashboardFile {
    std::string_view path;    ///< "/index.html"
    std::string_view bytes;
};

/// Why a queued job waits, as the scheduler sees it.
struct WaitExplanation {
    std::string code;
    std::string message;
    std::vector<int> cores;
    std::string blocking_job;    ///< may be empty
};

/// What the next pass of the scheduler would decide on the jobs that it looks at.
struct WaitCounts {
    std::int64_t starting = 0;
    std::map<std::string, std::int64_t> by_code = {};
};

/// What executors are kept from, and how.
struct ConfinementState {
    std::string name;
    bool enforced = false;
    std::string detail;
};

/// One sample of /metrics that another part of the service counts.
struct PrometheusSample {
    std::string name;    ///< "slipway_agent_attempts_started_total"
    std::string help;
    bool is_counter = false;
    double value = 0;
};

/// What the routes need of the rest of the service; wired by the main. Everything outlives the
/// server. Safe from every thread.
struct Services {
    store::Store& store;
    const Clock& clock;
    Authenticator& authenticator;
    Hub& hub;
    ProjectHub& project_hub;
    HttpMetrics& metrics;
    LongPolls& long_polls;
    HealthMonitor& health;

    ArtifactStore artifacts;
    std::vector<ConfinementState> confinement = {};
    std::vector<DatasetRoot> dataset_roots;
    std::vector<DashboardFile> dashboard;
    std::string host_name;    ///< whose core {n} is meant when no host is named
    std::uint64_t upload_bytes_max = std::uint64_t{16} << 30;
    TenantLimits limits = {};
    store::RetentionPolicy retention = {};
    std::shared_ptr<submission::QueuedJobs> queued_jobs =
        std::make_shared<submission::QueuedJobs>(store, clock);
    /// Bodies that may take long.
    std::shared_ptr<Transfers> transfers =
        std::make_shared<Transfers>(store_transfer_checks(store));
    std::shared_ptr<RequestRates> request_rates = std::make_shared<RequestRates>(
        double(limits.requests_per_s), double(limits.requests_burst));
    std::shared_ptr<UploadHashes> upload_hashes = std::make_shared<UploadHashes>();
    std::shared_ptr<HeavyRequests> heavy_requests = std::make_shared<HeavyRequests>();
    std::shared_ptr<sweeps::KeptRuns> kept_runs = std::make_shared<sweeps::KeptRuns>();
    /// Kept free on the disk: an upload that would go below is refused.
    std::uint64_t disk_reserve_bytes = std::uint64_t{1} << 30;

    /// None when the job does not wait (any more).
    std::function<std::optional<WaitExplanation>(std::string_view job_id)> explain_wait = {};
    /// Of the jobs of these projects (empty: of all).
    std::function<WaitCounts(const std::vector<std::string>& projects)> count_waits = {};
    /// Of those of these jobs whose start can be estimated.
    std::function<std::map<std::string, StartEstimate>(const std::vector<std::string>& job_ids)>
        estimate_starts = {};
    /// errors  throws not_found when the job is not queued
    std::function<SimulatedQueue(const QueueChange&)> simulate_queue = {};
    std::function<std::vector<PrometheusSample>()> metric_samples = {};
    /// Knows which addresses webhooks may have; null: public ones.
    const OutgoingClient* outgoing = nullptr;
    std::function<void()> on_webhook = [] {};    ///< a delivery was added
    ExportQueue* exports = nullptr;              ///< null: this service cannot export weights
    std::function<void()> on_queued = [] {};     ///< something may be placed now
    std::function<void()> on_changed = [] {
    };    ///< this machine's agent has something to start or stop
};

/// What a handler works with.
struct Context {
    const Request& request;
    Services& services;
    const Identity& who;    ///< without any right where the endpoint is open
    const Endpoint& endpoint;
};

/// One endpoint's work: a function of the request and the services.
using RouteFunction = Response (*)(const Context&);

}    // namespace slipway
