#include "scheduler/launcher/exchange_folders.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "api/base/error.h"
#include "api/base/posix.h"
#include "scheduler/launcher/folder_listing.h"

// Each file gets a second name below `fresh`, then the two folders change places in one step, then
// the first names go. Renaming the files one by one was the alternative: a checkpoint that is being
// downloaded would be absent for a moment, and what a collector removes in that moment would stay.
// Who removes a file meanwhile is followed: a first name that is gone takes the second one along.
//
// Somebody else may exchange the same folder: an attempt that was lost while its service stood
// still runs again, and a worker of another service has its folder. So the folder that is wanted is
// named by its inode, and the one that came back is looked at once more, since it may have changed
// between the look and the exchange.
namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr int exchanged_folders_max = 256;    // each holds two descriptors

[[noreturn]] void fail_exchange(const fs::path& path, int reason) {
    throw Error{ErrorCode::unavailable,
                fmt::format("{} cannot be replaced: {}", path.string(), std::strerror(reason))};
}

FolderId id_of(const UniqueFd& folder, const fs::path& path) {
    struct stat facts {};
    if (fstat(folder.get(), &facts) != 0) fail_exchange(path, errno);
    return {facts.st_dev, facts.st_ino};
}

UniqueFd open_top(const fs::path& path) {
    UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder) fail_exchange(path, errno);
    return folder;
}

[[noreturn]] void fail_other_folder(const fs::path& path) {
    throw Error{ErrorCode::unavailable,
                fmt::format("{} cannot be replaced: another folder stands there", path.string())};
}

bool is_empty_folder(const UniqueFd& folder, const fs::path& path) {
    const FolderListing listing = list_folder(folder.get());
    if (!listing) fail_exchange(path, errno);
    return next_name(listing) == nullptr;
}

/// A folder whose files have second names in another one.
struct LinkedFolder {
    std::string name;
    UniqueFd first;
    UniqueFd second;
    std::vector<std::string> files;
    std::vector<LinkedFolder> folders;
    std::vector<std::string> kept = {};    // they have no second name
};

class Exchange {
public:
    Exchange(const fs::path& fresh, const fs::path& target, std::span<const KeptFile> kept)
        : fresh_(fresh), target_(target), kept_(kept) {}

