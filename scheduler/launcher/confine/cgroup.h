#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "api/base/clock.h"

namespace slipway {

/// A cgroup below which this service makes one for each process that it starts.
struct CgroupTree {
    std::filesystem::path folder;    ///< empty: there is none
    std::string missing;             ///< why there is none, and what would give one

    explicit operator bool() const { return !folder.empty(); }
};

/// Where the kernel says which cgroups there are.
struct CgroupSources {
    std::filesystem::path own = "/proc/self/cgroup";
    std::filesystem::path mounts = "/proc/self/mounts";
};

/// The tree that this service may use. `wanted` is "off", the folder of a cgroup that is this
/// service's alone, or "auto": the one that the system gave to it, which is the parent of its own
/// when that is marked as delegated (Delegate= and DelegateSubgroup= of systemd). What is not
/// delegated belongs to whoever manages the machine's processes, whether it can be written or not.
/// Asks the kernel, changes nothing.
/// errors  throws invalid_argument when a folder is named that cannot be used
CgroupTree find_cgroup_tree(const std::string& wanted, const CgroupSources& sources = {});

struct CgroupLimits {
    std::int64_t memory_bytes = 0;    ///< 0: no limit
    std::int64_t processes = 0;       ///< threads too; 0: no limit; where the tree counts them
};

/// Makes the cgroup `name` (job_…/2, ds_…) with these limits; one that was left over is used again.
/// errors  throws unavailable with the file and the system's reason
std::filesystem::path make_cgroup(const CgroupTree& tree, std::string_view name,
                                  const CgroupLimits& limits);

/// Where make_cgroup() makes it.
std::filesystem::path cgroup_folder(const CgroupTree& tree, std::string_view name);

/// Moves a process of one thread into the cgroup.
/// errors  throws unavailable
void enter_cgroup(const std::filesystem::path& group, std::int64_t pid);

/// How often the kernel has ended a process of the cgroup because its memory was used up.
std::int64_t out_of_memory_kills(const std::filesystem::path& group);

/// False: something lives in it. A cgroup that is gone counts as removed.
bool remove_cgroup(const std::filesystem::path& group);

/// Removes the cgroups of make_cgroup() in which nothing lives and that are older than a minute:
/// what a killed service left. Younger ones may be about to get their process.
void remove_left_cgroups(const CgroupTree& tree, Instant now);

}    // namespace slipway
