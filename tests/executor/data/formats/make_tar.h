#pragma once

#include <string>
#include <vector>

namespace slipway {

struct TarMember {
    std::string name;
    std::string content = {};
    char type = '0';    ///< '0' file, '1' hard link, '2' symbolic link, '5' folder
};

/// A tar file in the oldest POSIX form, written byte by byte.
std::string tar_file(const std::vector<TarMember>& members);

}    // namespace slipway
