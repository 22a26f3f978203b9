#include "scheduler/launcher/confine/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include "api/base/error.h"
#include "api/base/posix.h"

// Version 2 and the memory controller of version 1 differ in names of files alone, which are tables
// here. In version 2 a cgroup that limits others has no process of its own, so the service must be
// in a sibling of those that it makes: that is what DelegateSubgroup= does. Moving ourselves into
// one was tried on paper and given up: systemd 252 cannot start the service again while executors
// live in a unit whose own cgroup may hold no process.
namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view folder_prefix = "slipway.";
constexpr std::chrono::seconds young{60};

/// One setting, by the name of its file in each version; a file that is absent is passed over
/// unless it is required.
struct Setting {
    const char* file;
    std::int64_t CgroupLimits::*value;    // nullptr: `text`
    const char* text;
    bool required;
};

/// In this order: version 1 refuses a limit with swap that is below the one without.
constexpr std::array settings_of_version_2{
    Setting{"memory.max", &CgroupLimits::memory_bytes, nullptr, true},
    Setting{"memory.swap.max", nullptr, "0", false},
    Setting{"memory.oom.group", nullptr, "1", false},
    Setting{"pids.max", &CgroupLimits::processes, nullptr, false},
};
constexpr std::array settings_of_version_1{
    Setting{"memory.limit_in_bytes", &CgroupLimits::memory_bytes, nullptr, true},
    Setting{"memory.memsw.limit_in_bytes", &CgroupLimits::memory_bytes, nullptr, false},
};
constexpr std::array counter_files{"memory.events", "memory.oom_control"};
constexpr std::array delegation_marks{"user.delegate", "trusted.delegate"};

std::string read_text(const fs::path& file) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return std::move(text).str();
}

bool has_word(const std::string& text, std::string_view word) {
    std::istringstream words(text);
    for (std::string each; words >> each;)
        if (each == word) return true;
    return false;
}

/// 0, or the system's reason. The kernel takes a value whole, in one call.
int write_value(const fs::path& file, const std::string& value) {
    const UniqueFd opened(open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!opened) return errno;
    return write(opened.get(), value.data(), value.size()) == ssize_t(value.size()) ? 0 : errno;
}

[[noreturn]] void fail(const fs::path& file, int reason) {
    throw Error{ErrorCode::unavailable, fmt::format("the cgroup's {} cannot be used: {}",
                                                    file.string(), std::strerror(reason))};
}

bool is_version_2(const fs::path& folder) {
    return fs::exists(folder / "cgroup.controllers");
}

std::optional<fs::path> mount_of_version_2(const fs::path& mounts) {
    std::ifstream file(mounts);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string device, place, kind;
        if (words >> device >> place >> kind && kind == "cgroup2") return place;
    }
    return std::nullopt;
}

std::optional<std::string> own_path_in_version_2(const fs::path& own) {
    constexpr std::string_view start = "0::";
    std::ifstream file(own);
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(start)) return line.substr(start.size());
    return std::nullopt;
}

bool is_delegated(const fs::path& folder) {
    return std::ranges::any_of(delegation_marks, [&folder](const char* mark) {
        char value = 0;
        return getxattr(folder.c_str(), mark, &value, 1) == 1 && value == '1';
    });
}

/// What keeps cgroups with limits from being made here; empty: nothing.
std::string problem_with(const fs::path& folder) {
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        return fmt::format("{} cannot be written: {}", folder.string(), std::strerror(errno));
    if (!is_version_2(folder)) {
        if (fs::exists(folder / "memory.limit_in_bytes")) return {};
        return fmt::format("{} is not a cgroup with a memory controller", folder.string());
    }
    if (!has_word(read_text(folder / "cgroup.controllers"), "memory"))
        return fmt::format("{} has no memory controller", folder.string());
    if (has_word(read_text(folder / "cgroup.subtree_control"), "memory")) return {};
    if (access((folder / "cgroup.subtree_control").c_str(), W_OK) != 0)
        return fmt::format("the controllers of {} cannot be set", folder.string());
    // Only the root, which has no type, may hold processes beside such cgroups.
    if (fs::exists(folder / "cgroup.type") && !read_text(folder / "cgroup.procs").empty())
        return fmt::format("{} holds processes itself", folder.string());
    return {};
}