    void run(const std::optional<FolderId>& expected) {
        LinkedFolder top{{}, open_top(target_), open_top(fresh_), {}, {}};
        const FolderId taken = id_of(top.first, target_);
        if (expected && taken != *expected) fail_other_folder(target_);
        try {
            link_all(top, 0);
            exchange_names();
            if (folder_id(fresh_) != taken) {
                exchange_names();
                fail_other_folder(target_);
            }
        } catch (const Error&) {
            remove_second(top);
            throw;
        }
        remove_first(top);
    }

private:
    void exchange_names() const {
        if (renameat2(AT_FDCWD, fresh_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0)
            fail_exchange(target_, errno);
    }

    UniqueFd open_below(const UniqueFd& folder, const std::string& name) const {
        UniqueFd below(
            openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!below) fail_exchange(target_ / name, errno);
        return below;
    }

    /// All names, read before any of them changes.
    std::vector<std::string> names_in(const UniqueFd& folder) const {
        const FolderListing listing = list_folder(folder.get());
        if (!listing) fail_exchange(target_, errno);
        std::vector<std::string> names;
        while (const char* name = next_name(listing)) {
            if (names.size() == exchanged_entries_max) fail_exchange(target_, E2BIG);
            names.emplace_back(name);
        }
        return names;
    }

    void link_all(LinkedFolder& folder, int depth) {
        for (const std::string& name : names_in(folder.first)) {
            if (++entries_ > exchanged_entries_max) fail_exchange(target_, E2BIG);
            if (depth == 0 && is_kept(folder, name)) {
                folder.kept.push_back(name);
                continue;
            }
            if (linkat(folder.first.get(), name.c_str(), folder.second.get(), name.c_str(), 0) ==
                0) {
                folder.files.push_back(name);
            } else if (errno == EPERM) {    // what link says of a folder
                link_folder(folder, name, depth + 1);
            } else if (errno != ENOENT) {    // removed meanwhile
                fail_exchange(target_ / name, errno);
            }
        }
    }

    bool is_kept(const LinkedFolder& folder, const std::string& name) const {
        const auto found = std::ranges::find(kept_, name, &KeptFile::name);
        if (found == kept_.end()) return false;
        struct stat facts {};
        return fstatat(folder.first.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
               (S_ISREG(facts.st_mode) || S_ISSOCK(facts.st_mode)) &&
               (!found->when_empty || facts.st_size == 0);
    }

    void link_folder(LinkedFolder& above, const std::string& name, int depth) {
        if (depth == nested_folders_max || ++folders_ > exchanged_folders_max)
            fail_exchange(target_ / name, E2BIG);
        UniqueFd first = open_below(above.first, name);
        struct stat facts {};
        if (fstat(first.get(), &facts) != 0 || mkdirat(above.second.get(), name.c_str(), 0700) != 0)
            fail_exchange(fresh_ / name, errno);
        UniqueFd second = open_below(above.second, name);
        above.folders.push_back({name, std::move(first), std::move(second), {}, {}});
        LinkedFolder& made = above.folders.back();
        if ((facts.st_uid != geteuid() &&
             fchown(made.second.get(), facts.st_uid, facts.st_gid) != 0) ||
            fchmod(made.second.get(), facts.st_mode & 07777) != 0)
            fail_exchange(fresh_ / name, errno);
        link_all(made, depth);
    }

    static void remove_second(const LinkedFolder& folder) {
        for (const std::string& name : folder.files)
            unlinkat(folder.second.get(), name.c_str(), 0);
        for (const LinkedFolder& inner : folder.folders) {
            remove_second(inner);
            unlinkat(folder.second.get(), inner.name.c_str(), AT_REMOVEDIR);
        }
    }

    void remove_first(const LinkedFolder& folder) const {
        for (const std::string& name : folder.files) {
            if (unlinkat(folder.first.get(), name.c_str(), 0) == 0) continue;
            if (errno != ENOENT) fail_exchange(target_ / name, errno);
            unlinkat(folder.second.get(), name.c_str(), 0);
        }
        for (const LinkedFolder& inner : folder.folders) {
            remove_first(inner);
            const char* const name = inner.name.c_str();
            if (unlinkat(folder.first.get(), name, AT_REMOVEDIR) == 0) continue;
            if (errno != ENOENT) fail_exchange(target_ / name, errno);
            unlinkat(folder.second.get(), name, AT_REMOVEDIR);
        }
        // Made since the names were read.
        for (const std::string& name : names_in(folder.first)) {
            if (std::ranges::find(folder.kept, name) != folder.kept.end()) continue;
            if (renameat2(folder.first.get(), name.c_str(), folder.second.get(), name.c_str(),
                          RENAME_NOREPLACE) != 0 &&
                errno != ENOENT)
                fail_exchange(target_ / name, errno);
        }
    }

    const fs::path fresh_;
    const fs::path target_;
    const std::span<const KeptFile> kept_;
    int entries_ = 0;
    int folders_ = 0;
};

}    // namespace

FolderId folder_id(const fs::path& path) {
    return id_of(open_top(path), path);
}

bool move_folder(const fs::path& from, const fs::path& to) {
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
    if (errno != EEXIST) fail_exchange(to, errno);
    return false;
}

bool move_empty_folder(const fs::path& from, const fs::path& to, const FolderId& expected) {
    const UniqueFd folder = open_top(from);
    if (id_of(folder, from) != expected || !is_empty_folder(folder, from)) return false;
    if (!move_folder(from, to)) fail_exchange(to, EEXIST);
    if (folder_id(to) != expected) {
        move_folder(to, from);
        fail_other_folder(from);
    }
    if (!is_empty_folder(folder, from)) fail_exchange(from, ENOTEMPTY);
    return true;
}

void exchange_folders(const fs::path& fresh, const fs::path& target,
                      const std::optional<FolderId>& expected, std::span<const KeptFile> kept) {
    Exchange(fresh, target, kept).run(expected);
}

}    // namespace slipway
