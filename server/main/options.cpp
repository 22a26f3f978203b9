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
#include "api/base/version.h"
#include "server/main/check_options.h"
#include "server/main/database_address.h"
#include "server/main/launcher_options.h"
#include "server/main/option_groups.h"
#include "server/main/pool_options.h"
#include "server/main/print_config.h"
#include "server/main/raw_options.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

// The executor that was built with this program.
fs::path executor_beside_us() {
    std::error_code error;
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    return self.parent_path() / "slipway-executor";
}

// Everything that `serve` knows.
void add_serve(CLI::App& app, RawOptions& raw) {
    add_common(app, raw);
    add_log(app, raw);
    add_machine(app, raw);
    add_confinement(app, raw);
    add_executors(app, raw);
    add_launcher_options(app, raw.options);
    add_default_pool_options(app, raw.options);
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
void print_config(const CLI::App& app, const RawOptions& raw) {
    const Options& options = raw.options;
    const std::string text = config_text(
        app,
        {{"--log-level", word_of(log_levels, options.log_level)},
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

/// The main app's, whichever command of a command it is.
CLI::Option* config_of(const CLI::App& app) {
    const CLI::App* main = &app;
    while (main->get_parent() != nullptr)
        main = main->get_parent();
    return const_cast<CLI::App*>(main)->get_config_ptr();
}

CLI::App* add_command(CLI::App& app, RawOptions& raw, const char* name, const char* text,
                      Command command) {
    CLI::App* one = app.add_subcommand(name, text);
    one->callback([&raw, command] { raw.options.command = command; });
    // CLI11 reads the main app's file only, and once all words are read: hand it over before.
    one->add_option_function<std::string>(
           "--config",
           [config = config_of(app)](const std::string& file) { config->add_result(file); },
           config_help)
        ->trigger_on_parse()
        ->type_name("FILE");
    return one;
}

void add_agent(CLI::App& app, RawOptions& raw) {
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

void add_node(CLI::App& app, RawOptions& raw) {
    CLI::App* node = app.add_subcommand("node", "Check machines that are to run jobs");
    CLI::App* one = add_command(*node, raw, "check",
                                "Show whether this machine has what a host needs, with --launcher "
                                "slurm whether each node has; give it the options of the agent",
                                Command::node_check);
    add_common(*one, raw);
    add_machine(*one, raw);
    add_launcher_options(*one, raw.options);
    // What is missing is a row of the table.
    for (const char* option : {"--dataset-root", "--executor"})
        one->get_option(option)->get_validator(is_present)->active(false);
    node->require_subcommand(1);
}

void add_migrate(CLI::App& app, RawOptions& raw) {
    CLI::App* one =
        add_command(app, raw, "migrate",
                    "Migrate the schema of the database to that of this program", Command::migrate);
    add_common(*one, raw);
    CLI::Option* action =
        one->add_option("action", raw.options.migrate_action, "up (the default) or status")
            ->check(CLI::IsMember({"up", "status"}));
    one->add_flag_callback(
           "--down", [&raw] { raw.options.migrate_action = "down"; },
           "go back to the schema of the release before; data that it has no place for is lost")
        ->excludes(action);
    one->add_flag("!--no-dump", raw.options.migrate_dumps,
                  "do not dump the database before; for those who have made a backup");
}

void add_login_link(CLI::App& app, RawOptions& raw) {
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

void add_verify(CLI::App& app, RawOptions& raw) {
    CLI::App* one = add_command(app, raw, "verify",
                                "Check the consistency of the database; the service may be running",
                                Command::verify);
    add_common(*one, raw);
    one->add_flag("--files", raw.options.verify_files,
                  "also compare the files of the newest checkpoints that this machine has saved "
                  "with their SHA-256");
    one->add_option("--host-name", raw.options.host_name, "name of this machine in the database");
}

void add_backup(CLI::App& app, RawOptions& raw) {
    CLI::App* one = add_command(
        app, raw, "backup",
        "Copy the database and the store; the service may be running. Prints the backup's name",
        Command::backup);
    add_common(*one, raw);
    one->add_option("folder", raw.options.backup_folder,
                    "folder in which the backup is made, as slipway-TIME")
        ->required();
}

void add_restore(CLI::App& app, RawOptions& raw) {
    CLI::App* one =
        add_command(app, raw, "restore",
                    "Make a home folder, which must be new or empty, from a backup; starts no jobs",
                    Command::restore);
    add_common(*one, raw);
    one->add_option("backup", raw.options.backup_folder, "folder that slipwayd backup has printed")
        ->required();
}

void find_database(RawOptions& raw, std::span<const char* const> arguments,
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

Options finish(RawOptions raw) {
    Options options = std::move(raw.options);
    options.dataset_roots = resolved_roots(raw.dataset_roots);
    options.executor = raw.executor.empty() ? executor_beside_us() : fs::absolute(raw.executor);
    options.executor_grace = std::chrono::seconds{raw.grace_s};
    options.start_max = std::chrono::seconds{raw.start_max_s};
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
    return options;
}

}    // namespace

std::string machine_name() {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
    return name.data();
}

ParsedOptions parse_options(int argc, const char* const* argv) {
    RawOptions raw;
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
    add_node(app, raw);
    add_verify(app, raw);
    add_backup(app, raw);
    add_restore(app, raw);
    add_command(app, raw, "version", "Print the version", Command::version);
    app.set_version_flag("--version", version_text("slipwayd"), "Print the version and exit");
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
