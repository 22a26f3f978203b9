// The name of a kept hash is a digest of what identifies the files without reading them. The
// kernel sets the time of change (ctime) of an inode itself, so a file that has another content has
// other facts, even when its size and its other times are restored. The name of the host is part
// of it: inodes of two hosts are unrelated, and several hosts may share the folder.
#include "executor/data/shared/known_content.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "api/base/posix.h"
#include "api/base/sha256.h"
#include "executor/data/content_hash.h"
#include "executor/data/shared/copy_key.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr const char* hash_ending = ".content";
constexpr std::string_view hash_begin = "sha256:";
constexpr std::size_t hash_digits = 64;

std::string host_name() {
    utsname names{};
    return uname(&names) == 0 ? names.nodename : "";
}

/// None: a file was changed a moment ago or is gone, or nothing is to be kept.
std::optional<fs::path> file_of(const fs::path& path, std::vector<std::string> files,
                                const ContentMemory& memory, Instant opened_since) {
    if (memory.folder.empty()) return std::nullopt;
    std::ranges::sort(files);
    try {
        const FileFacts facts = facts_of_files(path, files, memory.settled_after, opened_since);
        if (facts.is_fresh) return std::nullopt;
        return memory.folder / (sha256_hex(host_name() + "\n" + facts.text) + hash_ending);
    } catch (const Error&) {    // a file is gone: the code that reads it reports this
        return std::nullopt;
    }
}

bool is_hash(std::string_view text) {
    return text.size() == hash_begin.size() + hash_digits && text.starts_with(hash_begin) &&
           text.find_first_not_of("0123456789abcdef", hash_begin.size()) == std::string_view::npos;
}

std::optional<std::string> read_hash(const fs::path& file) {
    const UniqueFd opened(open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    std::string text(hash_begin.size() + hash_digits, '\0');
    if (!opened || pread(opened.get(), text.data(), text.size(), 0) != ssize_t(text.size()) ||
        !is_hash(text))
        return std::nullopt;
    futimens(opened.get(), nullptr);    // last use: cleanup deletes the oldest first
    return text;
}

void write_hash(const fs::path& file, const std::string& hash) {
    std::error_code ignored;
    fs::create_directories(file.parent_path(), ignored);
    // A torn file is no hash, and is written again.
    std::ofstream(file, std::ios::trunc) << hash;
}

}    // namespace

std::string find_content_hash(const fs::path& path, const std::vector<std::string>& files,
                              int threads, const ContentMemory& memory, Instant opened_since) {
    const std::optional<fs::path> kept = file_of(path, files, memory, opened_since);
    if (kept)
        if (auto known = read_hash(*kept)) return *std::move(known);
    std::string hash = hash_content(path, files, threads).hash;
    // No file may have changed while it was read.
    if (kept && file_of(path, files, memory, opened_since) == kept) write_hash(*kept, hash);
    return hash;
}

void keep_content_hash(const fs::path& path, const std::vector<std::string>& files,
                       const std::string& hash, const ContentMemory& memory, Instant opened_since) {
    if (const auto file = file_of(path, files, memory, opened_since)) write_hash(*file, hash);
}

}    // namespace slipway
