#include "server/main/options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <istream>
#include <map>
#include <memory>
#include <span>

#include "api/base/error.h"
#include "api/base/sha256.h"
#include "server/http/network.h"
#include "server/http/outgoing.h"
#include "server/main/database_address.h"
#include "server/main/launcher_options.h"
#include "server/main/pool_options.h"
#include "server/main/print_config.h"
#include "server/main/secret_file.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, LogLevel> levels{{"debug", LogLevel::debug},
                                             {"info", LogLevel::info},
                                             {"warn", LogLevel::warn},
                                             {"error", LogLevel::error}};

const std::map<std::string, ConfinementMode> confinement_modes{
    {"off", ConfinementMode::off},
    {"best-effort", ConfinementMode::best_effort},
    {"required", ConfinementMode::required}};

// The executor that was built with this program.
fs::path executor_beside_us() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    return self.parent_path() / "slipway-executor";
}

// CLI11 reads into these; what it does not know of is brought into form afterwards.
struct Raw {
    Options options;
    std::vector<std::string> dataset_roots;
    std::string database_file;
    std::string join_token_file;
    std::string executor;
    std::int64_t grace_s = 60;
    std::int64_t warm_s = 60;
    std::int64_t decoded_gib = 32;
    std::int64_t job_memory_mib = 0;
    std::int64_t keep_s = 600;
    std::int64_t upload_gib = 16;
    std::int64_t stored_gib = 512;
    std::int64_t log_max_mib = 64;
    std::int64_t buffered_bodies_mib = 64;
    std::int64_t buffered_answers_mib = 256;
    int migrate_to = -1;
    bool print_config = false;
};

// The options of a command, in groups. A group's options stand in the configuration file under
// their long names, because every group of `serve` is the main app's too: that is where CLI11 puts
// what the file says, before the command's own options overwrite it.

void add_common(CLI::App& app, Raw& raw) {
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
        ->transform(CLI::CheckedTransformer(levels, CLI::ignore_case).description(""))
        ->type_name("WORD");
}

void add_log(CLI::App& app, Raw& raw) {
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

// Empty: it is one.
std::string problem_of_root(const std::string& text) {
    try {
        const DatasetRoot root = parse_dataset_root(text);
        std::error_code error;
        if (fs::is_directory(root.path, error)) return {};
        return fmt::format("there is no folder {}", root.path.string());
    } catch (const Error& error) {
        return error.what();
    }
}

void add_machine(CLI::App& app, Raw& raw) {
    app.add_option("--cores", raw.options.cores, "number of virtual cores on this machine")
        ->check(CLI::Range(1, 8));
    app.add_option("--dataset-root", raw.dataset_roots,
                   "folder whose subfolders may be datasets: DIR, of all projects; "
                   "PROJECT,PROJECT=DIR, of these projects only; can be repeated")
        ->allow_extra_args(false)
        ->check(problem_of_root);
    app.add_option("--executor", raw.executor, "path of slipway-executor")
        ->check(CLI::ExistingFile);
    app.add_option("--executor-grace-s", raw.grace_s,
                   "seconds without an agent after which an executor saves and exits")
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
                   "address of this machine that the executors of a slice connect to");
    app.add_flag("--allow-public-slice-address", raw.options.allow_public_slice_address,
                 "permit a --slice-address that can be reached from the internet");
    app.add_option("--join-token-file", raw.join_token_file,
                   "file of mode 0600 with a join token, for a machine that was removed or is new; "
                   "or set SLIPWAY_JOIN_TOKEN");
    app.add_flag("--drain", raw.options.drain, "on shutdown, first let running jobs save and exit");
    app.add_option("--ready-file", raw.options.ready_file,
                   "file to which the address is written once the service is ready");
}

void add_cgroup(CLI::App& app, Raw& raw) {
    app.add_option("--cgroup", raw.options.cgroup,
                   "cgroup that limits the memory of executors: auto (the one that systemd gave "
                   "the service), off, or the folder of a cgroup that only this service uses");
}

