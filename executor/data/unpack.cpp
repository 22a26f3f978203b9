// What is unpacked goes into a folder aside, which is renamed when all of it is there: a half-
// unpacked archive is never seen. Everything that an archive says is checked before it is used:
// sizes are counted as bytes arrive, not as they are announced; names must be relative, plain
// UTF-8 and there once; links and devices are refused; folders count as entries and have a
// largest depth. Free space of the disk is asked for again from time to time, since others write
// too.
#include "executor/data/unpack.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <locale.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "api/base/error.h"
#include "api/base/posix.h"
#include "executor/data/formats/archive_library.h"
#include "executor/data/formats/csv_reader.h"
#include "executor/data/utf8.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse_entry(const std::string& entry, const std::string& message) {
    throw Error{ErrorCode::data_loss,
                fmt::format("the archive is refused: {}: {}", entry, message)};
}

[[noreturn]] void fail_writing(const std::string& name) {
    const bool full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
    throw Error{full ? ErrorCode::exhausted : ErrorCode::unavailable,
                fmt::format("{} cannot be unpacked: {}", name,
                            full ? "the disk is full" : strerror(errno))};
}

void write_all(int fd, std::span<const char> bytes, const std::string& name) {
    while (!bytes.empty()) {
        const ssize_t count = write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_writing(name);
        bytes = bytes.subspan(std::size_t(count));
    }
}

UniqueFd create_file(const fs::path& path, const std::string& name) {
    UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file && errno == EEXIST) refuse_entry(name, "the name occurs twice");
    if (!file) fail_writing(name);
    return file;
}

/// What others need of the disk stays free: it is asked now and then, because others write too.
class Reserve {
public:
    Reserve(const fs::path& folder, const UnpackLimits& limits)
        : folder_(folder), limits_(limits) {}

    /// Before `bytes` are written or a file or folder is made.
    void take(std::int64_t bytes) {
        bytes_left_ -= bytes;
        if (--makings_left_ > 0 && bytes_left_ > 0) return;
        check();
        bytes_left_ = bytes_between;
        makings_left_ = makings_between;
    }

private:
    static constexpr std::int64_t bytes_between = 16 << 20;
    static constexpr int makings_between = 256;

    void check() const {
        struct statvfs disk {};
        if (statvfs(folder_.c_str(), &disk) != 0) return;    // writing will tell
        const auto free_bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
        if (free_bytes < static_cast<std::uint64_t>(limits_.free_bytes_min)) {
            throw Error{ErrorCode::exhausted,
                        fmt::format("it cannot be unpacked: the disk of {} has less than {} MiB "
                                    "free, which are reserved for others",
                                    folder_.parent_path().string(), limits_.free_bytes_min >> 20)};
        }
        // A file system without a fixed number of inodes says 0.
        const auto inodes_min = static_cast<std::uint64_t>(limits_.free_inodes_percent_min);
        if (disk.f_files > 0 && disk.f_favail < disk.f_files / 100 * inodes_min) {
            throw Error{
                ErrorCode::exhausted,
                fmt::format("it cannot be unpacked: the disk of {} can hold few more files; "
                            "{} % of its inodes are reserved for others",
                            folder_.parent_path().string(), inodes_min)};
        }
    }

    const fs::path folder_;
    const UnpackLimits& limits_;
    std::int64_t bytes_left_ = 0;    // until it is asked again; at once the first time
    int makings_left_ = 0;
};

enum class Kind { zip, tar, single };

bool is_tar_block(std::span<const char> block) {
    constexpr std::size_t checksum_at = 148, checksum_size = 8;
    if (block.size() < 512) return false;
    unsigned sum = 0;
    for (std::size_t i = 0; i < 512; ++i) {
        const bool in_checksum = i >= checksum_at && i < checksum_at + checksum_size;
        sum += in_checksum ? unsigned(' ') : unsigned(static_cast<unsigned char>(block[i]));
    }
    const std::string written(&block[checksum_at], checksum_size);
    return sum != 0 && std::strtoul(written.c_str(), nullptr, 8) == sum;
}

struct Signature {
    std::string_view bytes;
    std::string_view name;
    std::size_t at = 0;
};

