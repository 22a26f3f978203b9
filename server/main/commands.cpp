#include "server/main/commands.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/version.h"
#include "api/client/service.h"
#include "migrations/migrate.h"
#include "scheduler/store/cluster/cluster.h"
#include "server/main/home.h"
#include "server/main/parts.h"

namespace slipway {
namespace {

// Of another's database nothing but its address is needed; of the private one the whole home.
struct MigrationTarget {
    std::unique_ptr<Home> home;
    std::unique_ptr<store::Cluster> cluster;
    std::string url;
};

MigrationTarget open_target(const Options& options) {
    MigrationTarget target;
    target.url = options.database;
    if (!target.url.empty()) return target;
    target.home = std::make_unique<Home>(home_folder(options.home));
    target.cluster = std::make_unique<store::Cluster>(
        store::ClusterOptions{.home = target.home->path(), .tools = {}});
    target.url = target.cluster->database_url();
    return target;
}

std::string service_url(const Options& options, const std::string& home) {
    const Options defaults;
    if (options.link_host.empty() && !options.link_port) {
        std::string kept = client::address_in(home);
        if (!kept.empty()) return kept;
    }
    const std::string host =
        options.link_host.empty() ? defaults.addresses.front() : options.link_host;
    return fmt::format("http://{}:{}", host, options.link_port.value_or(defaults.port));
}

void print_status(const std::string& url) {
    for (const migrations::Status& step : migrations::status(url)) {
        const std::string when = step.applied_at ? "applied " + to_rfc3339(*step.applied_at)
                                                 : std::string("not applied");
        fmt::print("{:04} {}: {}{}{}\n", step.number, step.name, when,
                   step.problem.empty() ? "" : "; ", step.problem);
    }
}

}    // namespace

int migrate(const Options& options) {
    const MigrationTarget target = open_target(options);
    const migrations::Backup backup = [&] {
        if (!options.migrate_dumps) return;
        const auto file = dump_before_migration(home_folder(options.home), target.url);
        fmt::print("dumped {}\n", file.string());
    };
    if (options.migrate_action == "up")
        for (const int number : migrations::up(target.url, backup))
            fmt::print("applied {:04}\n", number);
    if (options.migrate_action == "down")
        for (const int number : migrations::down(target.url, backup))
            fmt::print("reverted {:04}\n", number);
    print_status(target.url);
    return 0;
}

int print_login_link(const Options& options) {
    // The home folder's own service and token, whatever SLIPWAY_URL and SLIPWAY_TOKEN are for.
    const std::string home = home_folder(options.home).string();
    const client::HttpClient service =
        client::connect({.url = service_url(options, home),
                         .token = read_admin_token(home).value_or(""),
                         .home = home,
                         .certificate_authority = {}});
    const Json link = client::call(
        service, "POST", fmt::format("/v1/login-links?keep_s={}", options.link_keep.count()),
        Json::object());
    fmt::print("{}\n", link.at("url").get<std::string>());
    return 0;
}

int print_version() {
    fmt::print("{}\n", version_text("slipwayd"));
    return 0;
}

}    // namespace slipway
