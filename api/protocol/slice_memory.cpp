// A memfd, not a file: whoever is killed leaves nothing behind, and no folder must be reachable for
// confined processes of several hosts. Its size is sealed: no limit of a confined process counts
// shared memory, so it may not grow, and a member that cut it off would end the others by SIGBUS.
#include "api/protocol/slice_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "api/base/error.h"

namespace slipway {

namespace {

constexpr std::int64_t member_bytes = std::int64_t{8} << 20;

}    // namespace

UniqueFd make_slice_memory(int members) {
    UniqueFd memory(memfd_create("slipway-slice", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (memory && ftruncate(memory.get(), members * member_bytes) == 0 &&
        fcntl(memory.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
        return memory;
    throw Error{errno == EMFILE || errno == ENFILE ? ErrorCode::exhausted : ErrorCode::unavailable,
                fmt::format("no memory can be shared by {} members of a slice: {}", members,
                            std::strerror(errno))};
}

}    // namespace slipway