CgroupTree find_delegated(const CgroupSources& sources) {
    constexpr const char* remedy =
        "run the service by systemd 254 or newer with Delegate=yes and DelegateSubgroup=service, "
        "or name a cgroup with --cgroup";
    const auto mount = mount_of_version_2(sources.mounts);
    const auto own = own_path_in_version_2(sources.own);
    if (!mount || !own) return {{}, fmt::format("the machine has no cgroup version 2; {}", remedy)};
    const fs::path folder =
        fs::path(mount->string() + fs::path(*own).parent_path().string()).lexically_normal();
    if (*own == "/" || !is_delegated(folder))
        return {{}, fmt::format("none was given to the service; {}", remedy)};
    const std::string problem = problem_with(folder);
    return problem.empty() ? CgroupTree{folder, {}} : CgroupTree{{}, problem};
}

/// Limits can be set in a cgroup once its parent passes the controllers on.
void pass_controllers_on(const fs::path& folder) {
    const fs::path file = folder / "cgroup.subtree_control";
    if (has_word(read_text(file), "memory")) return;
    if (const int reason = write_value(file, "+memory"); reason != 0) fail(file, reason);
    // Where processes are not counted, RLIMIT_NPROC is left.
    write_value(file, "+pids");
}

void set(const fs::path& group, const Setting& setting, const CgroupLimits& limits) {
    const fs::path file = group / setting.file;
    std::string value = setting.value == nullptr ? setting.text : "";
    if (setting.value != nullptr) {
        // A left-over cgroup may have another limit.
        if (limits.*setting.value <= 0 && !setting.required) return;
        if (limits.*setting.value > 0)
            value = fmt::to_string(limits.*setting.value);
        else
            value = is_version_2(group) ? "max" : "-1";
    }
    const int reason = write_value(file, value);
    if (reason != 0 && setting.required) fail(file, reason);
}

}    // namespace

CgroupTree find_cgroup_tree(const std::string& wanted, const CgroupSources& sources) {
    if (wanted == "off") return {{}, "--cgroup off"};
    if (wanted == "auto") return find_delegated(sources);
    const std::string problem = problem_with(wanted);
    if (problem.empty()) return {wanted, {}};
    throw Error{ErrorCode::invalid_argument,
                fmt::format("--cgroup {}: {}; name the folder of a cgroup that has a memory "
                            "controller, no process and no other user, or use auto or off",
                            wanted, problem)};
}

fs::path cgroup_folder(const CgroupTree& tree, std::string_view name) {
    std::string file(name);
    std::ranges::replace(file, '/', '.');
    return tree.folder / (std::string(folder_prefix) + file);
}

fs::path make_cgroup(const CgroupTree& tree, std::string_view name, const CgroupLimits& limits) {
    const fs::path group = cgroup_folder(tree, name);
    const bool version_2 = is_version_2(tree.folder);
    if (version_2) pass_controllers_on(tree.folder);
    if (mkdir(group.c_str(), 0755) != 0 && errno != EEXIST) fail(group, errno);
    if (version_2) {
        for (const Setting& setting : settings_of_version_2)
            set(group, setting, limits);
    } else {
        // A limit with swap that was left over may be below the new one without.
        write_value(group / "memory.memsw.limit_in_bytes", "-1");
        for (const Setting& setting : settings_of_version_1)
            set(group, setting, limits);
    }
    return group;
}

void enter_cgroup(const fs::path& group, std::int64_t pid) {
    const fs::path file = group / "cgroup.procs";
    if (const int reason = write_value(file, fmt::to_string(pid)); reason != 0) fail(file, reason);
}

std::int64_t out_of_memory_kills(const fs::path& group) {
    for (const char* name : counter_files) {
        std::ifstream file(group / name);
        std::string word;
        for (std::int64_t value = 0; file >> word >> value;)
            if (word == "oom_kill") return value;
    }
    return 0;
}

bool remove_cgroup(const fs::path& group) {
    return rmdir(group.c_str()) == 0 || errno == ENOENT;
}

void remove_left_cgroups(const CgroupTree& tree, Instant now) {
    if (!tree) return;
    std::error_code unreadable;
    std::vector<fs::path> left;
    for (const auto& entry : fs::directory_iterator(tree.folder, unreadable)) {
        struct stat facts {};
        if (!entry.path().filename().string().starts_with(folder_prefix) ||
            stat(entry.path().c_str(), &facts) != 0)
            continue;
        if (now.time_since_epoch() - std::chrono::seconds(facts.st_mtim.tv_sec) >= young)
            left.push_back(entry.path());
    }
    for (const fs::path& group : left)
        remove_cgroup(group);
}

}    // namespace slipway
