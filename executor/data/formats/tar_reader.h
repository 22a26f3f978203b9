#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/data/files.h"

namespace slipway {

/// The members of one tar file in order, gzipped or not.
class TarReader {
public:
    struct Member {
        std::string name;
        std::int64_t begin = 0;    ///< of its first byte in the file; of a gzipped one unpacked
        std::int64_t bytes = 0;
    };

    /// errors  DataError when it is empty or no tar
    TarReader(UniqueFd file, std::string name);
    ~TarReader();
    TarReader(TarReader&&) noexcept;
    TarReader& operator=(TarReader&&) noexcept;

    /// The next regular file, or false at the end.
    /// errors  throws DataError: damaged, truncated, or a member that is a link, a device or sparse
    bool next(Member& member);
    /// All of the member that next() gave; once.
    /// errors  throws DataError when it is damaged or truncated
    std::vector<std::byte> read();

    const std::string& file() const;
    bool gzipped() const;

private:
    struct State;    // libarchive's handle
    std::unique_ptr<State> state_;
};

}    // namespace slipway
