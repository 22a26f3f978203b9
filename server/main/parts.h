#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/agent/agent.h"
#include "scheduler/launcher/confine/features.h"
#include "scheduler/launcher/local_launcher.h"
#include "scheduler/maintenance/loop.h"
#include "scheduler/store/cluster/cluster.h"
#include "scheduler/store/store.h"
#include "server/main/home.h"
#include "server/main/options.h"
#include "server/routes/services.h"

namespace slipway {

/// The private cluster, when there is one, and the store on top of whichever database it is. The
/// schema is up to date when this exists. Destroyed in the reverse order: the cluster last.
struct Database {
    std::unique_ptr<store::Cluster> cluster;    ///< null with --database
    std::unique_ptr<store::Store> store;
    std::string url;
};
Database open_database(const Options& options, const Home& home);

/// Dumps the database into backups/ of the home folder and returns the file. It is kept.
/// errors  throws unavailable, as migrations::dump_database
std::filesystem::path dump_before_migration(const std::filesystem::path& home,
                                            const std::string& database);

/// How this machine's executors are confined.
LauncherOptions launcher_options(const Options& options);

/// What is enforced with these options; nothing with --confinement off.
std::vector<ConfinementFeature> enforced_features(const Options& options);

/// Says in the log what cannot be enforced.
/// errors  throws invalid_argument when --confinement required cannot be kept
void check_confinement(const Options& options);

/// The names of the hosts that this machine is: NAME, NAME-2, …, NAME-slurm, NAME-slurm-2, …
std::vector<std::string> host_names(const Options& options);
/// Of the first of them.
AgentOptions agent_options(const Options& options, const Home& home);
/// Of all of them.
std::vector<AgentOptions> agents_of(const Options& options, const Home& home);

/// The samples of agent and maintenance for /metrics.
std::vector<PrometheusSample> samples_of(const AgentCounts& agent,
                                         const MaintenanceCounts& maintenance);

/// Asks every attempt of this machine to save and end, and waits until they have or `limit` has
/// passed. The maintenance loop must have ended, or their jobs would start again at once.
void drain(store::Store& store, const std::vector<std::unique_ptr<Agent>>& agents,
           const std::vector<std::string>& hosts, std::chrono::seconds limit);

}    // namespace slipway
