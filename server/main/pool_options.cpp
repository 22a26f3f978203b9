#include "server/main/pool_options.h"

#include "api/spec/table/kinds.h"
#include "scheduler/store/host_pools.h"

namespace slipway {

namespace {

void check_name(const std::string& option, const std::string& name) {
    if (!plain_name.holds(name))
        throw CLI::ValidationError(
            option, "must be " + std::string(plain_name.wanted) + ", got \"" + name + "\"");
}

}    // namespace

void add_pool_options(CLI::App& app, Options& options) {
    app.add_option("--pool", options.pool,
                   "pool of this machine's hosts, which jobs may name as queue.pool; default: "
                   "local, or slurm with --launcher slurm");
    app.add_option("--slurm-hosts", options.slurm_hosts,
                   "number of hosts of the pool slurm that this machine acts as beside its own: "
                   "NAME-slurm, NAME-slurm-2, …; their attempts are jobs of Slurm")
        ->check(CLI::Range(0, 256));
}

void add_default_pool_option(CLI::App& app, Options& options) {
    app.add_option("--default-pool", options.default_pool,
                   "pool of jobs that name none, or any: all hosts; default: with --slurm-hosts "
                   "the pool of this machine's own hosts, otherwise any");
}

void check_pool_options(const Options& options) {
    if (!options.pool.empty()) check_name("--pool", options.pool);
    if (!options.default_pool.empty()) check_name("--default-pool", options.default_pool);
    if (options.pool == store::any_pool)
        throw CLI::ValidationError("--pool",
                                   "must not be \"any\": a job that names it runs on every host");
    if (options.slurm_hosts == 0) return;
    if (options.launcher == LauncherKind::slurm)
        throw CLI::ValidationError(
            "--slurm-hosts",
            "has no meaning with --launcher slurm: all hosts are Slurm's; use --virtual-hosts");
    if (options.pool == slurm_pool)
        throw CLI::ValidationError("--pool",
                                   "must not be \"slurm\" with --slurm-hosts, whose "
                                   "hosts are of that pool; choose another name");
}

std::string pool_of_hosts(const Options& options) {
    if (!options.pool.empty()) return options.pool;
    return options.launcher == LauncherKind::slurm ? slurm_pool : "local";
}

std::string default_pool_of(const Options& options) {
    if (options.default_pool == store::any_pool) return {};
    if (options.default_pool.empty() && options.slurm_hosts > 0) return pool_of_hosts(options);
    return options.default_pool;
}

}    // namespace slipway
