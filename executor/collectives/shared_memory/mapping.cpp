#include "executor/collectives/shared_memory/mapping.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

namespace slipway {

namespace {

/// What a file on a disk holds is written to it, and one of another machine is not seen at once.
bool is_memory(int descriptor) {
    struct statfs system {};
    return fstatfs(descriptor, &system) == 0 && system.f_type == TMPFS_MAGIC;
}

}    // namespace

SharedMapping::SharedMapping(int descriptor) {
    struct stat facts {};
    if (descriptor < 0 || fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) return;
    if (facts.st_size <= 0 || !is_memory(descriptor)) return;
    const auto size = std::size_t(facts.st_size);
    void* const begin = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (begin == MAP_FAILED) return;
    begin_ = {static_cast<std::byte*>(begin), Unmap{size}};
}

void SharedMapping::Unmap::operator()(std::byte* begin) const {
    munmap(begin, size);
}

}    // namespace slipway
