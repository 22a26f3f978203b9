#include "scheduler/agent/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "api/base/error.h"
#include "scheduler/agent/spare_file.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

Json parse_stored(const store::JsonText& text) {
    Json value = text.empty() ? Json::object() : Json::parse(text, nullptr, false);
    return value.is_discarded() ? Json::object() : value;
}

std::optional<std::string> unless_empty(const fs::path& path) {
    if (path.empty()) return std::nullopt;
    return path.string();
}

/// None when it is no regular file; `size` is what it has now.
std::optional<UniqueFd> open_regular(const fs::path& path, std::size_t& size) {
    UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    struct stat facts {};
    if (!file || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
    size = std::size_t(facts.st_size);
    return file;
}

/// At most `count` bytes from `offset`.
std::string read_piece(const UniqueFd& file, std::size_t offset, std::size_t count) {
    std::string text(count, '\0');
    std::size_t filled = 0;
    while (filled < count) {
        const ssize_t got =
            pread(file.get(), text.data() + filled, count - filled, off_t(offset + filled));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        filled += std::size_t(got);
    }
    text.resize(filled);
    return text;
}

}    // namespace

void make_run_folder(const fs::path& folder) {
    make_private_folder(folder);
}

std::optional<UniqueFd> lock_run_folder(const fs::path& folder) {
    constexpr int untrusted = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    UniqueFd file(open((folder / "lock").c_str(), O_RDWR | O_CREAT | untrusted, 0600));
    struct stat facts {};
    if (!file || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
        throw Error{ErrorCode::unavailable, fmt::format("{} cannot be opened as a regular file",
                                                        (folder / "lock").string())};
    }
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) return std::nullopt;
    return file;
}

bool has_frames(const fs::path& folder) {
    struct stat facts {};
    return lstat((folder / "frames.ndjson").c_str(), &facts) == 0 &&
           (!S_ISREG(facts.st_mode) || facts.st_size > 0);
}

void write_order(const fs::path& folder, const std::string& text) {
    const fs::path order = folder / "attempt.json";
    if (!write_over_spare(folder / "attempt.json.new", order, text)) write_file_aside(order, text);
}

AttemptOrder attempt_order(const store::HostAttempt& attempt, const AttemptPaths& paths) {
    AttemptOrder order{.job_id = attempt.attempt.job_id,
                       .attempt = attempt.attempt.attempt,
                       .fence = attempt.attempt.fence,
                       .kind = attempt.kind,
                       .spec = parse_stored(attempt.spec),
                       .dataset = {.id = attempt.dataset_id,
                                   .name = attempt.dataset_name,
                                   .format = attempt.dataset_format,
                                   .path = paths.dataset.string(),
                                   .options = parse_stored(attempt.dataset_options),
                                   .content_hash = attempt.dataset_content_hash},
                       .checkpoint_folder = paths.checkpoints.string(),
                       .resume_from = unless_empty(paths.resume),
                       .init_from = unless_empty(paths.init),
                       .network_from = unless_empty(paths.network),
                       .saves_requested = attempt.saves_requested,
                       .worker_threads = paths.worker_threads,
                       .grace_s = paths.grace_s,
                       .memory_bytes = paths.memory_bytes,
                       .report_folder = paths.report.string(),
                       .cache_folder = paths.cache.string(),
                       .packed_folder = paths.packed.string(),
                       .decoded_folder = paths.decoded.string(),
                       .decoded_bytes_max = paths.decoded_bytes_max,
                       .traceparent = attempt.traceparent};
    for (const fs::path& checkpoint : paths.payload_checkpoints)
        order.checkpoints.push_back(checkpoint.string());
    if (!attempt.payload.empty()) order.payload = parse_stored(attempt.payload);
    order.member = paths.member;
    if (!paths.split.empty()) order.split = {paths.split.string(), paths.split_hash};
    return order;
}

std::optional<std::string> read_at_most(const fs::path& path, std::size_t bytes_max) {
    std::size_t size = 0;
    const auto file = open_regular(path, size);
    if (!file || size > bytes_max) return std::nullopt;
    return read_piece(*file, 0, size);
}

std::string read_tail(const fs::path& path, std::size_t bytes_max) {
    std::size_t size = 0;
    const auto file = open_regular(path, size);
    if (!file) return {};
    const std::size_t start = size > bytes_max ? size - bytes_max : 0;
    std::string text = read_piece(*file, start, size - start);
    if (start > 0) text.erase(0, text.find('\n') + 1);
    while (text.ends_with('\n'))
        text.pop_back();
    return text;
}

}    // namespace slipway
