// Each check does what an attempt would do there. Its message names what is missing in the terms of
// an operator that mounts folders. A node of Slurm is checked by this program itself, which srun
// runs there: it sees what a job sees. Such a node needs no database.
#include "server/main/node_check.h"

#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>

#include "api/base/error.h"
#include "api/base/id.h"
#include "api/base/posix.h"
#include "api/base/version.h"
#include "scheduler/artifacts/artifact_store.h"
#include "scheduler/launcher/node_link/announcement.h"
#include "scheduler/launcher/node_link/tcp.h"
#include "scheduler/launcher/slurm/cluster.h"
#include "scheduler/launcher/slurm/command.h"
#include "scheduler/store/hosts.h"
#include "server/main/commands.h"
#include "server/main/home.h"
#include "server/main/host_checks.h"
#include "server/main/launcher_options.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr double clock_difference_max_s = 2;
constexpr std::size_t probe_name_bytes = 8;
constexpr int connect_max_ms = 3000;
constexpr std::chrono::seconds start_max{30};
constexpr std::chrono::seconds node_max{60};

std::string reason() {
    return std::strerror(errno);
}

std::string user_name(uid_t user) {
    const passwd* found = getpwuid(user);
    return found == nullptr ? fmt::format("{}", user)
                            : fmt::format("{} ({})", found->pw_name, user);
}

Finding check_folder(const std::string& name, const fs::path& folder, int rights,
                     const std::string& advice) {
    if (access(folder.c_str(), rights) == 0) return {name, true, folder.string()};
    return {name, false, fmt::format("{}: {}; {}", folder.string(), reason(), advice)};
}

Finding check_store(const fs::path& home) {
    const fs::path store = ArtifactStore(home).shared_folder();
    Finding finding = check_folder("store", store, R_OK | W_OK | X_OK,
                                   "mount the store of the service there, or make it a link to it");
    if (finding.good && access((store / "store.id").c_str(), R_OK) != 0)
        return {"store", false,
                fmt::format("{} has no readable file store.id, so it is not the store of the "
                            "service: mount that there, or make it a link to it",
                            store.string())};
    return finding;
}

Finding check_root(const DatasetRoot& root) {
    Finding finding = check_folder("dataset root", root.path, R_OK | X_OK, "mount it there");
    std::error_code problem;
    if (finding.good && fs::is_empty(root.path, problem))
        return {"dataset root", false, root.path.string() + " is empty; is it mounted?"};
    return finding;
}

Finding check_program(const Options& options) {
    const std::string program = options.executor.string();
    if (access(program.c_str(), X_OK) != 0) return {"programs", false, program + ": " + reason()};
    try {
        const CommandResult said = run_command({program, "version"});
        const std::string wanted = fmt::format("slipway-executor {}", release_version());
        const std::string found = said.output.substr(0, said.output.find('\n'));
        const bool same = found == wanted;
        return {"programs", said.good() && same,
                same ? found
                     : fmt::format("{} says \"{}\" in place of \"{}\": install one release",
                                   program, found, wanted)};
    } catch (const Error& error) {
        return {"programs", false, error.what()};
    }
}

Finding check_user(const fs::path& home) {
    struct stat facts {};
    if (stat(home.c_str(), &facts) != 0) return {"user", true, user_name(geteuid())};
    const bool owns = facts.st_uid == geteuid() || geteuid() == 0;
    return {"user", owns,
            owns ? user_name(geteuid())
                 : fmt::format("{}, and the home folder belongs to {}: run slipwayd as the same "
                               "user, with the same number, on all machines",
                               user_name(geteuid()), user_name(facts.st_uid))};
}

/// Removed when it ends.
struct Probe {
    explicit Probe(const fs::path& folder)
        : path(folder / fmt::format("probe.{}", random_hex(probe_name_bytes))) {}
    ~Probe() { unlink(path.c_str()); }
    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;
    const fs::path path;
};

