#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace slipway {

/// A regular file opened for reading.
struct OpenedFile {
    std::shared_ptr<const UniqueFd> file;    ///< shared with the answer that sends it
    std::uint64_t bytes = 0;
    std::int64_t modified_ns = 0;    ///< since the epoch
};

/// Opens `relative` (names joined by "/") below `root`: no "..", no absolute path, no symbolic link
/// on the way, nothing but a regular file. By openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS); step
/// by step with O_NOFOLLOW where the kernel lacks it. None when there is no such file or the path
/// tries to leave; a file whose folder is replaced meanwhile by one that has it too is found.
/// errors  throws unavailable when the system refuses for another reason
std::optional<OpenedFile> open_below(const std::filesystem::path& root, std::string_view relative);

/// The same in the way of kernels without openat2: for them, and for the test that it is the same.
std::optional<OpenedFile> open_below_by_steps(const std::filesystem::path& root,
                                              std::string_view relative);

/// How a file is offered.
struct FileOffer {
    std::string media_type = "application/octet-stream";
    std::string download_name = {};    ///< not empty: Content-Disposition: attachment
    /// With the quotes: "\"9f86d0…\""; empty: made from size and time of change.
    std::string etag = {};
    /// Empty: no-store.
    std::string cache_control = {};
};

/// 200 with the whole file, 206 with the one range asked for (If-Range honoured), or 416. Several
/// ranges in one request are answered with the whole file.
Response file_response(const Request& request, const OpenedFile& file, const FileOffer& offer = {});

/// "text/css; charset=utf-8" for "style.css"; application/octet-stream for an unknown ending.
std::string_view media_type_of(std::string_view name);

/// A strong ETag, quotes included, of these bytes.
std::string etag_of(std::string_view bytes);

/// True when a list of ETags such as If-None-Match or If-Match names `etag`, or is * and nothing
/// else. `weak`: compares without the W/ prefix, as If-None-Match does. Commas inside quotes are
/// part of a tag; what is not in quotes is no tag and names nothing.
/// The ETag of an encoded form names the plain one and the other way round (content_encoding.h).
bool etag_listed(std::string_view list, std::string_view etag, bool weak);

/// Throws 412 `precondition_failed` when the request has an If-Match that does not name `etag`.
void require_if_match(const Request& request, std::string_view etag);

/// "attachment; filename=…; filename*=UTF-8''…": safe for any name.
std::string attachment_disposition(std::string_view name);

}    // namespace slipway