/// Archives and compressed files that are not unpacked.
constexpr auto unread_kinds = std::to_array<Signature>({
    {{"\xFD"
      "7zXZ\0",
      6},
     "an xz file"},
    {"1AY&SY", "a bzip2 file", 4},
    {"7z\xBC\xAF\x27\x1C", "a 7-Zip archive"},
    {"Rar!\x1A\x07", "a RAR archive"},
    {"\x28\xB5\x2F\xFD", "a Zstandard file"},
    {"LZIP\x01", "an lzip file"},
    {"\x04\x22\x4D\x18", "an LZ4 file"},
});

void refuse_unread_kind(std::string_view begin) {
    for (const Signature& kind : unread_kinds) {
        if (begin.size() < kind.at || !begin.substr(kind.at).starts_with(kind.bytes)) continue;
        throw Error{ErrorCode::data_loss,
                    fmt::format("the upload is {}, which is not unpacked; make a .zip, a .tar or a "
                                ".tar.gz",
                                kind.name)};
    }
}

/// By content: a zip's signature, or a first block, gzipped or not, whose checksum is a tar's.
Kind kind_of(const fs::path& upload) {
    struct Close {
        void operator()(gzFile file) const { gzclose_r(file); }
    };
    const std::unique_ptr<gzFile_s, Close> file(gzopen(upload.c_str(), "rb"));
    if (!file) {
        throw Error{ErrorCode::not_found, fmt::format("{} cannot be opened", upload.string())};
    }
    std::array<char, 512> block{};
    const int count = gzread(file.get(), block.data(), unsigned(block.size()));
    const std::string_view begin(block.data(), std::size_t(std::max(0, count)));
    if (gzdirect(file.get()) != 0 && (begin.starts_with("PK\3\4") || begin.starts_with("PK\5\6"))) {
        return Kind::zip;
    }
    if (gzdirect(file.get()) != 0) refuse_unread_kind(begin);
    return is_tar_block({begin.data(), begin.size()}) ? Kind::tar : Kind::single;
}

/// Names are UTF-8 for the calling thread: libarchive converts those of pax headers, and of zips
/// that say they are UTF-8, to the locale's characters, of which a service has ASCII only.
class Utf8Names {
public:
    Utf8Names() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
        if (utf8_ == nullptr) throw Error{ErrorCode::internal, "there is no locale C.UTF-8"};
        before_ = uselocale(utf8_);
    }
    ~Utf8Names() {
        uselocale(before_);
        freelocale(utf8_);
    }
    Utf8Names(const Utf8Names&) = delete;
    Utf8Names& operator=(const Utf8Names&) = delete;

private:
    locale_t utf8_;
    locale_t before_ = nullptr;
};

class Unpacker {
public:
    Unpacker(const fs::path& upload, const fs::path& folder, const UnpackLimits& limits)
        : upload_(upload),
          folder_(folder),
          limits_(limits),
          reserve_(folder, limits),
          upload_bytes_(std::int64_t(fs::file_size(upload))) {}

    UnpackReport unpack(Kind kind) {
        const Utf8Names utf8_names;
        archive_.reset(archive_library().read_new());
        if (kind == Kind::zip) {
            archive_library().read_support_format_zip_seekable(archive_.get());
            archive_library().read_support_format_zip_streamable(archive_.get());
        } else {
            archive_library().read_support_format_tar(archive_.get());
            archive_library().read_support_filter_gzip(archive_.get());
        }
        if (archive_library().read_open_filename(archive_.get(), upload_.c_str(), 1 << 16) !=
            ARCHIVE_OK) {
            damaged();
        }
        archive_entry* entry = nullptr;
        for (;;) {
            const int status = archive_library().read_next_header(archive_.get(), &entry);
            if (status == ARCHIVE_EOF) break;
            // A warning means a name or attribute that could not be understood: not taken either.
            if (status != ARCHIVE_OK) damaged();
            take(entry);
        }
        if (report_.files == 0) {
            throw Error{ErrorCode::data_loss, "the archive is refused: there is no file in it"};
        }
        report_.archive = true;
        return report_;
    }

private:
    [[noreturn]] void damaged() {
        const char* reason = archive_library().error_string(archive_.get());
        throw Error{
            ErrorCode::data_loss,
            fmt::format("the archive is damaged {}: {}",
                        entry_name_.empty() ? "at its beginning" : "in or after " + entry_name_,
                        reason != nullptr ? reason : "unreadable")};
    }

