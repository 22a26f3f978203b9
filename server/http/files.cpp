#include "server/http/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "api/base/error.h"
#include "api/base/letter_case.h"
#include "api/base/posix.h"
#include "api/base/sha256.h"
#include "server/http/content_encoding.h"
#include "server/http/problem.h"
#include "server/http/text.h"

// A path from a request is opened below a folder by openat2 with RESOLVE_BENEATH, or step by step
// where the kernel has no such call: no link, no "..", only regular files. One byte range is
// answered, with If-Range and entity tags; several are not, which RFC 9110 allows.
// Source: RFC 9110, sections 8.8, 13 and 14
namespace slipway {

namespace {

// A folder of a running job, the root or one below it, may be replaced by one that holds the same
// files (exchange_folders). A walk that is in the old one at that moment finds its names gone; the
// next walk, from the root's path on, is in the new one.
constexpr int walks_max = 8;
constexpr int open_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

/// Names joined by "/", none of them empty, "." or "..".
bool stays_below(std::string_view relative) {
    while (!relative.empty()) {
        const auto slash = std::min(relative.find('/'), relative.size());
        const std::string_view name = relative.substr(0, slash);
        if (name.empty() || name == "." || name == ".." ||
            name.find('\0') != std::string_view::npos)
            return false;
        if (slash + 1 == relative.size()) return false;    // ends with "/"
        relative.remove_prefix(std::min(slash + 1, relative.size()));
    }
    return true;
}

UniqueFd open_with_openat2(int root, const std::string& relative) {
    open_how how{};
    how.flags = open_flags;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return UniqueFd(
        static_cast<int>(syscall(SYS_openat2, root, relative.c_str(), &how, sizeof how)));
}

UniqueFd open_step_by_step(int root, std::string_view relative) {
    UniqueFd folder;
    for (;;) {
        const auto slash = relative.find('/');
        const std::string name(relative.substr(0, slash));
        const bool last = slash == std::string_view::npos;
        const int flags = (last ? open_flags : O_PATH | O_DIRECTORY | O_CLOEXEC) | O_NOFOLLOW;
        UniqueFd next(openat(folder ? folder.get() : root, name.c_str(), flags));
        if (last || !next) return next;
        folder = std::move(next);
        relative.remove_prefix(slash + 1);
    }
}

/// Errors that mean "there is no such file for you", not "the system is in trouble".
bool means_absent(int error) {
    constexpr int absent[]{ENOENT, ENOTDIR, ELOOP, EXDEV, EACCES, ENXIO, ENAMETOOLONG, EISDIR};
    return std::find(std::begin(absent), std::end(absent), error) != std::end(absent);
}

UniqueFd walk(const std::filesystem::path& root, std::string_view relative, bool openat2_first) {
    const UniqueFd folder(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return {};
    UniqueFd file;
    if (openat2_first) file = open_with_openat2(folder.get(), std::string(relative));
    // EPERM: a container's filter that does not know the call.
    if (!openat2_first || (!file && (errno == ENOSYS || errno == EPERM || errno == EINVAL)))
        file = open_step_by_step(folder.get(), relative);
    return file;
}

std::optional<OpenedFile> open_with(const std::filesystem::path& root, std::string_view relative,
                                    bool openat2_first) {
    if (relative.empty() || relative.front() == '/' || !stays_below(relative)) return std::nullopt;
    UniqueFd file = walk(root, relative, openat2_first);
    for (int walks = 1; !file && errno == ENOENT && walks < walks_max; ++walks)
        file = walk(root, relative, openat2_first);
    if (!file) {
        if (means_absent(errno)) return std::nullopt;
        throw Error(ErrorCode::unavailable,
                    "a file could not be opened: " + std::system_category().message(errno));
    }
    struct stat facts {};
    if (fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
    return OpenedFile{
        .file = std::make_shared<const UniqueFd>(std::move(file)),
        .bytes = static_cast<std::uint64_t>(facts.st_size),
        .modified_ns = facts.st_mtim.tv_sec * 1'000'000'000LL + facts.st_mtim.tv_nsec};
}

struct Range {
    std::uint64_t first = 0;
    std::uint64_t length = 0;
};

/// What a Range header asks of a file. `ignored`: send all of it.
struct RangeAnswer {
    enum class Kind { ignored, one, unsatisfiable } kind = Kind::ignored;
    Range range = {};
};

RangeAnswer read_range(std::string_view header, std::uint64_t bytes) {
    using Kind = RangeAnswer::Kind;
    const auto equals = header.find('=');
    if (equals == std::string_view::npos ||
        !equal_ignoring_case(trimmed(header.substr(0, equals)), "bytes"))
        return {};
    const std::string_view spec = trimmed(header.substr(equals + 1));
    const auto dash = spec.find('-');
    if (dash == std::string_view::npos || spec.find(',') != std::string_view::npos) return {};
    const auto first = parse_decimal(spec.substr(0, dash));
    const auto last = parse_decimal(spec.substr(dash + 1));
    if (dash == 0) {
        if (!last) return {};
        const std::uint64_t length = std::min(*last, bytes);
        if (length == 0) return {Kind::unsatisfiable};
        return {Kind::one, {bytes - length, length}};
    }
    const bool open_ended = dash + 1 == spec.size();
    if (!first || (!last && !open_ended) || (last && *last < *first)) return {};
    if (*first >= bytes) return {Kind::unsatisfiable};
    const std::uint64_t end = open_ended ? bytes : std::min(*last + 1, bytes);
    return {Kind::one, {*first, end - *first}};
}

/// Takes the next `"…"` or `W/"…"` off a list of entity tags; none: there is no more.
std::optional<std::string_view> next_etag(std::string_view& list) {
    const auto open = list.find('"');
    if (open == std::string_view::npos) return std::nullopt;
    const auto close = list.find('"', open + 1);
    if (close == std::string_view::npos) return std::nullopt;
    const bool weak = open >= 2 && list.substr(open - 2, 2) == "W/";
    const auto start = weak ? open - 2 : open;
    const std::string_view tag = list.substr(start, close + 1 - start);
    list.remove_prefix(close + 1);
    return tag;
}

}    // namespace

std::optional<OpenedFile> open_below(const std::filesystem::path& root, std::string_view relative) {
    return open_with(root, relative, true);
}

std::optional<OpenedFile> open_below_by_steps(const std::filesystem::path& root,
                                              std::string_view relative) {
    return open_with(root, relative, false);
}

Response file_response(const Request& request, const OpenedFile& file, const FileOffer& offer) {
    const std::string etag = offer.etag.empty()
                                 ? fmt::format("\"{:x}-{:x}\"", file.bytes, file.modified_ns)
                                 : offer.etag;
    Response response;
    response.media_type = offer.media_type;
    response.headers = {{"Accept-Ranges", "bytes"}, {"ETag", etag}};
    if (!offer.cache_control.empty())
        response.headers.push_back({"Cache-Control", offer.cache_control});
    if (!offer.download_name.empty())
        response.headers.push_back(
            {"Content-Disposition", attachment_disposition(offer.download_name)});
    response.file = FileBody{file.file, 0, file.bytes};

    const auto range_header = request.header("range");
    const auto if_range = request.header("if-range");
    if (!range_header || (if_range && *if_range != etag) || request.method != Method::GET)
        return response;
    // A client that already has it is told so, whatever part it asks for.
    if (const auto seen = request.header("if-none-match"); seen && etag_listed(*seen, etag, true))
        return response;
    const RangeAnswer answer = read_range(*range_header, file.bytes);
    if (answer.kind == RangeAnswer::Kind::unsatisfiable)
        throw ProblemError({.status = 416,
                            .code = "range_not_satisfiable",
                            .detail = fmt::format("the file has {} bytes", file.bytes),
                            .headers = {{"Content-Range", fmt::format("bytes */{}", file.bytes)}}});
    if (answer.kind == RangeAnswer::Kind::one) {
        const Range range = answer.range;
        response.status = 206;
        response.file = FileBody{file.file, range.first, range.length};
        response.headers.push_back(
            {"Content-Range", fmt::format("bytes {}-{}/{}", range.first,
                                          range.first + range.length - 1, file.bytes)});
    }
    return response;
}

std::string_view media_type_of(std::string_view name) {
    struct Row {
        std::string_view ending, type;
    };
    static constexpr Row rows[]{
        {".html", "text/html; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".json", "application/json"},
        {".csv", "text/csv; charset=utf-8"},
        {".txt", "text/plain; charset=utf-8"},
        {".svg", "image/svg+xml"},
        {".png", "image/png"},
        {".jpg", "image/jpeg"},
        {".ico", "image/vnd.microsoft.icon"},
        {".woff2", "font/woff2"},
    };
    for (const Row& row : rows)
        if (name.ends_with(row.ending)) return row.type;
    return "application/octet-stream";
}

std::string etag_of(std::string_view bytes) {
    return '"' + sha256_hex(bytes).substr(0, 32) + '"';
}

bool etag_listed(std::string_view list, std::string_view etag, bool weak) {
    const auto bare = [weak](std::string_view tag) {
        return weak && tag.starts_with("W/") ? tag.substr(2) : tag;
    };
    list = trimmed(list);
    if (list == "*") return true;
    while (const auto item = next_etag(list))
        if (plain_etag(bare(*item)) == plain_etag(bare(etag)) && (weak || !item->starts_with("W/")))
            return true;
    return false;
}

void require_if_match(const Request& request, std::string_view etag) {
    const auto wanted = request.header("if-match");
    if (!wanted || etag_listed(*wanted, etag, false)) return;
    throw ProblemError({.status = 412,
                        .code = "precondition_failed",
                        .detail = "it has changed since you read it; read it again (ETag)",
                        .headers = {{"ETag", std::string(etag)}}});
}

std::string attachment_disposition(std::string_view name) {
    std::string plain, escaped;
    for (const char c : name) {
        const bool safe = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-';
        plain += safe ? c : '_';
        if (safe)
            escaped += c;
        else
            escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return fmt::format("attachment; filename=\"{}\"; filename*=UTF-8''{}", plain, escaped);
}

}    // namespace slipway
