// One file an entry, named by key and environment, in a folder that many processes share without
// talking to each other. An entry is written aside and renamed, so a reader sees all of it or
// nothing; it is not synced, since a checksum over header and bytes finds what a power cut has
// torn, and a damaged entry is removed by its reader. Only plain files of the own user count:
// another one could plant machine code. Reading an entry sets its time; when the folder is too
// large, one process (a lock that nobody waits for) removes the entries unused for longest until
// a tenth is free. The size is read from the folder when a process first stores an entry, since who
// only reads needs none, then counted, and read again from time to time, for what others have
// stored. Processes that begin together would all compile the same kernels: who makes an entry
// holds a lock meanwhile, for which others wait a little. Every failure means compiling again,
// never an error.
#include "executor/cache/object_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "api/base/error.h"
#include "api/base/id.h"
#include "api/base/posix.h"
#include "api/base/sha256.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

// magic, key, SHA-256 of the environment, length, then the SHA-256 of all of that and the bytes.
constexpr std::string_view magic = "slipobj1";
constexpr std::size_t digest_bytes = 64;
constexpr std::size_t sealed_bytes = magic.size() + 16 + digest_bytes + 8;
constexpr std::size_t header_bytes = sealed_bytes + digest_bytes;

constexpr std::string_view entry_ending = ".obj";
constexpr std::string_view aside_ending = ".tmp";
constexpr std::int64_t aside_age_max_s = 600;    // then its writer is dead
constexpr std::uint64_t making_locks = 64;    // files; two keys of one wait for each other in vain
constexpr int making_wait_max_ms = 2000;
constexpr std::int64_t stores_per_sweep = 64;    // so that others' entries are counted too

std::string little_endian(std::uint64_t word) {
    std::string bytes;
    for (int i = 0; i < 8; ++i)
        bytes += char(word >> (8 * i) & 0xff);
    return bytes;
}

[[noreturn]] void refuse(ErrorCode code, const fs::path& folder, std::string_view why) {
    throw Error(code, fmt::format("{} cannot be the compile cache: {}", folder.string(), why));
}

void prepare_folder(const fs::path& folder) {
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        refuse(ErrorCode::unavailable, folder, std::strerror(errno));
    struct stat found {};
    if (lstat(folder.c_str(), &found) != 0)
        refuse(ErrorCode::unavailable, folder, std::strerror(errno));
    if (!S_ISDIR(found.st_mode))
        refuse(ErrorCode::permission_denied, folder, "it is not a folder itself");
    if (found.st_uid != geteuid())
        refuse(ErrorCode::permission_denied, folder, "it belongs to another user");
    if ((found.st_mode & 07777) != 0700 && chmod(folder.c_str(), 0700) != 0)
        refuse(ErrorCode::unavailable, folder, std::strerror(errno));
    if (access(folder.c_str(), R_OK | W_OK | X_OK) != 0)
        refuse(ErrorCode::unavailable, folder, std::strerror(errno));
}

/// All bytes of an entry; none when it is absent, no plain file of ours, or larger than allowed.
std::optional<std::string> read_entry(const fs::path& path, std::int64_t bytes_max) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file) return std::nullopt;
    struct stat found {};
    if (fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != geteuid())
        return std::string();
    if (found.st_size > bytes_max + std::int64_t(header_bytes)) return std::string();
    std::string bytes(std::size_t(found.st_size), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got = read(file.get(), bytes.data() + done, bytes.size() - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += std::size_t(got);
    }
    bytes.resize(done);
    futimens(file.get(), nullptr);    // used now; when that fails it only goes sooner
    return bytes;
}

bool write_all(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t wrote = write(file, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        bytes.remove_prefix(std::size_t(wrote));
    }
    return true;
}

struct Entry {
    fs::path path;
    timespec used{};
    std::int64_t bytes = 0;
};

/// The entries of a folder; what dead writers left aside is removed on the way.
std::vector<Entry> entries_of(const fs::path& folder) {
    std::vector<Entry> entries;
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);    // file times are wall times
    std::error_code problem;
    for (const auto& each : fs::directory_iterator(folder, problem)) {
        struct stat found {};
        if (lstat(each.path().c_str(), &found) != 0 || !S_ISREG(found.st_mode)) continue;
        if (each.path().extension() == entry_ending)
            entries.push_back({each.path(), found.st_mtim, found.st_size});
        if (each.path().extension() == aside_ending &&
            now.tv_sec - found.st_mtim.tv_sec > aside_age_max_s)
            unlink(each.path().c_str());
    }
    return entries;
}