Finding check_locks(const fs::path& folder) {
    const Probe probe(folder);
    const auto open_it = [&] {
        return UniqueFd(open(probe.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    };
    const UniqueFd first = open_it();
    if (!first) return {"locks", false, fmt::format("{}: {}", folder.string(), reason())};
    if (flock(first.get(), LOCK_EX | LOCK_NB) != 0)
        return {"locks", false,
                fmt::format("flock fails in {}: {}; mount it with locks (NFS 4, no nolock)",
                            folder.string(), reason())};
    const UniqueFd second = open_it();
    const bool excluded = flock(second.get(), LOCK_EX | LOCK_NB) != 0;
    return {"locks", excluded,
            excluded
                ? "flock works in " + folder.string()
                : fmt::format("flock has no effect in {}: mount it with locks", folder.string())};
}

Finding check_sockets(const fs::path& folder) {
    const Probe probe(folder);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (probe.path.string().size() >= sizeof address.sun_path)
        return {"sockets", false, folder.string() + " is too long for the path of a Unix socket"};
    std::memcpy(address.sun_path, probe.path.c_str(), probe.path.string().size());
    const UniqueFd socket_file(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (bind(socket_file.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return {"sockets", false,
                fmt::format("no Unix socket can be made in {}: {}", folder.string(), reason())};
    return {"sockets", true, "Unix sockets work in " + folder.string()};
}

Finding check_database(store::Store& store) {
    const Instant before = system_clock().now();
    const store::DatabaseClient client = store::find_client(store);
    const Instant middle = before + (system_clock().now() - before) / 2;
    const double difference = std::chrono::duration<double>(middle - client.now).count();
    const bool good = std::abs(difference) <= clock_difference_max_s;
    return {"clock", good,
            fmt::format("{:+.3f} s from the database's{}", difference,
                        good ? "" : "; set both by NTP")};
}

Finding check_address(const Options& options, store::Store& store) {
    const std::string address = with_slice_address(options, store).slice_address;
    const bool is_local = address.starts_with("127.") || address == "::1";
    return {"slice address", !is_local,
            is_local ? address +
                           " is reached from this machine only: slices with other machines "
                           "need --slice-address"
                     : address,
            false};
}

/// The way to the service, for nodes of Slurm on other machines.
std::vector<Finding> check_service(const fs::path& home) {
    const auto service = read_announcement(home / "slurm" / "listener.json");
    if (!service) return {};
    const std::string where = fmt::format("{} port {}", service->address, service->port);
    const auto connection = begin_connect(service->address, service->port);
    if (!connection) return {{"service", false, "there is no way to " + where}};
    pollfd ready{connection->get(), POLLOUT, 0};
    if (poll(&ready, 1, connect_max_ms) != 1)
        return {{"service", false, "no answer from " + where + "; is there a firewall?"}};
    const int problem = connect_problem(*connection);
    return {{"service", problem == 0,
             problem == 0 ? fmt::format("{}, from {}", where, address_towards(service->address))
                          : fmt::format("{}: {}", where, std::strerror(problem))}};
}

std::string this_program() {
    std::error_code unknown;
    return fs::read_symlink("/proc/self/exe", unknown).string();
}

/// By this program as a task there, with what it says.
bool check_slurm_node(const Options& options, const std::string& node) {
    std::vector<std::string> words{"srun", "--nodes=1", "--ntasks=1", "--nodelist=" + node,
                                   "--mpi=none", "--export=ALL", "--chdir=/", "--input=none",
                                   // Else a request that is given up stays in Slurm's queue.
                                   fmt::format("--immediate={}", start_max.count())};
    if (!options.slurm_partition.empty()) words.push_back("--partition=" + options.slurm_partition);
    words.insert(words.end(),
                 {this_program(), "node", "check", "--home", home_folder(options.home).string(),
                  "--executor", options.executor.string()});
    for (const DatasetRoot& root : options.dataset_roots)
        words.insert(words.end(), {"--dataset-root", root.path.string()});
    const CommandResult result = run_command(words, {.limit = node_max});
    fmt::print("node {}\n{}", node, result.output);
    if (result.timed_out)
        fmt::print("NO   srun           no answer within {} s: is the node busy or down?\n",
                   node_max.count());
    else if (!result.good() && result.output.empty())
        fmt::print("NO   srun           {}\n", result.error.substr(0, result.error.find('\n')));
    return result.good();
}

bool check_slurm_nodes(const Options& options) {
    bool good = true;
    for (const ClusterNode& node : cluster_nodes(options.slurm_partition))
        good = check_slurm_node(options, node.name) && good;
    return good;
}

}    // namespace

std::vector<Finding> node_findings(const Options& options, store::Store* store) {
    const fs::path home = home_folder(options.home);
    std::vector<Finding> findings{
        check_folder("home", home, R_OK | W_OK | X_OK, "make it, for the user of slipwayd"),
        check_store(home), check_program(options), check_user(home)};
    for (const DatasetRoot& root : options.dataset_roots)
        findings.push_back(check_root(root));
    if (findings.front().good) {
        findings.push_back(check_locks(home));
        findings.push_back(check_sockets(home));
    }
    for (Finding& finding : check_service(home))
        findings.push_back(std::move(finding));
    if (store == nullptr) return findings;
    findings.push_back(check_database(*store));
    findings.push_back(check_address(options, *store));
    return findings;
}

int check_node(const Options& options) {
    if (uses_slurm(options)) return check_slurm_nodes(options) ? 0 : 1;
    if (options.database.empty()) return print_findings(node_findings(options, nullptr)) ? 0 : 1;
    try {
        const Database database = open_service_database(options);
        return print_findings(node_findings(options, database.store.get())) ? 0 : 1;
    } catch (const Error& error) {
        std::vector<Finding> findings = node_findings(options, nullptr);
        findings.push_back({"database", false, error.what()});
        print_findings(findings);
        return 1;
    }
}

}    // namespace slipway
