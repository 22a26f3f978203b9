#include "scheduler/launcher/share.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "api/base/error.h"
#include "api/base/posix.h"
#include "scheduler/launcher/folder_listing.h"

// Why a group: a copy costs the disk a whole checkpoint, a hard link shares its owner, and access
// lists are not on every file system. The files of a project have the project's own group, so that
// its bits, which are empty otherwise, say who else may read.
namespace slipway {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const fs::path& path, const char* why) {
    throw Error{ErrorCode::unavailable,
                fmt::format("{} cannot be shared with another project: {}", path.string(), why)};
}

/// A file or folder; none when it is another kind, or gone.
UniqueFd open_entry(int parent, const char* name) {
    // Not blocking: somebody may have left a FIFO there.
    return UniqueFd(openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

void add_mode(const UniqueFd& entry, const struct stat& facts, mode_t more, const fs::path& path) {
    const mode_t mode = facts.st_mode & 07777;
    if ((mode & more) == more || fchmod(entry.get(), mode | more) == 0) return;
    refuse(path, std::strerror(errno));
}

void share_tree(const UniqueFd& entry, const struct stat& owner, const fs::path& path, int depth) {
    struct stat facts {};
    if (fstat(entry.get(), &facts) != 0) refuse(path, std::strerror(errno));
    if (facts.st_uid != owner.st_uid || facts.st_gid != owner.st_gid) return;
    if (S_ISREG(facts.st_mode)) add_mode(entry, facts, S_IRGRP, path);
    if (!S_ISDIR(facts.st_mode)) return;
    if (depth == nested_folders_max) refuse(path, "its folders are nested too deep");
    const FolderListing listing = list_folder(entry.get());
    if (!listing) refuse(path, std::strerror(errno));
    while (const char* name = next_name(listing)) {
        if (const UniqueFd inner = open_entry(dirfd(listing.get()), name))
            share_tree(inner, owner, path / name, depth + 1);
    }
    add_mode(entry, facts, S_IRGRP | S_IXGRP, path);
}

}    // namespace

gid_t share_with_group(const fs::path& path) {
    const fs::path folder = path.parent_path();
    const UniqueFd above = open_entry(AT_FDCWD, folder.c_str());
    struct stat folder_facts {};
    if (!above || fstat(above.get(), &folder_facts) != 0) refuse(folder, std::strerror(errno));
    const UniqueFd top = open_entry(above.get(), path.filename().c_str());
    struct stat facts {};
    if (!top || fstat(top.get(), &facts) != 0) refuse(path, std::strerror(errno));
    if (facts.st_gid != facts.st_uid) refuse(path, "its group is not its owner's alone");
    share_tree(top, facts, path, 0);
    // A folder of the service's own lets everybody pass through already.
    if (folder_facts.st_uid == facts.st_uid && folder_facts.st_gid == facts.st_gid)
        add_mode(above, folder_facts, S_IXGRP, folder);
    return facts.st_gid;
}

}    // namespace slipway
