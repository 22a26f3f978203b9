#include "scheduler/agent/remove_some.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "api/base/id.h"
#include "api/base/posix.h"

// The tree is made flat while it is removed: of each folder in the top one, files are removed and
// folders are moved up into the top one, until it is empty and goes. So no path is ever longer than
// two names, and every folder is moved once. A walk down the tree was what this replaces: full
// paths end at PATH_MAX, and a descriptor or a name for each level has no bound.
namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t name_bytes = 8;

struct CloseFolder {
    void operator()(DIR* folder) const { closedir(folder); }
};
using Listing = std::unique_ptr<DIR, CloseFolder>;

/// The entries of a folder but "." and "..", one a call; nullptr at the end.
const dirent* next_entry(const Listing& listing) {
    while (const dirent* entry = readdir(listing.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") return entry;
    }
    return nullptr;
}

Listing list(const UniqueFd& folder) {
    const int own = openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own < 0) return nullptr;
    Listing listing(fdopendir(own));    // owns it from here on
    if (!listing) close(own);
    return listing;
}

/// Opens a folder, no link, with the rights to change it.
UniqueFd open_folder(int parent, const char* name) {
    const UniqueFd found(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!found) return {};
    struct stat facts {};
    constexpr mode_t wanted = S_IRWXU;
    if (fstat(found.get(), &facts) == 0 && (facts.st_mode & wanted) != wanted) {
        // Through /proc, since fchmod does not take such a descriptor; it names what was opened.
        chmod(fmt::format("/proc/self/fd/{}", found.get()).c_str(), wanted);
    }
    return UniqueFd(openat(found.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

bool is_folder(int parent, const char* name) {
    struct stat facts {};
    return fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(facts.st_mode);
}

/// The steps of one call.
class Flattening {
public:
    Flattening(UniqueFd top, std::size_t steps_max) : top_(std::move(top)), left_(steps_max) {}

    /// True when the folder is empty.
    bool run() {
        // A listing may miss what was moved in meanwhile: again until one is empty.
        for (bool empty = false; !empty;) {
            const Listing listing = list(top_);
            if (!listing) return false;
            empty = true;
            while (const dirent* entry = next_entry(listing)) {
                empty = false;
                if (left_ == 0) return false;
                remove_entry(entry->d_name);
            }
        }
        return true;
    }

    bool has_changed() const { return changed_; }

private:
    void remove_entry(const char* name) {
        if (!is_folder(top_.get(), name)) {
            take_step(unlinkat(top_.get(), name, 0) == 0);
            return;
        }
        if (const UniqueFd folder = open_folder(top_.get(), name)) flatten(folder);
        if (left_ > 0) take_step(unlinkat(top_.get(), name, AT_REMOVEDIR) == 0);
    }

    void flatten(const UniqueFd& folder) {
        const Listing listing = list(folder);
        if (!listing) return;
        while (const dirent* entry = next_entry(listing)) {
            if (left_ == 0) return;
            const char* name = entry->d_name;
            if (!is_folder(folder.get(), name)) {
                take_step(unlinkat(folder.get(), name, 0) == 0);
            } else if (unlinkat(folder.get(), name, AT_REMOVEDIR) == 0) {
                take_step(true);
            } else {
                // To be moved, a folder must be writable itself: its ".." changes.
                const UniqueFd inner = open_folder(folder.get(), name);
                const std::string place = random_hex(name_bytes);
                take_step(renameat(folder.get(), name, top_.get(), place.c_str()) == 0);
            }
        }
    }

    void take_step(bool changed) {
        --left_;
        changed_ = changed_ || changed;
    }

    UniqueFd top_;
    std::size_t left_;
    bool changed_ = false;
};

// Twice, since a folder on the way may change places with one that holds the same names
// (exchange_folders): a walk that was in the first one finds its names gone.
bool is_gone_without_steps(const fs::path& path) {
    for (int walk = 0; walk < 2; ++walk)
        if (unlink(path.c_str()) == 0 || errno == ENOTDIR) return true;
    return errno == ENOENT;
}

}    // namespace

Removal remove_some(const fs::path& path, std::size_t entries_max) {
    if (is_gone_without_steps(path)) return Removal::done;
    UniqueFd top = open_folder(AT_FDCWD, path.c_str());
    if (!top) return Removal::stuck;
    Flattening flattening(std::move(top), entries_max);
    const bool empty = flattening.run();
    if (empty && rmdir(path.c_str()) == 0) return Removal::done;
    return flattening.has_changed() ? Removal::more : Removal::stuck;
}

}    // namespace slipway