    void take(archive_entry* entry) {
        count_entry();
        const char* written = archive_library().entry_pathname(entry);
        if (written == nullptr) refuse_entry("an entry", "its name cannot be read");
        const std::string name = entry_name_ = written;
        if (!is_utf8(name)) {
            entry_name_ = shown(name);
            refuse_entry(entry_name_,
                         "the name is not UTF-8; make the archive with UTF-8 names, "
                         "or rename the file");
        }
        const auto type = archive_library().entry_filetype(entry);
        if (archive_library().entry_hardlink(entry) != nullptr ||
            archive_library().entry_symlink(entry) != nullptr) {
            refuse_entry(name, "links are not unpacked");
        }
        if (type != AE_IFREG && type != AE_IFDIR) refuse_entry(name, "it is not a plain file");
        if (archive_library().entry_is_encrypted(entry) != 0)
            refuse_entry(name, "it is encrypted; make the archive without a password");
        const std::optional<fs::path> path = safe_path(name);
        if (!path || type == AE_IFDIR) return;
        make_folders(name, *path);
        write_file(name, *path);
    }

    void count_entry() {
        reserve_.take(0);
        if (++entries_ <= limits_.entries_max) return;
        throw Error{
            ErrorCode::exhausted,
            fmt::format("the archive has more than {} entries and folders", limits_.entries_max)};
    }

    /// None for what is left out.
    std::optional<fs::path> safe_path(const std::string& name) const {
        const fs::path path(name);
        if (path.is_absolute()) refuse_entry(name, "the name is absolute");
        if (name.find('\\') != std::string::npos) refuse_entry(name, "the name has a backslash");
        fs::path safe;
        for (const fs::path& part : path) {
            const std::string text = part.string();
            if (text == "..") refuse_entry(name, "the name points to a parent folder");
            if (text.size() > 255) refuse_entry(name, "the name is longer than 255 bytes");
            if (text.empty() || text == ".") continue;
            if (text.starts_with('.') || text == "__MACOSX") return std::nullopt;
            safe /= text;
        }
        if (safe.empty()) return std::nullopt;
        const auto folders = std::distance(safe.begin(), safe.end()) - 1;
        if (folders > limits_.depth_max) {
            refuse_entry(shown(name), fmt::format("it is {} folders deep, and {} are unpacked",
                                                  folders, limits_.depth_max));
        }
        if (safe.string().size() > 1024) refuse_entry(name, "the name is longer than 1024 bytes");
        return safe;
    }

    /// Each folder counts: 3 kB of names that lead through folders once made 100,000 of them.
    void make_folders(const std::string& name, const fs::path& path) {
        if (folders_.contains(path.parent_path().string())) return;
        for (fs::path each = path.parent_path(); !each.empty(); each = each.parent_path()) {
            if (!folders_.insert(each.string()).second) break;
            count_entry();
        }
        std::error_code error;
        fs::create_directories(folder_ / path.parent_path(), error);
        if (!error) return;
        if (error.value() == ENOTDIR || error.value() == EEXIST) {
            refuse_entry(name, "a file has the name of its folder");
        }
        errno = error.value();
        fail_writing(name);
    }

    void write_file(const std::string& name, const fs::path& path) {
        const UniqueFd file = create_file(folder_ / path, name);
        std::vector<char> piece(1 << 16);
        for (;;) {
            const la_ssize_t count =
                archive_library().read_data(archive_.get(), piece.data(), piece.size());
            if (count < 0) damaged();
            if (count == 0) break;
            report_.bytes += count;
            check_size();
            reserve_.take(count);
            write_all(file.get(), std::span(piece).first(std::size_t(count)), name);
        }
        ++report_.files;
    }

