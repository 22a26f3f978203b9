// The compiler is a library that is loaded when the first kernel has to be compiled. What it is
// given are plain structs of C++, so it must be of the same build: its mark is written into the
// program, and so into the name of every stored object, and is compared when it is loaded.
#include "executor/codegen/jit/compiler.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>

#include "api/base/compiler_library.h"
#include "api/base/error.h"
#include "executor/cache/environment.h"
#include "executor/codegen/jit/compiler_mark.h"

namespace slipway {

namespace {

std::atomic<bool> loaded{false};

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw Error(ErrorCode::unavailable,
                fmt::format("the compiler {} cannot be loaded: {}", path, why));
}

std::string library_path() {
    if (const char* const elsewhere = std::getenv(compiler_library_variable)) return elsewhere;
    std::error_code unreadable;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", unreadable);
    return self.parent_path() / compiler_library_file;
}

/// Never unloaded: LLVM registers what runs at the end of the process.
CompilerEntry load_compiler() {
    const std::string path = library_path();
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) refuse(path, dlerror());
    void* const entry = dlsym(library, compiler_entry_symbol);
    if (entry == nullptr || build_mark_around(entry) != compiler_mark())
        refuse(path, "it is of another build than this program; install both again");
    loaded = true;
    return reinterpret_cast<CompilerEntry>(entry);
}

}    // namespace

std::string compiler_version() {
    return fmt::format("slipway-compiler {}", compiler_mark());
}

std::vector<std::byte> compile(const LoopKernel& kernel, const CompileTarget& target) {
    static const CompilerEntry compiler = load_compiler();
    std::vector<std::byte> object;
    compiler(kernel, target, object);
    return object;
}

bool compiler_is_loaded() {
    return loaded;
}

}    // namespace slipway
