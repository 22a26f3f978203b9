// A host that has another folder as its store does harm late: a job that goes on there finds no
// checkpoint, and an upload is not where its dataset says. Mounts that are forgotten leave an empty
// folder, so its id alone tells most of it; a copy (of a backup, or by rsync) has the same id, so
// each host also leaves something in the store that no copy can have. Marks are overwritten in
// place: on NFS who opens a file sees what was written before it was closed, but may see a name
// that was renamed only later.
#include "scheduler/agent/shared_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "api/base/error.h"
#include "api/base/id.h"
#include "api/base/log.h"
#include "api/base/posix.h"
#include "api/base/sha256.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/store/shared_store.h"

namespace slipway {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t id_bytes = 16;
constexpr std::size_t probe_bytes = 64 << 10;
constexpr int look_every_ms = 200;

fs::path mark_folder(const ArtifactStore& artifacts) {
    return artifacts.shared_folder() / "hosts";
}

fs::path id_file(const ArtifactStore& artifacts) {
    return artifacts.shared_folder() / "store.id";
}

/// The name of a host may have any characters.
fs::path mark_file(const ArtifactStore& artifacts, std::string_view host) {
    return mark_folder(artifacts) / sha256_hex(host);
}

[[noreturn]] void fail(const ArtifactStore& artifacts, int reason) {
    const std::string folder = artifacts.shared_folder().string();
    if (reason == ENOSPC || reason == EDQUOT)
        throw Error{ErrorCode::unavailable,
                    fmt::format("the store {} is full: {}; make room on its disk, or see `slipway "
                                "retention` for what could be removed",
                                folder, std::strerror(reason))};
    throw Error{ErrorCode::unavailable,
                fmt::format("the store {} cannot be written: {}", folder, std::strerror(reason))};
}

/// Without a link in the last part of the path. The errno; 0: it is written.
int write_in_place(const fs::path& file, std::string_view text) {
    const UniqueFd opened(
        open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
    if (!opened) return errno;
    const ssize_t count = pwrite(opened.get(), text.data(), text.size(), 0);
    if (count < 0) return errno;
    if (count != ssize_t(text.size())) return ENOSPC;
    return fsync(opened.get()) == 0 ? 0 : errno;
}

std::optional<std::string> read_id(const ArtifactStore& artifacts) {
    auto text = read_at_most(id_file(artifacts), 2 * id_bytes + 2);
    if (!text) return std::nullopt;
    while (!text->empty() && (text->back() == '\n' || text->back() == '\r'))
        text->pop_back();
    if (text->empty()) return std::nullopt;
    return text;
}

bool is_store_id(std::string_view text) {
    return text.size() == 2 * id_bytes &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Of hosts that begin at once one writes it.
std::string make_id(const ArtifactStore& artifacts) {
    const std::string made = random_hex(id_bytes);
    const fs::path file = id_file(artifacts);
    const fs::path aside = fmt::format("{}.{}", file.string(), made);
    if (const int reason = write_in_place(aside, made); reason != 0) {
        unlink(aside.c_str());
        fail(artifacts, reason);
    }
    const int reason = link(aside.c_str(), file.c_str()) == 0 ? 0 : errno;
    unlink(aside.c_str());
    if (reason != 0 && reason != EEXIST) fail(artifacts, reason);
    return read_id(artifacts).value_or("");
}

[[noreturn]] void refuse(const ArtifactStore& artifacts, const std::string& reason) {
    throw Error{
        ErrorCode::unavailable,
        fmt::format("the store {} is not the one that the hosts of this service share: {}. Mount "
                    "theirs there, or make it a link to where theirs is",
                    artifacts.shared_folder().string(), reason)};
}

/// The name of a living host of another machine whose mark is not here.
std::optional<std::string> find_missing_mark(store::Store& store, const ArtifactStore& artifacts,
                                             std::string_view home_id) {
    for (const store::StoreMark& one : store::list_store_marks(store, home_id))
        if (read_at_most(mark_file(artifacts, one.host), 2 * id_bytes) != one.mark) return one.host;
    return std::nullopt;
}

}    // namespace

void check_store_can_be_written(const ArtifactStore& artifacts) {
    const fs::path probe =
        artifacts.shared_folder() / fmt::format("probe.{}", random_hex(id_bytes));
    const int reason = write_in_place(probe, std::string(probe_bytes, '\0'));
    unlink(probe.c_str());
    if (reason != 0) fail(artifacts, reason);
}

void check_store_id(store::Store& store, const ArtifactStore& artifacts) {
    std::optional<std::string> here = read_id(artifacts);
    const auto known = store::find_store_id(store);
    if (!here && known)
        refuse(artifacts, fmt::format("it has no id, and the id of theirs is {0} (if it is theirs "
                                      "and has lost its id, write {0} into its file store.id)",
                                      *known));
    if (!here) here = make_id(artifacts);
    if (!is_store_id(*here))
        throw Error{ErrorCode::unavailable,
                    fmt::format("{} holds no id, which is {} hexadecimal digits; remove it, or "
                                "restore it from a backup",
                                id_file(artifacts).string(), 2 * id_bytes)};
    const std::string shared = known ? *known : store::claim_store_id(store, *here);
    if (shared != *here)
        refuse(artifacts, fmt::format("its id is {}, and the id of theirs is {}", *here, shared));
}

void check_store_is_shared(store::Store& store, const ArtifactStore& artifacts,
                           std::string_view home_id, const Clock& clock,
                           std::chrono::milliseconds patience) {
    check_store_id(store, artifacts);
    const Tick end = clock.tick() + patience;
    while (const auto host = find_missing_mark(store, artifacts, home_id)) {
        if (clock.tick() >= end)
            refuse(artifacts, fmt::format("it has the same id, so it is a copy of theirs: what the "
                                          "host \"{}\" has written into its store is not there",
                                          *host));
        poll(nullptr, 0, look_every_ms);
    }
}

std::string write_store_mark(const ArtifactStore& artifacts, std::string_view host) {
    std::string mark = random_hex(id_bytes);
    std::error_code error;
    fs::create_directory(mark_folder(artifacts), error);
    fs::permissions(mark_folder(artifacts), fs::perms::owner_all, error);
    const int reason = write_in_place(mark_file(artifacts, host), mark);
    if (reason == 0) return mark;
    log_warn("other hosts may take this one's store for another one",
             {{"store", artifacts.shared_folder().string()}, {"reason", std::strerror(reason)}});
    return {};
}

}    // namespace slipway
