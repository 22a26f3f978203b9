#include "scheduler/launcher/hand_over.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "api/base/error.h"
#include "api/base/posix.h"
#include "scheduler/launcher/folder_listing.h"

// Each entry is opened once, without following a link, and everything is done to that descriptor:
// what the name stands for later does not matter. A walk by paths was what this replaces; a folder
// that was replaced by a link between two steps led it out of the tree.
namespace slipway {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const fs::path& path, uid_t user, const char* why) {
    throw Error{ErrorCode::unavailable,
                fmt::format("{} cannot be given to user {}: {}", path.string(), user, why)};
}

/// None when it is gone.
UniqueFd open_entry(int parent, const char* name, const fs::path& path, uid_t user) {
    UniqueFd entry(openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!entry && errno != ENOENT) refuse(path, user, std::strerror(errno));
    return entry;
}

struct stat facts_of(const UniqueFd& entry, const fs::path& path, uid_t user) {
    struct stat facts {};
    if (fstat(entry.get(), &facts) != 0) refuse(path, user, std::strerror(errno));
    return facts;
}

void give(const UniqueFd& entry, const struct stat& facts, const fs::path& path, uid_t user) {
    if (facts.st_uid == user) return;
    if (S_ISREG(facts.st_mode) && facts.st_nlink > 1)
        refuse(path, user, "the file has another name, too (a hard link); copy it");
    if (S_ISBLK(facts.st_mode) || S_ISCHR(facts.st_mode)) refuse(path, user, "it is a device");
    if (fchownat(entry.get(), "", user, user, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0)
        refuse(path, user, std::strerror(errno));
}

void give_tree(const UniqueFd& entry, const fs::path& path, uid_t user, int depth) {
    const struct stat facts = facts_of(entry, path, user);
    if (S_ISDIR(facts.st_mode)) {
        if (depth == nested_folders_max) refuse(path, user, "its folders are nested too deep");
        const FolderListing listing = list_folder(entry.get());
        if (!listing) refuse(path, user, std::strerror(errno));
        while (const char* name = next_name(listing)) {
            const fs::path below = path / name;
            if (const UniqueFd inner = open_entry(dirfd(listing.get()), name, below, user))
                give_tree(inner, below, user, depth + 1);
        }
    }
    // What is below first: a walk that was cut short begins again.
    give(entry, facts, path, user);
}

}    // namespace

void hand_over(const fs::path& path, uid_t user) {
    const UniqueFd top = open_entry(AT_FDCWD, path.c_str(), path, user);
    if (!top || facts_of(top, path, user).st_uid == user) return;
    give_tree(top, path, user, 0);
}

}    // namespace slipway
