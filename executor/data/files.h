#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/base/posix.h"

namespace slipway {

/// Files below one folder, and nothing else: a name that leads out of it (`..`, an absolute path,
/// a symbolic link) is refused by the kernel (openat2, RESOLVE_BENEATH) or, on kernels without it,
/// by comparing real paths. Constant after construction: safe from every thread.
class Folder {
public:
    /// errors  throws not_found when `path` is no folder
    explicit Folder(std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    /// Relative names of all regular files below, in the order of comes_before(); names that begin
    /// with a dot (and what is below such folders) are left out. Symbolic links to folders are not
    /// followed; their names are appended to `folder_links`.
    /// errors  throws exhausted over 10 million files, unavailable when a folder cannot be read
    std::vector<std::string> list(std::vector<std::string>* folder_links = nullptr) const;
    /// errors  throws DataError when missing, leading out of the folder or no regular file
    UniqueFd open(const std::string& name) const;
    /// The whole content.
    /// errors  throws DataError as above or when larger than `bytes_max`; unavailable
    std::vector<std::byte> read(const std::string& name, std::int64_t bytes_max) const;
    /// The first `bytes_max` bytes, or all of a shorter file.
    /// errors  as open(); unavailable
    std::vector<std::byte> read_beginning(const std::string& name, std::int64_t bytes_max) const;

private:
    std::filesystem::path path_;
    UniqueFd fd_;
};

/// What a report says of a link to a folder.
inline constexpr const char* folder_link_message =
    "it is a link to a folder, and such links are not followed; replace it by the folder";

/// The bytes of a file, gzipped or not: known by its content. A gzip file inflates to at most 100
/// times its size once that is over 64 MiB, as archives do: a table of nothing but zeros, small in
/// the folder, takes gigabytes when it is read.
class ByteStream {
public:
    /// `name` is for messages.
    ByteStream(UniqueFd file, std::string name);
    ~ByteStream();
    ByteStream(ByteStream&&) noexcept;
    ByteStream& operator=(ByteStream&&) noexcept;

    /// Fills `buffer` from the front; fewer bytes than asked only at the end of the file.
    /// errors  throws DataError with the byte for a damaged or truncated gzip file, and for one
    ///         that inflates to too much
    std::size_t read(std::span<std::byte> buffer);
    const std::string& name() const { return name_; }

private:
    struct State;    // zlib's handle
    std::string name_;
    std::unique_ptr<State> state_;
};

}    // namespace slipway
