#include "server/main/pool_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/spec/table/kinds.h"

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

void add_default_pool_options(CLI::App& app, Options& options) {
    app.add_option("--default-pool", options.default_pool,
                   "pool of jobs that name none, or any: all hosts; default: with --slurm-hosts "
                   "the pool of this machine's own hosts, otherwise any");
    app.add_option("--pool-max-wall-s", options.time_limits,
                   "POOL=SECONDS: limits.max_wall_s of jobs of the pool that state no limit of "
                   "time; any=SECONDS: of jobs that run on all hosts; can be repeated; default: "
                   "no limit")
        ->allow_extra_args(false);
}

void check_pool_options(const Options& options) {
    if (!options.pool.empty()) check_name("--pool", options.pool);
    if (!options.default_pool.empty()) check_name("--default-pool", options.default_pool);
    time_limits_of(options);
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

store::TimeLimits time_limits_of(const Options& options) {
    const std::string option = "--pool-max-wall-s";
    const Integer seconds_kind{.min = 1, .max = 3'200'000'000};
    store::TimeLimits limits;
    for (const std::string& text : options.time_limits) {
        const std::size_t equals = std::min(text.find('='), text.size());
        const std::string pool = text.substr(0, equals);
        check_name(option, pool);
        std::int64_t seconds = 0;
        const char* const begin = text.data() + std::min(equals + 1, text.size());
        const char* const end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(begin, end, seconds);
        if (error != std::errc{} || rest != end || seconds < seconds_kind.min ||
            seconds > seconds_kind.max)
            throw CLI::ValidationError(option,
                                       fmt::format("must be POOL=SECONDS, with {}, got \"{}\"",
                                                   seconds_kind.wanted(), text));
        if (!limits.emplace(pool, double(seconds)).second)
            throw CLI::ValidationError(option, pool + " is given twice");
    }
    return limits;
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
