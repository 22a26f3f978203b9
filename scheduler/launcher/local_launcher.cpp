#include "scheduler/launcher/local_launcher.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>

#include "api/base/error.h"
#include "scheduler/launcher/hand_over.h"
#include "scheduler/launcher/local_process.h"
#include "scheduler/launcher/private_folder.h"
#include "scheduler/launcher/share.h"

// prepare -> confine -> start. Folders change their owner before the process exists and never while
// it runs: each project has one user for good, so a job's next attempt, or another one of the
// project that runs beside it, finds its files its own. A user for each attempt was considered: the
// compile cache that attempts share, and checkpoints that go from one to the next, would have to
// change hands while somebody may hold them. Attempts of one project are kept apart by Landlock and
// the filter of system calls.
namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr uid_t executor_users_max = 60'000;    // as many as projects have numbers

/// A dataset that its owner lets a group read can be read through that group.
std::optional<gid_t> group_of_data(const std::vector<fs::path>& readable) {
    for (const fs::path& path : readable) {
        struct stat found {};
        if (stat(path.c_str(), &found) != 0) continue;
        const bool by_all = (found.st_mode & S_IROTH) != 0;
        const bool by_group = (found.st_mode & S_IRGRP) != 0;
        if (!by_all && by_group && found.st_gid != 0) return found.st_gid;
    }
    return std::nullopt;
}

/// An earlier version or a restored backup may have left it open. The executor cannot close it:
/// modes of files are not its own to change.
void close_to_others(const fs::path& path) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return;
    // Its own group may pass through to what is shared of it.
    if ((found.st_mode & 07777 & ~mode_t{S_IXGRP}) == 0700 || chmod(path.c_str(), 0700) == 0)
        return;
    throw Error{ErrorCode::unavailable,
                fmt::format("{} cannot be closed to others: {}", path.string(),
                            std::error_code(errno, std::generic_category()).message())};
}

}    // namespace

LocalLauncher::LocalLauncher(LauncherOptions options) : options_(std::move(options)) {}

std::unique_ptr<LaunchedProcess> LocalLauncher::launch(const LaunchRequest& request) const {
    SpawnLimits limits{.confinement = confine(request), .niceness = options_.niceness};
    ProgramStart start = request.process;
    const auto memory = request.member ? slice_memories_.take(*request.member) : nullptr;
    if (memory) start.slice_memory_fd = memory->get();
    if (!options_.cgroups || request.memory_bytes == 0)
        return std::make_unique<LocalProcess>(spawn(start, limits), fs::path(), options_.niceness);
    limits.cgroup = make_cgroup(options_.cgroups, request.name,
                                {.memory_bytes = request.memory_bytes + uncounted_bytes_max,
                                 .processes = options_.processes_max});
    try {
        return std::make_unique<LocalProcess>(spawn(start, limits), limits.cgroup,
                                              options_.niceness);
    } catch (const std::exception&) {
        remove_cgroup(limits.cgroup);
        throw;
    }
}

std::optional<Confinement> LocalLauncher::confine(const LaunchRequest& request) const {
    const std::vector<gid_t> groups = prepare(request);
    if (options_.confiner.empty()) return std::nullopt;
    Confinement made = confinement_of(request);
    made.shared_groups.insert(made.shared_groups.end(), groups.begin(), groups.end());
    return made;
}

std::unique_ptr<LaunchedProcess> LocalLauncher::adopt(const std::string& name,
                                                      const ProcessId& id) const {
    std::optional<RunningProcess> process = open_process(id);
    if (!process) return nullptr;
    return std::make_unique<LocalProcess>(*std::move(process), find_cgroup(name),
                                          options_.niceness);
}

bool LocalLauncher::end_left(const ProcessId& id) const {
    return end_session(id);
}

/// Empty when it has none.
fs::path LocalLauncher::find_cgroup(const std::string& name) const {
    if (!options_.cgroups) return {};
    fs::path group = cgroup_folder(options_.cgroups, name);
    std::error_code absent;
    return fs::is_directory(group, absent) ? group : fs::path();
}

std::string LocalLauncher::id_scope() const {
    // A file of /proc has no size of its own, so it is read as a stream.
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string boot;
    std::getline(file, boot);
    return boot;
}

void LocalLauncher::remove_left(Instant now) const {
    remove_left_cgroups(options_.cgroups, now);
}

std::optional<uid_t> LocalLauncher::user_of(const LaunchRequest& request) const {
    if (!options_.first_user) return std::nullopt;
    return uid_t(*options_.first_user + request.project_number);
}

/// The group that the user must join to read it; none: it is the user's own.
std::optional<gid_t> LocalLauncher::share(const fs::path& path, uid_t user) const {
    struct stat facts {};
    if (lstat(path.c_str(), &facts) != 0 || facts.st_uid == user) return std::nullopt;
    const uid_t first = *options_.first_user;
    if (facts.st_uid > first && facts.st_uid <= first + executor_users_max)
        return share_with_group(path);
    hand_over(S_ISDIR(facts.st_mode) ? path.parent_path() : path, user);
    return std::nullopt;
}

/// Returns the groups of what is shared.
std::vector<gid_t> LocalLauncher::prepare(const LaunchRequest& request) const {
    for (const fs::path& folder : request.writable)
        make_private_folder(folder);
    const std::optional<uid_t> user = user_of(request);
    for (const auto* paths : {&request.writable, &request.owned, &request.orders}) {
        for (const fs::path& path : *paths) {
            close_to_others(path);
            if (user && !options_.confiner.empty()) hand_over(path, *user);
        }
    }
    std::vector<gid_t> groups;
    if (!user || options_.confiner.empty()) return groups;
    for (const fs::path& path : request.shared)
        if (const auto group = share(path, *user)) groups.push_back(*group);
    return groups;
}

Confinement LocalLauncher::confinement_of(const LaunchRequest& request) const {
    Confinement made{
        .confiner = options_.confiner,
        .user = user_of(request),
        .shared_groups = {},
        .limits = {.memory_bytes = request.memory_bytes,
                   .file_bytes = options_.file_bytes_max,
                   .cpu_seconds = request.cpu_seconds},
        .paths = {.readable = request.readable, .executable = {}, .writable = request.writable}};
    made.socket_folder = request.socket_folder;
    made.connects = request.member.has_value();
    // Only a user of its own has no other processes to be counted.
    if (made.user) made.limits.processes = options_.processes_max;
    const auto group = made.user ? group_of_data(request.readable) : std::nullopt;
    if (group) made.shared_groups.push_back(*group);
    auto& readable = made.paths.readable;
    readable.insert(readable.end(), request.shared.begin(), request.shared.end());
    return made;
}

}    // namespace slipway
