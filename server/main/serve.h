#pragma once

#include "server/main/options.h"
#include "server/main/signals.h"

namespace slipway {

/// Runs the service until it is asked to stop. Order of the start: home, cluster, schema, admin
/// token, agent, maintenance, HTTP; of the end: the reverse, the cluster last. Executors go on
/// after the end unless it was asked to drain. Returns the exit status; errors are thrown.
int serve(const Options& options, StopSignals& signals);

/// Runs only this machine's agent, on another service's database.
int run_agent(const Options& options, StopSignals& signals);

}    // namespace slipway