    void check_size() const {
        constexpr std::int64_t always_allowed = 64 << 20;
        if (report_.bytes > limits_.bytes_max) {
            throw Error{
                ErrorCode::exhausted,
                fmt::format("the archive unpacks to more than {} bytes", limits_.bytes_max)};
        }
        if (report_.bytes > always_allowed &&
            report_.bytes / limits_.ratio_max > std::max<std::int64_t>(upload_bytes_, 1)) {
            throw Error{ErrorCode::exhausted,
                        fmt::format("the archive unpacks to more than {} times its size",
                                    limits_.ratio_max)};
        }
    }

    const fs::path& upload_;
    const fs::path& folder_;
    const UnpackLimits& limits_;
    Reserve reserve_;
    std::int64_t upload_bytes_;
    std::unique_ptr<archive, FreeArchive> archive_;
    std::set<std::string> folders_;
    std::int64_t entries_ = 0;
    std::string entry_name_;    // of the last one
    UnpackReport report_;
};

UnpackReport keep_single(const fs::path& upload, const std::string& name, const fs::path& folder,
                         const UnpackLimits& limits) {
    const UniqueFd from(open(upload.c_str(), O_RDONLY | O_CLOEXEC));
    if (!from) {
        throw Error{ErrorCode::not_found, fmt::format("{} cannot be opened", upload.string())};
    }
    const UniqueFd to = create_file(folder / name, name);
    UnpackReport report{.files = 1};
    Reserve reserve(folder, limits);
    std::vector<char> piece(1 << 18);
    for (;;) {
        const ssize_t count = read(from.get(), piece.data(), piece.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_writing(name);
        if (count == 0) return report;
        report.bytes += count;
        if (report.bytes > limits.bytes_max) {
            throw Error{ErrorCode::exhausted,
                        fmt::format("the file has more than {} bytes", limits.bytes_max)};
        }
        reserve.take(count);
        write_all(to.get(), std::span(piece).first(std::size_t(count)), name);
    }
}

/// The folder that is all there is inside, or `folder` itself.
fs::path only_folder(const fs::path& folder) {
    std::vector<fs::directory_entry> entries;
    for (const auto& entry : fs::directory_iterator(folder)) {
        entries.push_back(entry);
        if (entries.size() > 1) return folder;
    }
    return entries.size() == 1 && entries[0].is_directory() ? entries[0].path() : folder;
}

/// Removes what is half done, whatever happened.
struct Aside {
    fs::path path;
    ~Aside() {
        std::error_code ignored;    // a leftover is named .tmp and replaced by the next attempt
        fs::remove_all(path, ignored);
    }
};

bool is_kept(Kind kind, KeptArchive kept) {
    return (kind == Kind::tar && kept == KeptArchive::tar) ||
           (kind == Kind::zip && kept == KeptArchive::zip);
}

bool is_plain_name(const std::string& name) {
    return !name.empty() && name.size() <= 255 && !name.starts_with('.') &&
           name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

}    // namespace

UnpackReport unpack(const fs::path& upload, const std::string& name, const fs::path& folder,
                    const UnpackLimits& limits) {
    if (!is_plain_name(name)) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("\"{}\" is not a file name: it must not be empty, begin with a "
                                "dot or have a slash",
                                name)};
    }
    if (fs::exists(folder)) {
        throw Error{ErrorCode::conflict, fmt::format("{} exists already", folder.string())};
    }
    Kind kind = kind_of(upload);
    if (is_kept(kind, limits.kept)) kind = Kind::single;
    const Aside aside{folder.string() + ".tmp"};
    std::error_code error;
    fs::remove_all(aside.path, error);
    fs::create_directories(aside.path, error);
    if (error) {
        errno = error.value();
        fail_writing(folder.string());
    }
    const UnpackReport report = kind == Kind::single
                                    ? keep_single(upload, name, aside.path, limits)
                                    : Unpacker(upload, aside.path, limits).unpack(kind);
    if (limits.durable) {
        const UniqueFd opened(open(aside.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!opened || syncfs(opened.get()) != 0) fail_writing(folder.string());
    }
    fs::rename(only_folder(aside.path), folder, error);
    if (error) {
        errno = error.value();
        fail_writing(folder.string());
    }
    return report;
}

}    // namespace slipway
