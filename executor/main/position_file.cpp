#include "executor/main/position_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>

#include "api/base/posix.h"

namespace slipway {

PositionFile::PositionFile(const std::filesystem::path& run_folder) {
    const UniqueFd file(open((run_folder / run_position_file).c_str(),
                             O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    // The blocks are there before they are written: a store to a hole of a full disk is a SIGBUS.
    // One that is there is of this program: it keeps its blocks.
    struct stat facts {};
    if (!file || fstat(file.get(), &facts) != 0) return;
    if (facts.st_size != sizeof(RunPosition) &&
        (ftruncate(file.get(), 0) != 0 || posix_fallocate(file.get(), 0, sizeof(RunPosition)) != 0))
        return;
    void* const place =
        mmap(nullptr, sizeof(RunPosition), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (place != MAP_FAILED) position_ = new (place) RunPosition{};
}

PositionFile::~PositionFile() {
    if (position_ != &unmapped_) munmap(position_, sizeof(RunPosition));
}

}    // namespace slipway