void add_confinement(CLI::App& app, Raw& raw) {
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

void add_executors(CLI::App& app, Raw& raw) {
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

void add_listener(CLI::App& app, Raw& raw) {
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
void add_edge(CLI::App& app, Raw& raw) {
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
void add_limits(CLI::App& app, Raw& raw) {
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

// Everything that `serve` knows.
void add_serve(CLI::App& app, Raw& raw) {
    add_common(app, raw);
    add_log(app, raw);
    add_machine(app, raw);
    add_confinement(app, raw);
    add_executors(app, raw);
    add_launcher_options(app, raw.options);
    add_default_pool_option(app, raw.options);
    add_listener(app, raw);
    add_edge(app, raw);
    add_limits(app, raw);
    app.add_flag("--print-config", raw.print_config,
                 "print all settings in the format of --config, and exit");
}

template <class E>
std::string word_of(const std::map<std::string, E>& words, E value) {
    for (const auto& [word, meaning] : words)
        if (meaning == value) return word;
    return {};
}

// As they are in effect: the main app's options have the same variables as those of `serve`.
void print_config(const CLI::App& app, const Raw& raw) {
    const Options& options = raw.options;
    const std::string text = config_text(
        app,
        {{"--log-level", word_of(levels, options.log_level)},
         {"--confinement", word_of(confinement_modes, options.confinement)},
         {"--log-format", options.log_format == LogFormat::json ? "json" : "text"},
         {"--launcher", launcher_word(options.launcher)},
         {"--insecure", options.insecure ? "true" : "false"},
         {"--drain", options.drain ? "true" : "false"}},
        {"--database"});    // a file or the environment may have given one with a password
    std::fputs(text.c_str(), stdout);
}

// CLI11's reader of TOML, with messages that say what may stand there.
class ConfigFile : public CLI::ConfigTOML {
public:
    explicit ConfigFile(const CLI::App& app) : app_(app) {}

    std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
        std::vector<CLI::ConfigItem> read = CLI::ConfigTOML::from_config(input);
        for (const CLI::ConfigItem& item : read)
            check_item(item);
        return read;
    }

private:
    void check_item(const CLI::ConfigItem& item) const {
        if (!item.parents.empty())
            throw CLI::ConfigError(fmt::format(
                "the configuration file has no sections: remove [{}]", item.parents.front()));
        if (app_.get_option_no_throw("--" + item.name) == nullptr)
            throw CLI::ConfigError(
                fmt::format("the configuration file has an unknown key, {}; the keys are the long "
                            "options of slipwayd serve --help",
                            item.name));
        if (item.inputs.empty() || item.inputs.front().empty())
            throw CLI::ConfigError(
                fmt::format("the configuration file gives {} no value", item.name));
    }

    const CLI::App& app_;    // outlives this: its config formatter
};

constexpr const char* config_help =
    "TOML file with the long options of serve as keys; the command line takes precedence";

CLI::App* add_command(CLI::App& app, Raw& raw, const char* name, const char* text,
                      Command command) {
    CLI::App* one = app.add_subcommand(name, text);
    one->callback([&raw, command] { raw.options.command = command; });
    // CLI11 reads the main app's file only, and once all words are read: hand it over before.
    one->add_option_function<std::string>(
           "--config",
           [config = app.get_config_ptr()](const std::string& file) { config->add_result(file); },
           config_help)
        ->trigger_on_parse()
        ->type_name("FILE");
    return one;
}

void add_agent(CLI::App& app, Raw& raw) {
    CLI::App* one = add_command(
        app, raw, "agent", "Add the cores of this machine to the service on the same --database",
        Command::agent);
    add_common(*one, raw);
    add_log(*one, raw);
    add_machine(*one, raw);
    add_confinement(*one, raw);
    add_executors(*one, raw);
    add_launcher_options(*one, raw.options);
}

void add_migrate(CLI::App& app, Raw& raw) {
    CLI::App* one = add_command(
        app, raw, "migrate", "Migrate the schema of the database to a version", Command::migrate);
    add_common(*one, raw);
    one->add_option("action", raw.options.migrate_action, "up, down or status")
        ->check(CLI::IsMember({"up", "down", "status"}));
    one->add_option("--to", raw.migrate_to, "target version; required for down")
        ->check(CLI::Range(0, 9999));
}

void add_login_link(CLI::App& app, Raw& raw) {
    CLI::App* one =
        add_command(app, raw, "login-link",
                    "Print a link that signs a browser in once; the service must be running",
                    Command::login_link);
    add_common(*one, raw);
    one->add_option("--host", raw.options.link_host,
                    "host of the service; default: that of the home folder");
    one->add_option("--port", raw.options.link_port,
                    "port of the service; default: that of the home folder");
    one->add_option("--keep-s", raw.keep_s, "seconds until the link expires")
        ->check(CLI::Range(60, 600));
}

void check_networks(const char* option, const std::vector<std::string>& networks) {
    for (const std::string& text : networks)
        try {
            parse_network(text);
        } catch (const Error& error) {
            throw CLI::ValidationError(option, error.what());
        }
}

void check_edge(const Options& options) {
    check_networks("--trusted-proxy", options.trusted_proxies);
    check_networks("--webhook-allow", options.webhook_allow);
    if (options.command != Command::serve || options.insecure || !options.certificate_file.empty())
        return;
    for (const std::string& address : options.addresses) {
        boost::system::error_code error;
        const auto parsed = boost::asio::ip::make_address(address, error);
        if (!error && !is_loopback(parsed))
            throw CLI::ValidationError(
                "--host", address +
                              " is reached by other machines, and plain HTTP shows them tokens: "
                              "give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a "
                              "proxy that speaks TLS, or say --insecure");
    }
}

void check_slice_address(const Options& options) {
    boost::system::error_code error;
    const auto parsed = boost::asio::ip::make_address(options.slice_address, error);
    if (error || parsed.is_unspecified())
        throw CLI::ValidationError("--slice-address",
                                   fmt::format("must be one address of this machine, as 10.0.0.5, "
                                               "got {}",
                                               options.slice_address));
    if (is_public(parsed) && !options.allow_public_slice_address)
        throw CLI::ValidationError(
            "--slice-address",
            options.slice_address +
                " is reached from the internet, and what executors of a slice send to each other "
                "is not encrypted: give a private address, or say --allow-public-slice-address");
}

void find_database(Raw& raw, std::span<const char* const> arguments,
                   std::vector<std::string> config_files) {
    const char* environment = std::getenv("SLIPWAY_DATABASE");
    try {
        raw.options.database = database_address({.given = raw.options.database,
                                                 .file = raw.database_file,
                                                 .environment = environment ? environment : "",
                                                 .arguments = arguments,
                                                 .config_files = std::move(config_files)});
    } catch (const Error& error) {
        throw CLI::ValidationError(std::string(error.what()));
    }
}

/// Never on the command line, which every user can read.
void find_join_token(Raw& raw) {
    constexpr std::size_t bytes_max = 256;
    const char* environment = std::getenv("SLIPWAY_JOIN_TOKEN");
    std::string text = environment != nullptr ? environment : "";
    try {
        if (!raw.join_token_file.empty())
            text = read_secret_file("--join-token-file", raw.join_token_file, bytes_max);
    } catch (const Error& error) {
        throw CLI::ValidationError(std::string(error.what()));
    }
    if (!text.empty() && !text.starts_with("slj_"))
        throw CLI::ValidationError(
            "the join token must begin with slj_: POST /v1/hosts/join-tokens creates one");
    if (!raw.join_token_file.empty() && text.empty())
        throw CLI::ValidationError("--join-token-file",
                                   raw.join_token_file + " holds no join token");
    if (!text.empty()) raw.options.join_token = sha256_hex(text);
}

std::vector<DatasetRoot> resolved_roots(const std::vector<std::string>& texts) {
    std::vector<DatasetRoot> roots;
    for (const std::string& text : texts) {
        DatasetRoot root = parse_dataset_root(text);
        root.path = fs::weakly_canonical(root.path);
        roots.push_back(std::move(root));
    }
    return roots;
}

void check_roots(const std::vector<DatasetRoot>& roots) {
    for (std::size_t i = 0; i < roots.size(); ++i)
        for (std::size_t other = 0; other < i; ++other)
            if (roots[i].path == roots[other].path)
                throw CLI::ValidationError(
                    "--dataset-root", fmt::format("{} is given twice; name all projects that it is "
                                                  "for in one, with commas between",
                                                  roots[i].path.string()));
}

// What can only be judged once the command line and the file are both read.
void check_together(const Raw& raw) {
    const Options& options = raw.options;
    if (options.migrate_action == "down" && raw.migrate_to < 0)
        throw CLI::RequiredError("migrate down needs --to, the version to go back to:");
    if (options.command == Command::agent && options.database.empty())
        throw CLI::RequiredError("agent needs --database or --database-file, the service's:");
    check_edge(options);
    check_slice_address(options);
    check_launcher_options(options);
    check_roots(resolved_roots(raw.dataset_roots));
    if (options.certificate_file.empty() != options.private_key_file.empty())
        throw CLI::ValidationError("--tls-cert and --tls-key", "only one of them is given");
}

Options finish(Raw raw) {
    Options options = std::move(raw.options);
    options.dataset_roots = resolved_roots(raw.dataset_roots);
    options.executor = raw.executor.empty() ? executor_beside_us() : fs::absolute(raw.executor);
    options.executor_grace = std::chrono::seconds{raw.grace_s};
    options.warm_executors = std::chrono::seconds{raw.warm_s};
    options.decoded_bytes_max = raw.decoded_gib << 30;
    options.job_memory_bytes = raw.job_memory_mib << 20;
    options.link_keep = std::chrono::seconds{raw.keep_s};
    options.limits.stored_bytes = raw.stored_gib << 30;
    options.upload_bytes_max = static_cast<std::uint64_t>(raw.upload_gib) << 30;
    options.buffered_body_bytes = static_cast<std::size_t>(raw.buffered_bodies_mib) << 20;
    options.buffered_answer_bytes = static_cast<std::size_t>(raw.buffered_answers_mib) << 20;
    options.log_bytes_max = static_cast<std::uint64_t>(raw.log_max_mib) << 20;
    if (options.host_name.empty()) options.host_name = machine_name();
    if (raw.migrate_to >= 0) options.migrate_to = raw.migrate_to;
    return options;
}

}    // namespace

std::string machine_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
    return name.data();
}

ParsedOptions parse_options(int argc, const char* const* argv) {
    Raw raw;
    CLI::App app("Slipway's service: the HTTP API, the scheduler and this machine's agent.",
                 "slipwayd");
    app.footer(
        "Without a command: serve. Exit codes: 0 stopped on request; 2 usage error or invalid "
        "setting; 3 home folder in use; 4 port, folder or database unavailable; 1 other error.");
    app.set_config("--config", "", config_help)->type_name("FILE");
    app.config_formatter(std::make_shared<ConfigFile>(app));
    app.allow_config_extras(CLI::config_extras_mode::error);
    add_serve(app, raw);
    add_serve(*add_command(app, raw, "serve", "Run the service (the default)", Command::serve),
              raw);
    add_agent(app, raw);
    add_migrate(app, raw);
    add_login_link(app, raw);
    CLI::App* doctor = add_command(app, raw, "doctor", "Show what this machine has and can enforce",
                                   Command::doctor);
    add_common(*doctor, raw);
    add_cgroup(*doctor, raw);
    add_launcher_options(*doctor, raw.options);
    CLI::App* verify = add_command(
        app, raw, "verify", "Check the consistency of the database; the service may be running",
        Command::verify);
    add_common(*verify, raw);
    verify->add_flag("--files", raw.options.verify_files,
                     "also compare the files of the newest checkpoints that this machine has saved "
                     "with their SHA-256");
    verify->add_option("--host-name", raw.options.host_name,
                       "name of this machine in the database");
    add_command(app, raw, "version", "Print the version", Command::version);
    app.require_subcommand(0, 1);
    try {
        app.parse(argc, argv);
        find_database(raw, {argv, static_cast<std::size_t>(argc)}, app.get_config_ptr()->results());
        find_join_token(raw);
        check_together(raw);
        if (raw.print_config) {
            print_config(app, raw);
            return {.options = std::nullopt, .exit_status = 0};
        }
    } catch (const CLI::ParseError& error) {
        return {.options = std::nullopt, .exit_status = app.exit(error) == 0 ? 0 : 2};
    }
    return {.options = finish(std::move(raw)), .exit_status = 0};
}

}    // namespace slipway
