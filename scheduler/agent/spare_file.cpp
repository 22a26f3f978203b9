#include "scheduler/agent/spare_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "api/base/posix.h"

namespace slipway {

bool write_over_spare(const std::filesystem::path& spare, const std::filesystem::path& path,
                      const std::string& text) {
    // Not cut off before: ext4 would write it to the disk at once when it is closed.
    const UniqueFd file(open(spare.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat facts {};
    return file && fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           facts.st_nlink == 1 && facts.st_size <= off_t(text.size()) &&
           pwrite(file.get(), text.data(), text.size(), 0) == ssize_t(text.size()) &&
           rename(spare.c_str(), path.c_str()) == 0;
}

}    // namespace slipway
