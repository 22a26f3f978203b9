// What the store promises, looked at from outside: each promise is one statement that finds what
// breaks it, so a look beside a service that works sees one moment. A home folder whose service
// runs is read through the database that runs; else the database is started for the look.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "api/base/error.h"
#include "api/base/sha256.h"
#include "scheduler/agent/home_id.h"
#include "scheduler/artifacts/artifact_store.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/invariants.h"
#include "scheduler/store/stored_json.h"
#include "server/main/commands.h"
#include "server/main/found_database.h"
#include "server/main/home.h"

namespace slipway {
namespace {

constexpr std::chrono::minutes statement_timeout{30};    // histories of years are read whole
constexpr int violations_max = 20;                       // of one promise
constexpr int checkpoints_at_once = 500;

// What is wrong with a file of a checkpoint; empty: nothing.
std::string file_problem(const std::filesystem::path& folder, const Json& file) {
    const std::string name = file.value("name", "");
    try {
        const std::string digest = sha256_file(folder / name);
        if (digest == file.value("sha256", "")) return {};
        return fmt::format("{} has SHA-256 {}, not {}", name, digest, file.value("sha256", ""));
    } catch (const Error& error) {
        return error.what();
    }
}

// The host of --host-name, and all others that this machine is by its home folder
// (--virtual-hosts): each of them writes what its jobs save into this home.
std::set<std::string> hosts_here(store::Store& store, const Options& options) {
    std::set<std::string> names{options.host_name};
    const std::optional<std::string> id = find_home_id(home_folder(options.home));
    if (!id) return names;
    for (const store::Host& host : store::list_hosts(store))
        if (host.home == *id) names.insert(host.name);
    return names;
}

std::vector<store::Violation> damaged_checkpoints(store::Store& store, const std::string& host,
                                                  const ArtifactStore& artifacts) {
    std::vector<store::Violation> damaged;
    std::string after;
    while (std::ssize(damaged) < violations_max) {
        const auto newest = store::list_newest_checkpoints(store, host, after, checkpoints_at_once);
        for (const store::Checkpoint& checkpoint : newest) {
            after = checkpoint.job_id;
            const auto folder =
                artifacts.locate(Artifact::checkpoint, checkpoint.job_id, checkpoint.name);
            for (const Json& file : store::stored_json(checkpoint.files))
                if (std::string problem = file_problem(folder, file); !problem.empty())
                    damaged.push_back({checkpoint.id, std::move(problem)});
        }
        if (std::ssize(newest) < checkpoints_at_once) break;
    }
    return damaged;
}

std::vector<store::Violation> damaged_checkpoints(store::Store& store, const Options& options) {
    const ArtifactStore artifacts(home_folder(options.home));
    std::vector<store::Violation> damaged;
    for (const std::string& host : hosts_here(store, options))
        std::ranges::move(damaged_checkpoints(store, host, artifacts), std::back_inserter(damaged));
    return damaged;
}

// True: the promise is kept.
bool report(std::string_view name, std::string_view promise,
            const std::vector<store::Violation>& violations) {
    fmt::print("{:<4} {:<24} {}\n", violations.empty() ? "ok" : "NO", name, promise);
    for (const store::Violation& one : violations)
        fmt::print("     {}: {}\n", one.object, one.detail);
    if (std::ssize(violations) >= violations_max) fmt::print("     there may be more\n");
    return violations.empty();
}

}    // namespace

bool verify_database(const std::string& url, const Options& options) {
    store::Store store({.database = url, .statement_timeout = statement_timeout});
    bool kept = true;
    for (const store::Invariant& invariant : store::invariants())
        kept = report(invariant.name, invariant.promise,
                      store::find_violations(store, invariant, violations_max)) &&
               kept;
    if (options.verify_files)
        kept = report("newest_checkpoints",
                      "the newest checkpoint of each job of this machine has its files",
                      damaged_checkpoints(store, options)) &&
               kept;
    fmt::print("{}\n", kept ? "Every promise is kept." : "NO: some promises are broken.");
    return kept;
}

int verify(const Options& options) {
    const FoundDatabase database = find_database(options);
    return verify_database(database.url, options) ? 0 : 1;
}

}    // namespace slipway
