#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "api/base/posix.h"

namespace slipway {

/// The members of one zip file in the order of their data: stored or deflated, zip64 too. Names and
/// places come from the directory at its end; the checksum of a member that is read whole is
/// checked. A member inflates to at most 100 times the size of the file once that is over 64 MiB.
class ZipReader {
public:
    /// `name` is for messages.
    /// errors  DataError when it is empty or no zip
    ZipReader(UniqueFd file, std::string name);
    ~ZipReader();
    ZipReader(ZipReader&&) noexcept;
    ZipReader& operator=(ZipReader&&) noexcept;

    /// The name of the next regular file, or false at the end.
    /// errors  throws DataError: damaged, encrypted, a link, a name that is not UTF-8
    bool next(std::string& member);
    /// Fills `buffer` from the member that next() gave; fewer bytes than asked only at its end,
    /// after which its size and checksum have been compared.
    /// errors  throws DataError when it is damaged or inflates to too much
    std::size_t read(std::span<std::byte> buffer);

    const std::string& file() const;

private:
    struct State;    // libarchive's handle
    std::unique_ptr<State> state_;
};

}    // namespace slipway
