#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace slipway::client {

/// The files of a folder as a tar archive that is never written down: any part of it can be read,
/// so that an upload goes on where it broke off without a copy of the data on this disk. The same
/// files give the same bytes: owners and times are left out, names are in order.
class FolderArchive {
public:
    /// Files whose name, or the name of a folder on the way, begins with a dot are left out.
    /// errors  throws Stop{usage} when it has no file, one that cannot be looked at, or a link to
    ///         anything but a file
    explicit FolderArchive(const std::filesystem::path& folder);

    std::uintmax_t bytes() const { return bytes_; }
    /// Relative to the folder, in the order of the archive.
    const std::vector<std::string>& names() const { return names_; }

    /// The bytes from `offset` on: as many as there are, at most `bytes_max`.
    /// errors  throws Stop{usage} when a file has another size than before
    std::string read(std::uintmax_t offset, std::size_t bytes_max) const;

private:
    struct Part {
        std::uintmax_t offset = 0;
        std::uintmax_t bytes = 0;
        std::string text = {};              // of a header or of padding
        std::filesystem::path file = {};    // else
    };
    void add_text(std::string text);
    void add_file(const std::string& name, const std::filesystem::path& file,
                  std::uintmax_t file_bytes);

    std::vector<Part> parts_;
    std::vector<std::string> names_;
    std::uintmax_t bytes_ = 0;
};

}    // namespace slipway::client
