#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "scheduler/store/host_pools.h"
#include "server/main/options.h"

namespace slipway {

/// Adds the options that say which pools this machine's hosts are of.
void add_pool_options(CLI::App& app, Options& options);
/// Adds those that say where jobs run that name no pool, and for how long that state no limit.
void add_default_pool_options(CLI::App& app, Options& options);

/// errors  throws CLI::ValidationError for names that no pool can have, and for hosts of Slurm
///         where all hosts are Slurm's
void check_pool_options(const Options& options);

/// The pool of the hosts that --virtual-hosts counts.
std::string pool_of_hosts(const Options& options);

/// Of jobs that state no limit of time. errors  throws CLI::ValidationError
store::TimeLimits time_limits_of(const Options& options);

/// The pool of jobs that name none; empty: any.
std::string default_pool_of(const Options& options);

}    // namespace slipway
