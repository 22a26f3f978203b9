// Files are copied while jobs write, and as root the folders belong to users whose code is not
// trusted. So each name is opened from the folder that holds it and never through a link, and what
// is gone by then is left out: whether all that the rows name was copied is checked afterwards.
// Owners and modes are in the list, because a backup may lie where neither can be kept.
#include "server/main/backup_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>

#include "api/base/error.h"
#include "api/base/json.h"
#include "api/base/parsed_json.h"
#include "api/base/percent_encode.h"
#include "api/base/posix.h"
#include "api/base/sha256.h"
#include "scheduler/artifacts/artifact_store.h"
#include "scheduler/artifacts/below.h"
#include "server/http/text.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

constexpr int depth_max = 64;
constexpr std::size_t piece_bytes = 1 << 20;
constexpr mode_t mode_bits = 0777;
constexpr std::array single_files{"admin-token", "host.id"};
// They may be removed at any time, or are made for one request.
constexpr std::array excluded_kinds{Artifact::compile_cache, Artifact::packed_images,
                                    Artifact::decoded_data, Artifact::weights_export};

[[noreturn]] void fail(const fs::path& path, int reason) {
    if (reason == ENOSPC || reason == EDQUOT)
        throw Error{ErrorCode::exhausted,
                    fmt::format("{} cannot be written: {}; make room on its disk, or give a folder "
                                "on another one",
                                path.string(), std::strerror(reason))};
    throw Error{ErrorCode::unavailable,
                fmt::format("{}: {}", path.string(), std::strerror(reason))};
}

void write_all(int file, std::string_view text, const fs::path& path) {
    while (!text.empty()) {
        const ssize_t count = ::write(file, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail(path, errno);
        text.remove_prefix(std::size_t(count));
    }
}

UniqueFd create_file(const fs::path& path, mode_t mode) {
    UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file) fail(path, errno);
    return file;
}

/// At most `bytes_max` of it: a file that grows has an end, too. Returns the SHA-256.
/// errors  `source_name` names the file in what is thrown when it cannot be read
std::string copy_content(int from, const fs::path& source_name, int to, const fs::path& path,
                         std::int64_t bytes_max,
                         const std::function<void(std::int64_t)>& on_piece) {
    Sha256 digest;
    std::string piece(piece_bytes, '\0');
    for (std::int64_t left = bytes_max; left > 0;) {
        const auto wanted = std::min(left, std::int64_t(piece.size()));
        const ssize_t count = ::read(from, piece.data(), std::size_t(wanted));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail(source_name, errno);
        if (count == 0) break;
        const std::string_view text(piece.data(), std::size_t(count));
        digest.update(text);
        write_all(to, text, path);
        left -= count;
        on_piece(count);
    }
    return digest.finish();
}

/// Datasets have files with names of any bytes.
std::string listed_path(const fs::path& relative) {
    std::string listed;
    for (const fs::path& part : relative)
        listed += (listed.empty() ? "" : "/") + percent_encode(part.string());
    return listed;
}

struct CloseFolder {
    void operator()(DIR* folder) const { closedir(folder); }
};

