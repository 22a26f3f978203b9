#include "server/main/launcher_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cctype>
#include <map>
#include <utility>

#include "api/base/error.h"
#include "scheduler/launcher/slurm/batch.h"
#include "server/http/outgoing.h"
#include "server/main/pool_options.h"

namespace slipway {

namespace {

const std::map<std::string, LauncherKind> kinds{{"local", LauncherKind::local},
                                                {"slurm", LauncherKind::slurm}};

bool is_partition_name(const std::string& name) {
    return std::ranges::all_of(name, [](unsigned char letter) {
        return std::isalnum(letter) != 0 || letter == '_' || letter == '-' || letter == '.' ||
               letter == ',';
    });
}

void check_address(const Options& options) {
    if (options.slurm_address.empty()) {
        if (options.slurm_port != 0)
            throw CLI::ValidationError("--slurm-port", "has a meaning with --slurm-address only");
        return;
    }
    boost::system::error_code error;
    const auto parsed = boost::asio::ip::make_address(options.slurm_address, error);
    if (error || parsed.is_unspecified())
        throw CLI::ValidationError(
            "--slurm-address",
            fmt::format("must be one address of this machine, as 10.0.0.5, got {}",
                        options.slurm_address));
    if (is_public(parsed) && !options.allow_public_slurm_address)
        throw CLI::ValidationError(
            "--slurm-address",
            options.slurm_address +
                " is reached from the internet: give an address in the network of the nodes, or "
                "say --allow-public-slurm-address");
}

}    // namespace

void add_launcher_options(CLI::App& app, Options& options) {
    app.add_option("--launcher", options.launcher,
                   "how attempts of jobs are run: local, as processes of this machine; slurm, as "
                   "jobs of Slurm on the nodes that it chooses")
        ->transform(CLI::CheckedTransformer(kinds, CLI::ignore_case).description(""))
        ->type_name("WORD");
    app.add_option("--slurm-partition", options.slurm_partition,
                   "Slurm partition to submit to; default: Slurm's own default");
    app.add_option(
        "--slurm-options", options.slurm_options,
        "additional options of sbatch for every job, such as \"--account=ml --qos=low\"");
    app.add_option("--slurm-address", options.slurm_address,
                   "address of this machine that the nodes of Slurm connect to; default: all nodes "
                   "are on this machine");
    app.add_option("--slurm-port", options.slurm_port,
                   "port at --slurm-address; 0: one that the system chooses at each start")
        ->check(CLI::Range(0, 65535));
    app.add_flag("--allow-public-slurm-address", options.allow_public_slurm_address,
                 "permit a --slurm-address that can be reached from the internet");
}

std::string launcher_word(LauncherKind kind) {
    return kind == LauncherKind::slurm ? "slurm" : "local";
}

void check_launcher_options(const Options& options) {
    if (!is_partition_name(options.slurm_partition))
        throw CLI::ValidationError(
            "--slurm-partition",
            "must have letters, digits and ._-, only, got \"" + options.slurm_partition + "\"");
    try {
        parse_batch_options(options.slurm_options);
    } catch (const Error& error) {
        throw CLI::ValidationError("--slurm-options", error.what());
    }
    check_pool_options(options);
    check_address(options);
    if (uses_slurm(options)) return;
    for (const auto& [name, given] : {std::pair{"--slurm-partition", &options.slurm_partition},
                                      std::pair{"--slurm-options", &options.slurm_options},
                                      std::pair{"--slurm-address", &options.slurm_address}})
        if (!given->empty())
            throw CLI::ValidationError(
                name, "has a meaning with --launcher slurm and --slurm-hosts only");
}

bool uses_slurm(const Options& options) {
    return options.launcher == LauncherKind::slurm || options.slurm_hosts > 0;
}

}    // namespace slipway
