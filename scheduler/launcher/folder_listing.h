#pragma once

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <memory>
#include <string_view>

namespace slipway {

/// Of folders in one another, a walk of which holds a descriptor for each.
inline constexpr int nested_folders_max = 128;

struct CloseListing {
    void operator()(DIR* listing) const { closedir(listing); }
};
using FolderListing = std::unique_ptr<DIR, CloseListing>;

/// The entries of an open folder (O_PATH, too); nullptr with errno when it cannot be listed.
inline FolderListing list_folder(int folder) {
    const int own = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    FolderListing listing(own < 0 ? nullptr : fdopendir(own));    // owns it from here on
    if (!listing && own >= 0) close(own);
    return listing;
}

/// The next name but "." and ".."; nullptr at the end.
inline const char* next_name(const FolderListing& listing) {
    while (const dirent* entry = readdir(listing.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") return entry->d_name;
    }
    return nullptr;
}

}    // namespace slipway