std::vector<std::string> names_in(int folder) {
    const std::unique_ptr<DIR, CloseFolder> opened(
        fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
    std::vector<std::string> names;
    while (const dirent* entry = opened ? readdir(opened.get()) : nullptr) {
        const std::string_view name = static_cast<const char*>(entry->d_name);
        if (name != "." && name != "..") names.emplace_back(name);
    }
    std::ranges::sort(names);
    return names;
}

class Saver {
public:
    Saver(const fs::path& home, const fs::path& backup, const std::set<std::string>& checkpoints,
          const CopyProgress& on_progress)
        : home_(home),
          target_(backup / "files"),
          list_path_(backup / list_name),
          list_(create_file(list_path_, 0600)),
          checkpoints_(checkpoints),
          on_progress_(on_progress) {
        make_folder(target_);
        const ArtifactStore artifacts(home);
        for (const Artifact kind : excluded_kinds)
            excluded_.push_back(artifacts.folder(kind).lexically_relative(home).string());
        checkpoint_folder_ = artifacts.folder(Artifact::checkpoint).lexically_relative(home);
    }

    SavedFiles save() {
        const UniqueFd home(open(home_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!home) fail(home_, errno);
        for (const char* name : single_files)
            entry(home.get(), name, name, 0);
        // It may be a link to what hosts share.
        const fs::path shared = ArtifactStore(home_).shared_folder();
        const UniqueFd store(open(shared.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!store) fail(shared, errno);
        struct stat found {};
        fstat(store.get(), &found);
        folder(store.get(), shared.lexically_relative(home_).string(), found, 0);
        flush_list();
        return std::move(saved_);
    }

private:
    static void make_folder(const fs::path& path) {
        if (mkdir(path.c_str(), 0700) != 0) fail(path, errno);
    }

    void entry(int parent, const std::string& name, const std::string& relative, int depth) {
        if (std::ranges::find(excluded_, relative) != excluded_.end()) return;
        const bool is_checkpoint =
            fs::path(relative).parent_path().parent_path() == checkpoint_folder_;
        if (is_checkpoint && !checkpoints_.contains(relative)) return;
        // O_NONBLOCK: a pipe may have no writer.
        const UniqueFd opened(
            openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        if (!opened && errno == ENOENT) return;
        struct stat found {};
        if (!opened || fstat(opened.get(), &found) != 0 || depth == depth_max)
            return saved_.skipped.push_back(relative);
        if (S_ISDIR(found.st_mode)) return folder(opened.get(), relative, found, depth);
        if (S_ISREG(found.st_mode)) return file(opened.get(), relative, found);
        saved_.skipped.push_back(relative);
    }

    void folder(int opened, const std::string& relative, const struct stat& found, int depth) {
        make_folder(target_ / relative);
        record(relative, found, "");
        for (const std::string& name : names_in(opened))
            entry(opened, name, relative + "/" + name, depth + 1);
    }

    void file(int opened, const std::string& relative, const struct stat& found) {
        const fs::path path = target_ / relative;
        const UniqueFd made = create_file(path, 0600);
        const std::string digest = copy_content(opened, home_ / relative, made.get(), path,
                                                found.st_size, [this](std::int64_t bytes) {
                                                    saved_.counts.bytes += bytes;
                                                    on_progress_(saved_.counts);
                                                });
        ++saved_.counts.files;
        record(relative, found, digest);
    }

    void record(const std::string& relative, const struct stat& found, const std::string& digest) {
        saved_.digests.emplace(relative, digest);
        Json line{{"path", listed_path(relative)},
                  {"mode", found.st_mode & mode_bits},
                  {"user", found.st_uid},
                  {"group", found.st_gid}};
        if (!digest.empty()) line["sha256"] = digest;
        lines_ += line.dump() + "\n";
        if (lines_.size() >= piece_bytes) flush_list();
    }

    void flush_list() {
        write_all(list_.get(), lines_, list_path_);
        lines_.clear();
    }

    const fs::path home_;
    const fs::path target_;
    const fs::path list_path_;
    const UniqueFd list_;
    const std::set<std::string>& checkpoints_;    // outlives this, as on_progress_: a call
    const CopyProgress& on_progress_;
    fs::path checkpoint_folder_;
    std::vector<std::string> excluded_;
    std::string lines_;
    SavedFiles saved_;
};

[[noreturn]] void damaged(const fs::path& path, std::string_view reason) {
    throw Error{ErrorCode::data_loss,
                fmt::format("the backup is damaged: {} {}", path.string(), reason)};
}

struct ListedFile {
    std::string path;
    mode_t mode = 0;
    uid_t user = 0;
    gid_t group = 0;
    std::string sha256;    // empty: a folder
};

ListedFile parse_line(const std::string& line, const fs::path& list) {
    const Result<ParsedJson> parsed = parse_json(line);
    if (!parsed || !(*parsed).value.is_object()) damaged(list, "has a line that is no JSON object");
    const Json& value = (*parsed).value;
    try {
        return {.path = percent_decoded(value.at("path").get<std::string>()).value_or(""),
                .mode = value.at("mode").get<mode_t>() & mode_bits,
                .user = value.at("user").get<uid_t>(),
                .group = value.at("group").get<gid_t>(),
                .sha256 = value.value("sha256", "")};
    } catch (const Json::exception& error) {    // of a library: what is damaged is ours to say
        damaged(list, error.what());
    }
}

class Restorer {
public:
    Restorer(const fs::path& backup, const fs::path& home, const CopyProgress& on_progress)
        : backup_(backup), home_(home), on_progress_(on_progress) {}

    CopyCounts restore() {
        const fs::path list = backup_ / list_name;
        std::ifstream lines(list);
        std::vector<ListedFile> folders;
        for (std::string line; std::getline(lines, line);) {
            const ListedFile listed = parse_line(line, list);
            const auto path = below(home_, listed.path);
            if (!path) damaged(list, fmt::format("names {}, outside of the home", listed.path));
            if (!listed.sha256.empty()) {
                file(listed, *path);
                continue;
            }
            if (mkdir(path->c_str(), 0700) != 0 && errno != EEXIST) fail(*path, errno);
            folders.push_back(listed);
        }
        // Last: a folder may deny its owner to write into it.
        for (const ListedFile& listed : folders) {
            const fs::path path = home_ / listed.path;
            const UniqueFd opened(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
            set_owner(opened.get(), listed, path);
        }
        return counts_;
    }

private:
    void file(const ListedFile& listed, const fs::path& path) {
        const fs::path saved = backup_ / "files" / listed.path;
        const UniqueFd from(open(saved.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
        if (!from) damaged(saved, std::strerror(errno));
        const UniqueFd made = create_file(path, 0600);
        const std::string digest = copy_content(from.get(), saved, made.get(), path, INT64_MAX,
                                                [this](std::int64_t bytes) {
                                                    counts_.bytes += bytes;
                                                    on_progress_(counts_);
                                                });
        if (digest != listed.sha256)
            damaged(saved, fmt::format("has SHA-256 {}, not {}", digest, listed.sha256));
        set_owner(made.get(), listed, path);
        ++counts_.files;
    }

    static void set_owner(int file, const ListedFile& listed, const fs::path& path) {
        if (geteuid() == 0 && fchown(file, listed.user, listed.group) != 0) fail(path, errno);
        if (fchmod(file, listed.mode) != 0) fail(path, errno);
    }

    const fs::path backup_;
    const fs::path home_;
    const CopyProgress& on_progress_;    // outlives this: a call
    CopyCounts counts_;
};

}    // namespace

SavedFiles save_files(const fs::path& home, const fs::path& backup,
                      const std::set<std::string>& checkpoints, const CopyProgress& on_progress) {
    return Saver(home, backup, checkpoints, on_progress).save();
}

CopyCounts restore_files(const fs::path& backup, const fs::path& home,
                         const CopyProgress& on_progress) {
    return Restorer(backup, home, on_progress).restore();
}

void sync_files(const fs::path& folder) {
    const UniqueFd opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened || syncfs(opened.get()) != 0) fail(folder, errno);
}

}    // namespace slipway