std::int64_t total(const std::vector<Entry>& entries) {
    std::int64_t bytes = 0;
    for (const Entry& entry : entries)
        bytes += entry.bytes;
    return bytes;
}

}    // namespace

ObjectCache::ObjectCache(ObjectCacheOptions options)
    : options_(std::move(options)), environment_hash_(sha256_hex(options_.environment)) {
    prepare_folder(options_.folder);
}

std::optional<std::string> ObjectCache::find(const CacheKey& key) {
    const fs::path path = path_of(key);
    std::optional<std::string> entry = read_entry(path, options_.bytes_max);
    if (!entry) {
        ++misses_;
        return std::nullopt;
    }
    const std::string_view whole = *entry;
    const bool long_enough = whole.size() >= header_bytes;
    const std::string_view bytes = long_enough ? whole.substr(header_bytes) : std::string_view();
    if (!long_enough || whole.substr(0, header_bytes) != header(key, bytes)) {
        // Its next reader should not have to find out again.
        unlink(path.c_str());
        ++damaged_;
        ++misses_;
        return std::nullopt;
    }
    ++hits_;
    entry->erase(0, header_bytes);
    return entry;
}

void ObjectCache::store(const CacheKey& key, std::string_view bytes) {
    const auto size = std::int64_t(header_bytes + bytes.size());
    if (size > options_.bytes_max || !write_entry(path_of(key), header(key, bytes), bytes)) {
        ++failed_;
        return;
    }
    ++stored_;
    bytes_ += size;
    if (bytes_ > options_.bytes_max || stores_++ % stores_per_sweep == 0) make_room();
}

MakingTurn ObjectCache::take_turn(const CacheKey& key) const {
    const fs::path path =
        options_.folder / fmt::format("making-{:02}.lock", key.low % making_locks);
    MakingTurn turn{
        .lock = UniqueFd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600))};
    // A lock ends with its process; one that is stopped while it holds it must stop nobody else.
    for (int waited_ms = 0; turn.lock && flock(turn.lock.get(), LOCK_EX | LOCK_NB) != 0;
         ++waited_ms) {
        turn.waited = true;
        if (errno != EWOULDBLOCK || waited_ms >= making_wait_max_ms) {
            turn.lock = UniqueFd();
            break;
        }
        poll(nullptr, 0, 1);
    }
    return turn;
}

ObjectCacheCounts ObjectCache::counts() const {
    return {.hits = hits_,
            .misses = misses_,
            .damaged = damaged_,
            .stored = stored_,
            .failed = failed_,
            .evicted = evicted_};
}

/// The environment is in the name too: builds that take turns do not throw each other's out.
fs::path ObjectCache::path_of(const CacheKey& key) const {
    return options_.folder / fmt::format("{:016x}{:016x}-{}{}", key.high, key.low,
                                         environment_hash_.substr(0, 32), entry_ending);
}

std::string ObjectCache::header(const CacheKey& key, std::string_view bytes) const {
    std::string head(magic);
    head += little_endian(key.high) + little_endian(key.low) + environment_hash_;
    head += little_endian(bytes.size());
    Sha256 seal;
    seal.update(head);
    seal.update(bytes);
    return head + seal.finish();
}

/// Not synced: what a power cut tears is found by its checksum.
bool ObjectCache::write_entry(const fs::path& path, std::string_view head, std::string_view bytes) {
    const fs::path aside = options_.folder / (new_id("obj") + std::string(aside_ending));
    const UniqueFd file(
        open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return false;
    if (write_all(file.get(), head) && write_all(file.get(), bytes) &&
        rename(aside.c_str(), path.c_str()) == 0)
        return true;
    unlink(aside.c_str());
    return false;
}

/// Removes the entries unused for longest until a tenth is free. One process at a time: who finds
/// another at it has nothing to do.
void ObjectCache::make_room() {
    const fs::path lock_path = options_.folder / "lock";
    const UniqueFd lock(open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;
    std::vector<Entry> entries = entries_of(options_.folder);
    std::int64_t bytes = total(entries);
    if (bytes > options_.bytes_max) {
        std::ranges::sort(entries, [](const Entry& one, const Entry& other) {
            return std::pair(one.used.tv_sec, one.used.tv_nsec) <
                   std::pair(other.used.tv_sec, other.used.tv_nsec);
        });
        for (const Entry& entry : entries) {
            if (bytes <= options_.bytes_max - options_.bytes_max / 10) break;
            if (unlink(entry.path.c_str()) == 0) ++evicted_;
            bytes -= entry.bytes;
        }
    }
    bytes_ = bytes;
}

}    // namespace slipway
