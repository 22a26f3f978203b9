#include "server/main/parts.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <set>

#include "api/base/log.h"
#include "api/base/version.h"
#include "migrations/dump.h"
#include "migrations/migrate.h"
#include "scheduler/launcher/slurm/slurm_launcher.h"
#include "scheduler/launcher/warm_launcher.h"
#include "scheduler/store/attempts.h"
#include "scheduler/store/jobs.h"
#include "server/main/pool_options.h"

namespace slipway {

std::filesystem::path dump_before_migration(const std::filesystem::path& home,
                                            const std::string& database) {
    return migrations::dump_database({.database = database,
                                      .folder = home / "backups",
                                      .version = std::string(release_version()),
                                      .at = system_clock().now()});
}

Database open_database(const Options& options, const Home& home) {
    Database database;
    database.url = options.database;
    if (database.url.empty()) {
        database.cluster = std::make_unique<store::Cluster>(
            store::ClusterOptions{.home = home.path(), .tools = {}});
        database.url = database.cluster->database_url();
    }
    const migrations::Backup backup = [&] {
        log_info("the database was dumped before the migration",
                 {{"file", dump_before_migration(home.path(), database.url).string()}});
    };
    for (const int number : migrations::up(database.url, backup))
        log_info("the schema was migrated", {{"migration", number}});
    database.store = std::make_unique<store::Store>(store::StoreOptions{.database = database.url});
    return database;
}

namespace {

/// Our programs are where slipwayd is.
std::filesystem::path beside_us(const char* program) {
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    return self.parent_path() / program;
}

std::int64_t memory_for_jobs(const Options& options) {
    if (options.job_memory_bytes > 0) return options.job_memory_bytes;
    struct sysinfo info {};
    sysinfo(&info);
    // The rest is the service's, its database's and the system's.
    return std::int64_t(info.totalram) * info.mem_unit / 10 * 9;
}

std::optional<LinkListenerOptions> listener_of(const Options& options) {
    if (options.slurm_address.empty()) return std::nullopt;
    return LinkListenerOptions{.address = options.slurm_address,
                               .port = std::uint16_t(options.slurm_port)};
}

std::shared_ptr<const Launcher> launcher_of(LauncherKind kind, const Options& options,
                                            const std::filesystem::path& home) {
    if (kind == LauncherKind::slurm)
        return std::make_shared<SlurmLauncher>(
            launcher_options(options),
            SlurmOptions{
                .queue = {.batch = {.partition = options.slurm_partition,
                                    .options = parse_batch_options(options.slurm_options)}},
                .starter = beside_us("slipway-slurm-start"),
                .folder = home / "slurm",
                .host = options.host_name,
                .listen = listener_of(options)},
            system_clock());
    if (options.warm_executors.count() == 0)
        return std::make_shared<LocalLauncher>(launcher_options(options));
    return std::make_shared<WarmLauncher>(
        launcher_options(options),
        WarmOptions{.folder = home / "workers",
                    .workers_max = options.cores * options.virtual_hosts,
                    .idle_max = options.warm_executors},
        system_clock());
}

// A host's records lie below its number, which stays whatever --virtual-hosts is.
constexpr int first_slurm_host = 1001;

/// NAME, NAME-2, …
std::string host_name_of(const std::string& first, int number) {
    return number == 1 ? first : fmt::format("{}-{}", first, number);
}

std::string name_of_slurm_hosts(const Options& options) {
    return options.host_name + "-slurm";
}

}    // namespace

LauncherOptions launcher_options(const Options& options) {
    if (options.confinement == ConfinementMode::off) return {};
    LauncherOptions made;
    made.niceness = options.executor_niceness;
    made.confiner = beside_us("slipway-confine");
    made.cgroups = find_cgroup_tree(options.cgroup);
    if (geteuid() == 0) made.first_user = options.executor_user_base;
    return made;
}

std::vector<ConfinementFeature> enforced_features(const Options& options) {
    std::vector<ConfinementFeature> features =
        confinement_features(find_cgroup_tree(options.cgroup));
    if (options.confinement != ConfinementMode::off) return features;
    for (ConfinementFeature& feature : features) {
        feature.enforced = false;
        feature.detail = "--confinement off";
    }
    return features;
}

void check_confinement(const Options& options) {
    if (options.confinement == ConfinementMode::off) {
        log_warn("executors are not confined: --confinement off");
        return;
    }
    for (const ConfinementFeature& feature :
         confinement_features(find_cgroup_tree(options.cgroup))) {
        if (feature.enforced || feature.name == "disk") continue;
        if (options.confinement == ConfinementMode::required) {
            throw Error{ErrorCode::invalid_argument,
                        fmt::format("--confinement required, but {} cannot be confined: {}",
                                    feature.name, feature.detail)};
        }
        log_warn("executors are not confined in everything",
                 {{"not_enforced", feature.name}, {"reason", feature.detail}});
    }
}

AgentOptions agent_options(const Options& options, const Home& home) {
    AgentOptions made;
    made.host = options.host_name;
    made.pool = pool_of_hosts(options);
    made.cores = options.cores;
    made.join_token = options.join_token;
    made.home = home.path();
    made.executor = options.executor;
    made.dataset_roots = options.dataset_roots;
    made.grace = options.executor_grace;
    made.start_max = options.start_max;
    made.stop_save = options.executor_grace;
    made.launcher = launcher_of(options.launcher, options, home.path());
    made.memory_bytes = memory_for_jobs(options) / options.virtual_hosts;
    made.machine_hosts = options.virtual_hosts;
    if (options.launcher == LauncherKind::local && options.warm_executors.count() > 0)
        made.spare_run_folders = std::size_t(options.cores);
    made.slice_address = options.slice_address;
    made.decoded_bytes_max = options.decoded_bytes_max;
    made.frames_bytes_max = options.frames_mib << 20;
    made.metric_names_max = options.metric_names_max;
    return made;
}

std::vector<AgentOptions> agents_of(const Options& options, const Home& home) {
    const AgentOptions first = agent_options(options, home);
    std::vector<AgentOptions> agents;
    const auto add = [&](const AgentOptions& like, const std::string& name, int count, int number) {
        for (int i = 1; i <= count; ++i) {
            agents.push_back(like);    // they share the launcher
            agents.back().host = host_name_of(name, i);
            agents.back().machine_host = number++;
        }
    };
    add(first, first.host, options.virtual_hosts, 1);
    if (options.slurm_hosts == 0) return agents;
    AgentOptions of_slurm = first;
    of_slurm.pool = slurm_pool;
    of_slurm.launcher = launcher_of(LauncherKind::slurm, options, home.path());
    of_slurm.machine_hosts = options.slurm_hosts;
    of_slurm.memory_bytes = memory_for_jobs(options) / options.slurm_hosts;
    add(of_slurm, name_of_slurm_hosts(options), options.slurm_hosts, first_slurm_host);
    return agents;
}

std::vector<std::string> host_names(const Options& options) {
    std::vector<std::string> names;
    for (int i = 1; i <= options.virtual_hosts; ++i)
        names.push_back(host_name_of(options.host_name, i));
    for (int i = 1; i <= options.slurm_hosts; ++i)
        names.push_back(host_name_of(name_of_slurm_hosts(options), i));
    return names;
}

std::vector<PrometheusSample> samples_of(const AgentCounts& agent,
                                         const MaintenanceCounts& maintenance) {
    const auto counter = [](std::string name, std::string help, std::int64_t value) {
        return PrometheusSample{"slipway_" + name, std::move(help), true,
                                static_cast<double>(value)};
    };
    const auto gauge = [](std::string name, std::string help, double value) {
        return PrometheusSample{"slipway_" + name, std::move(help), false, value};
    };
    return {
        gauge("attempts_running", "Attempts with a process on this machine.",
              static_cast<double>(agent.running)),
        counter("attempts_started_total", "Executors started.", agent.started),
        counter("attempts_adopted_total", "Executors taken over after a restart.", agent.adopted),
        counter("attempts_finished_total", "Attempts that ended.", agent.finished),
        counter("attempts_crashed_total", "Executors that ended without a done frame.",
                agent.crashed),
        counter("attempts_unresponsive_total", "Executors killed because they stopped responding.",
                agent.unresponsive),
        counter("frames_relayed_total", "Frames of executors stored.", agent.frames_relayed),
        counter("metric_points_skipped_total",
                "Points not stored because their jobs had --metric-names-max metrics.",
                agent.metric_points_skipped),
        counter("agent_database_failures_total", "Calls that the database did not answer.",
                agent.failed_calls),
        gauge("dataset_checks_running", "Datasets being checked.",
              static_cast<double>(agent.checks_running)),
        gauge("database_lag_seconds", "Time since the database last answered the agent.",
              agent.database_lag_s),
        gauge("maintenance_is_leader", "1: this process is the leader, which runs maintenance.",
              maintenance.leads ? 1 : 0),
        counter("maintenance_ticks_total", "Passes over the queue.", maintenance.ticks),
        counter("maintenance_failed_ticks_total", "Passes that failed.", maintenance.failed_ticks),
        gauge("maintenance_last_tick_seconds", "Duration of the last pass over the queue.",
              maintenance.last_tick_s),
        counter("jobs_placed_total", "Jobs that were given cores.", maintenance.placed),
        counter("placements_lost_total",
                "Decisions discarded because another process had changed the job.",
                maintenance.lost_races),
        counter("jobs_preempted_total", "Jobs preempted by a job of a higher class.",
                maintenance.preempted),
        counter("attempts_rescued_total", "Attempts that were ended because their host was lost.",
                maintenance.rescued),
        counter("cores_drained_total", "Cores drained because several jobs in a row crashed there.",
                maintenance.drained_cores),
        counter("jobs_expired_total", "Jobs whose valid_until passed in the queue.",
                maintenance.expired),
    };
}

void drain(store::Store& store, const std::vector<std::unique_ptr<Agent>>& agents,
           const std::vector<std::string>& hosts, std::chrono::seconds limit) {
    const auto ask = [&](const store::HostAttempt& one) {
        try {
            store::request_intent(store, one.attempt.job_id, Intent::preempt,
                                  {.code = "drained", .message = "this host is stopping"});
        } catch (const Error& error) {
            // It ended, or is ending, by itself meanwhile.
            log_info("a job was not drained",
                     {{"job_id", one.attempt.job_id}, {"reason", error.what()}});
        }
    };
    std::set<std::string> asked;    // a slice has members on several hosts
    for (const std::string& host : hosts)
        for (const store::HostAttempt& one : store::list_live_attempts(store, host))
            if (asked.insert(one.attempt.job_id).second) ask(one);
    for (const auto& agent : agents)
        agent->wake();
    const auto running = [&] {
        std::int64_t sum = 0;
        for (const auto& agent : agents)
            sum += agent->counts().running;
        return sum;
    };
    const Tick end = system_clock().tick() + limit;
    while (running() > 0 && system_clock().tick() < end)
        poll(nullptr, 0, 100);
    log_info("drained", {{"still_running", running()}});
}

}    // namespace slipway
