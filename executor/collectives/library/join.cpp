// Gloo is in a library of its own, which is loaded by an attempt on several hosts alone: with it
// come the libraries of InfiniBand and Redis, which every other executor would start and keep in
// memory for nothing. As with the compiler's library, both sides are C++ of one build: the mark
// that the program was linked with is compared.
#include "executor/collectives/library/join.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "api/base/collectives_library.h"
#include "executor/cache/environment.h"
#include "executor/collectives/library/collectives_mark.h"
#include "executor/collectives/library/keep_sockets.h"

namespace slipway {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw Error(ErrorCode::unavailable,
                fmt::format("the library of collectives {} cannot be loaded: {}", path, why));
}

std::string library_path() {
    if (const char* const elsewhere = std::getenv(collectives_library_variable)) return elsewhere;
    std::error_code unreadable;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", unreadable);
    return self.parent_path() / collectives_library_file;
}

/// Never unloaded: members and their errors are of its types.
JoinEntry load_library() {
    const std::string path = library_path();
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) refuse(path, dlerror());
    void* const entry = dlsym(library, join_entry_symbol);
    if (entry == nullptr || build_mark_around(entry) != collectives_mark())
        refuse(path, "it is of another build than this program; install both again");
    return reinterpret_cast<JoinEntry>(entry);
}

}    // namespace

std::unique_ptr<Member> join_members(const MemberOrder& order) {
    static const JoinEntry join = load_library();
    std::unique_ptr<Member> member;
    join(order, member);
    keep_sockets();
    return member;
}

}    // namespace slipway
