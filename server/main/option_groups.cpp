#include "server/main/option_groups.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "api/base/error.h"
#include "server/main/pool_options.h"

namespace slipway {

namespace {

// Empty: it is one.
std::string problem_of_root(const std::string& text) {
    try {
        parse_dataset_root(text);
        return {};
    } catch (const Error& error) {
        return error.what();
    }
}

// Of one without a problem.
std::string missing_root(const std::string& text) {
    const DatasetRoot root = parse_dataset_root(text);
    std::error_code error;
    if (std::filesystem::is_directory(root.path, error)) return {};
    return fmt::format("there is no folder {}", root.path.string());
}

}    // namespace

const std::map<std::string, LogLevel> log_levels{{"debug", LogLevel::debug},
                                                 {"info", LogLevel::info},
                                                 {"warn", LogLevel::warn},
                                                 {"error", LogLevel::error}};

const std::map<std::string, ConfinementMode> confinement_modes{
    {"off", ConfinementMode::off},
    {"best-effort", ConfinementMode::best_effort},
    {"required", ConfinementMode::required}};

void add_common(CLI::App& app, RawOptions& raw) {
    app.add_option("--home", raw.options.home,
                   "home folder with all data (SLIPWAY_HOME; default: /var/lib/slipway as root, "
                   "~/.local/share/slipway otherwise)");
    app.add_option("--database", raw.options.database,
                   "external PostgreSQL: postgresql://user@host/name; default: a private one in "
                   "the home folder");
    app.add_option("--database-file", raw.database_file,
                   "file of mode 0600 with the address of the database, for an address with a "
                   "password; or set SLIPWAY_DATABASE");
    app.add_option("--log-level", raw.options.log_level, "debug, info, warn or error")
        ->transform(CLI::CheckedTransformer(log_levels, CLI::ignore_case).description(""))
        ->type_name("WORD");
}

void add_log(CLI::App& app, RawOptions& raw) {
    static const std::map<std::string, LogFormat> formats{{"text", LogFormat::text},
                                                          {"json", LogFormat::json}};
    app.add_option("--log-format", raw.options.log_format,
                   "text, or json: one object per line, for programs that read logs")
        ->transform(CLI::CheckedTransformer(formats, CLI::ignore_case).description(""))
        ->type_name("WORD");
    app.add_option("--log-max-mib", raw.log_max_mib,
                   "size at which slipwayd.log is rotated, in MiB")
        ->check(CLI::Range(1, 65536));
    app.add_option("--log-files", raw.options.log_files, "number of log files to keep")
        ->check(CLI::Range(1, 1000));
}

void add_machine(CLI::App& app, RawOptions& raw) {
    app.add_option("--cores", raw.options.cores, "number of virtual cores on this machine")
        ->check(CLI::Range(1, 8));
    app.add_option("--dataset-root", raw.dataset_roots,
                   "folder whose subfolders may be datasets: DIR, of all projects; "
                   "PROJECT,PROJECT=DIR, of these projects only; can be repeated")
        ->allow_extra_args(false)
        ->check(problem_of_root)
        ->check(missing_root, "", is_present);
    app.add_option("--executor", raw.executor, "path of slipway-executor")
        ->check(CLI::Validator(CLI::ExistingFile).name(is_present));
    app.add_option("--executor-grace-s", raw.grace_s,
                   "seconds without an agent after which an executor saves and exits")
        ->check(CLI::Range(1, 86400));
    app.add_option("--start-max-s", raw.start_max_s,
                   "seconds until a started executor must send its first message, else it is "
                   "started again; with Slurm from the begin of slipway-slurm-start on its node")
        ->check(CLI::Range(1, 86400));
    app.add_option(
           "--frames-max-mib", raw.options.frames_mib,
           "maximum size of the events, metrics and logs of one attempt, in MiB; 0: no limit")
        ->check(CLI::Range(0, 1 << 20));
    app.add_option(
           "--metric-names-max", raw.options.metric_names_max,
           "maximum number of metrics per job; points of further metrics are skipped; 0: no limit")
        ->check(CLI::Range(0, 1'000'000));
    app.add_option("--host-name", raw.options.host_name, "name of this machine in the database");
    app.add_option("--virtual-hosts", raw.options.virtual_hosts,
                   "number of hosts that this machine acts as, to try slices: NAME, NAME-2, …; "
                   "each has --cores virtual cores, and they share its CPUs and its memory")
        ->check(CLI::Range(1, 256));
    add_pool_options(app, raw.options);
    app.add_option("--slice-address", raw.options.slice_address,
                   "address of this machine that the executors of a slice connect to; default: "
                   "the one from which it reaches the database");
    app.add_flag("--allow-public-slice-address", raw.options.allow_public_slice_address,
                 "permit a --slice-address that can be reached from the internet");
    app.add_option("--join-token-file", raw.join_token_file,
                   "file of mode 0600 with a join token, for a machine that was removed or is new; "
                   "or set SLIPWAY_JOIN_TOKEN");
    app.add_flag("--drain", raw.options.drain, "on shutdown, first let running jobs save and exit");
    app.add_option("--ready-file", raw.options.ready_file,
                   "file to which the address is written once the service is ready");
}

void add_cgroup(CLI::App& app, RawOptions& raw) {
    app.add_option("--cgroup", raw.options.cgroup,
                   "cgroup that limits the memory of executors: auto (the one that systemd gave "
                   "the service), off, or the folder of a cgroup that only this service uses");
}

void add_confinement(CLI::App& app, RawOptions& raw) {
    app.add_option("--confinement", raw.options.confinement,
                   "confinement of executors: best-effort (what this machine can enforce), "
                   "required (do not start unless all of it can be enforced), off")
        ->transform(CLI::CheckedTransformer(confinement_modes, CLI::ignore_case).description(""))
        ->type_name("WORD");
    app.add_option("--executor-user-base", raw.options.executor_user_base,
                   "as root, base of user ids: executors of project N run with base + N; the "
                   "60,000 ids from the base on must be unused")
        ->check(CLI::Range(1000U, 4'000'000'000U));
    add_cgroup(app, raw);
    app.add_option(
           "--job-memory-mib", raw.job_memory_mib,
           "memory for all jobs on this machine, in MiB; 0: nine tenths of the machine's memory")
        ->check(CLI::Range(0, 1 << 30));
}

void add_executors(CLI::App& app, RawOptions& raw) {
    app.add_option(
           "--executor-niceness", raw.options.executor_niceness,
           "nice value of executors relative to the service and its database; 0: the same priority")
        ->check(CLI::Range(0, 19));
    app.add_option("--warm-executors-s", raw.warm_s,
                   "seconds that an executor waits for another training attempt of the same "
                   "project and dataset; 0: each attempt has a process of its own")
        ->check(CLI::Range(0, 86400));
    app.add_option("--decoded-max-gib", raw.decoded_gib,
                   "maximum total size of the decoded datasets that executors of this machine "
                   "share, in GiB; 0: each executor decodes its own")
        ->check(CLI::Range(0, 1 << 20));
}

void add_listener(CLI::App& app, RawOptions& raw) {
    app.add_option("--host", raw.options.addresses, "address to listen on; can be repeated")
        ->allow_extra_args(false);
    app.add_option("--port", raw.options.port, "port to listen on; 0: any free port");
    app.add_option("--tls-cert", raw.options.certificate_file,
                   "PEM file with the certificate chain; enables https")
        ->check(CLI::ExistingFile);
    app.add_option("--tls-key", raw.options.private_key_file,
                   "PEM file with the key of the certificate")
        ->check(CLI::ExistingFile);
}

// Who may reach the service, and by which name.
void add_edge(CLI::App& app, RawOptions& raw) {
    app.add_flag("--insecure", raw.options.insecure,
                 "allow plain HTTP on addresses that other machines can reach; tokens can then be "
                 "read in transit");
    app.add_option("--trusted-proxy", raw.options.trusted_proxies,
                   "network whose X-Forwarded-For, -Proto and -Host headers are trusted, such as "
                   "10.0.0.0/8; can be repeated")
        ->allow_extra_args(false);
    app.add_option(
           "--webhook-allow", raw.options.webhook_allow,
           "private network whose addresses webhooks may use, such as 10.1.2.0/24; can be repeated")
        ->allow_extra_args(false);
    app.add_option(
           "--public-name", raw.options.public_names,
           "host name that the service answers for, besides that of this machine; can be repeated")
        ->allow_extra_args(false);
}

// What one client, or all of them, may take.
void add_limits(CLI::App& app, RawOptions& raw) {
    app.add_option("--buffered-bodies-max-mib", raw.buffered_bodies_mib,
                   "maximum memory for request bodies, in MiB")
        ->check(CLI::Range(32, 65536));
    app.add_option("--buffered-answers-max-mib", raw.buffered_answers_mib,
                   "maximum memory for large responses, in MiB")
        ->check(CLI::Range(64, 65536));
    const auto at_a_time = [&](const char* name, std::int64_t& limit, const char* text) {
        app.add_option(name, limit, text)
            ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
    };
    TenantLimits& limits = raw.options.limits;
    at_a_time("--queued-jobs-max", limits.queued_jobs,
              "maximum number of queued jobs per project and per token; 0: no limit");
    at_a_time("--checking-datasets-max", limits.checking_datasets,
              "maximum number of datasets waiting for their check, per project and per token; 0: "
              "no limit");
    at_a_time("--making-splits-max", limits.making_splits,
              "maximum number of splits being generated or waiting, per project and per token; 0: "
              "no limit");
    at_a_time("--active-sweeps-max", limits.active_sweeps,
              "maximum number of sweeps that have not ended, per project; 0: no limit");
    at_a_time("--projects-max", limits.projects,
              "maximum number of projects created by one token; 0: no limit");
    at_a_time("--members-max", limits.members,
              "maximum number of members per project; 0: no limit");
    at_a_time("--open-uploads-max", limits.open_uploads,
              "maximum number of open uploads per token; 0: no limit");
    at_a_time(
        "--tokens-max", limits.tokens,
        "maximum number of valid tokens created from one token, directly or not; 0: no limit");
    at_a_time("--requests-per-s", limits.requests_per_s,
              "maximum number of requests per second of one token, on average; 0: no limit");
    app.add_option("--webhooks-max", limits.webhooks, "maximum number of webhooks per project")
        ->check(CLI::Range(1, 1000));
    app.add_option("--webhook-log-days", raw.options.webhook_log_days,
                   "days to keep finished deliveries of webhooks")
        ->check(CLI::Range(1, 3650));
    app.add_option("--requests-burst", limits.requests_burst,
                   "maximum number of requests of one token at once")
        ->check(CLI::Range(1, 1'000'000'000));
    app.add_option("--audit-days", raw.options.audit_days, "days to keep entries of the audit log")
        ->check(CLI::Range(1, 36500));
    struct RetentionOption {
        store::RetainedKind kind;
        const char* flag;
        const char* text;
    };
    static constexpr RetentionOption retention_options[] = {
        {store::RetainedKind::events, "--events-days",
         "days to keep the events of ended jobs, except states and ends; default: forever"},
        {store::RetainedKind::logs, "--logs-days",
         "days to keep the log lines of ended jobs; default: forever"},
        {store::RetainedKind::metrics, "--metrics-days",
         "days to keep the metric points of ended jobs; default: forever"},
        {store::RetainedKind::checkpoints, "--checkpoints-days",
         "days to keep checkpoints of ended jobs, except the newest, the best, and those pinned or "
         "in use; default: forever"},
        {store::RetainedKind::jobs, "--jobs-days",
         "days to keep ended jobs and all their data; default: forever"}};
    for (const RetentionOption& one : retention_options)
        app.add_option(one.flag, raw.options.retention.of(one.kind), one.text)
            ->check(CLI::Range(1, 36500));
    app.add_option("--stored-max-gib", raw.stored_gib,
                   "maximum total size of uploads and their unpacked content, per project and per "
                   "token, in GiB; 0: no limit")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 30));
    app.add_option("--upload-max-gib", raw.upload_gib, "maximum size of an upload, in GiB")
        ->check(CLI::Range(1, 65536));
}

}    // namespace slipway
