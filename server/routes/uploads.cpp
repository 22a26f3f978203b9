#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/posix.h"
#include "api/base/sha256.h"
#include "scheduler/store/datasets.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/render.h"

// An upload is a row with what was announced and a file with what has arrived; the file alone says
// how far it is, so a broken connection loses nothing and is continued at Upload-Offset. One writer
// at a time holds a lock on the file. The checksum is computed as bytes arrive; what came before a
// restart is read once. Only a complete file of the announced size and checksum can be used.
namespace slipway::routes {
namespace {

constexpr std::chrono::hours keep{24};

// An upload's file is named by its id, which `is_id` has passed: no user text in paths.
std::filesystem::path file_of(const Services& services, const std::string& id) {
    return services.artifacts.locate(Artifact::upload, id);
}

[[noreturn]] void fail(std::string_view what) {
    const int reason = errno;
    const bool full = reason == ENOSPC || reason == EDQUOT;
    throw ProblemError({.status = full ? 507 : 503,
                        .code = full ? "disk_full" : "unavailable",
                        .detail = fmt::format("{}: {}", what, std::strerror(reason))});
}

// What has arrived is what the file holds: it grows while a body comes in, and keeps what came when
// the client breaks off.
std::uint64_t arrived(const Services& services, const std::string& id) {
    struct stat found {};
    if (stat(file_of(services, id).c_str(), &found) != 0) {
        if (errno == ENOENT) return 0;
        fail("the upload's file cannot be read");
    }
    return static_cast<std::uint64_t>(found.st_size);
}

// What uploads may take of the disk; at least one byte, since 0 would mean all of it.
std::int64_t room_for_uploads(const Services& services) {
    struct statvfs disk {};
    if (statvfs(services.artifacts.folder(Artifact::upload).c_str(), &disk) != 0)
        fail("the free space of the disk cannot be read");
    const std::uint64_t bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
    const std::uint64_t reserve = services.disk_reserve_bytes;
    return static_cast<std::int64_t>(bytes > reserve ? bytes - reserve : 1);
}

std::uint64_t offset_header(const Request& request) {
    const std::string_view text = request.header("upload-offset").value_or("");
    std::uint64_t offset = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offset);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        throw ProblemError(
            {.status = 400,
             .code = "bad_upload_offset",
             .detail = "the header Upload-Offset must give the offset of this part in bytes"});
    return offset;
}

std::vector<Pair> offset_headers(const Services& services, const store::Upload& upload) {
    return {
        {"Upload-Offset",
         std::to_string(upload.complete ? upload.size
                                        : static_cast<std::int64_t>(arrived(services, upload.id)))},
        {"Upload-Length", std::to_string(upload.size)}};
}

Response upload_response(const Services& services, store::Upload upload, int status = 200) {
    if (!upload.complete) upload.received = static_cast<std::int64_t>(arrived(services, upload.id));
    Response response = json_response(render(upload), status);
    for (Pair& header : offset_headers(services, upload))
        response.headers.push_back(std::move(header));
    return response;
}

[[noreturn]] void refuse_offset(const Services& services, const store::Upload& upload,
                                std::uint64_t got) {
    throw ProblemError({.status = 409,
                        .code = "upload_offset_mismatch",
                        .detail = fmt::format("{} bytes have arrived; this part begins at {}",
                                              arrived(services, upload.id), got),
                        .headers = offset_headers(services, upload)});
}

void require_open(const store::Upload& upload) {
    if (!upload.complete) return;
    throw ProblemError({.status = 409,
                        .code = "upload_complete",
                        .detail = fmt::format("upload {} is complete already", upload.id)});
}

// An empty upload has got no file yet.
void sync_file(const std::filesystem::path& path) {
    const UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file || fsync(file.get()) != 0) fail("the upload's file cannot be synced");
}

// Known from the bytes as they came. What came before this process was started is read, one file at
// a time: each is a job for seconds, and the workers are everybody's.
std::string content_hash(const Services& services, const store::Upload& upload) {
    UploadHashes& hashes = *services.upload_hashes;
    const auto size = static_cast<std::uint64_t>(upload.size);
    if (auto known = hashes.digest(upload.id, size)) return *known;
    const auto right = hashes.try_reading();
    if (!right.owns_lock())
        throw ProblemError({.status = 503,
                            .code = "upload_hashing",
                            .detail = "another upload is being read for its checksum; try again",
                            .headers = {{"Retry-After", "2"}}});
    std::string found = sha256_file(file_of(services, upload.id));
    hashes.keep(upload.id, size, found);
    return found;
}

// Refuses a file that is not what was announced.
void require_content(const Services& services, const store::Upload& upload) {
    const std::uint64_t bytes = arrived(services, upload.id);
    if (bytes != static_cast<std::uint64_t>(upload.size))
        throw ProblemError(
            {.status = 409,
             .code = "upload_incomplete",
             .detail = fmt::format("{} of {} bytes have arrived", bytes, upload.size),
             .headers = offset_headers(services, upload)});
    if (upload.sha256.empty()) return;
    const std::string found = content_hash(services, upload);
    if (found == upload.sha256) return;
    throw ProblemError({.status = 409,
                        .code = "checksum_mismatch",
                        .detail = fmt::format("the received bytes have the SHA-256 {}, but {} was "
                                              "announced; delete the upload and send the "
                                              "file again",
                                              found, upload.sha256)});
}

}    // namespace

Response create_upload(const Context& context) {
    Services& services = context.services;
    const UploadCreate body = read_body(context.request, decode_upload_create, "the upload");
    const auto size = static_cast<std::uint64_t>(body.size);
    if (size > services.upload_bytes_max)
        throw_problems({{.pointer = "/size",
                         .code = "out_of_bounds",
                         .message = fmt::format("an upload has at most {} bytes, got {}",
                                                services.upload_bytes_max, size)}},
                       "invalid_upload", "the upload");
    store::Upload upload;
    upload.id = new_id("upl");
    upload.filename = body.filename;
    upload.size = body.size;
    upload.sha256 = body.sha256;
    upload.created_by = context.who.token_id;
    upload.host = services.host_name;
    try {
        upload = store::create_upload(services.store, upload, keep,
                                      {.open_max = services.limits.open_uploads,
                                       .stored_max = services.limits.stored_bytes,
                                       .bytes = room_for_uploads(services)});
    } catch (const store::NoRoom& error) {
        throw ProblemError({.status = 507, .code = "disk_full", .detail = error.what()});
    }
    const std::string location = "/v1/uploads/" + upload.id;
    return upload_response(services, std::move(upload), 201).with("Location", location);
}

Response get_upload(const Context& context) {
    return upload_response(context.services,
                           the_upload(context.request, context.services, context.who));
}

namespace {

// Of an upload that announced no checksum nobody asks for one.
std::function<void(std::string_view, std::uint64_t)> hash_as_it_comes(const Services& services,
                                                                      const store::Upload& upload) {
    if (upload.sha256.empty()) return {};
    return [hashes = services.upload_hashes, id = upload.id](
               std::string_view bytes, std::uint64_t offset) { hashes->add(id, offset, bytes); };
}

}    // namespace

BodyTarget receive_upload(const Request& request, Services& services, const Identity& who) {
    const store::Upload upload = the_upload(request, services, who);
    require_open(upload);
    const std::uint64_t offset = offset_header(request);
    UniqueFd file(open(file_of(services, upload.id).c_str(),
                       O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) fail("the upload's file cannot be written");
    // One writer at a time. The lock goes with the descriptor, so also when the client breaks off.
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0)
        throw ProblemError({.status = 409,
                            .code = "upload_busy",
                            .detail = "another request is sending a part of this upload",
                            .headers = {{"Retry-After", "1"}}});
    if (offset != arrived(services, upload.id)) refuse_offset(services, upload, offset);
    return {.file = std::make_shared<const UniqueFd>(std::move(file)),
            .offset = offset,
            .bytes_max = static_cast<std::uint64_t>(upload.size) - offset,
            .written = hash_as_it_comes(services, upload),
            .permit = services.transfers->permit({{.token_id = who.token_id, .role = Role::editor}},
                                                 upload.id)};
}

Response append_upload(const Context& context) {
    Services& services = context.services;
    const store::Upload upload = the_upload(context.request, services, context.who);
    const auto bytes = static_cast<std::int64_t>(arrived(services, upload.id));
    // The row only informs; a part that a broken connection left behind is added with the next.
    store::advance_upload(services.store, upload.id, upload.received, bytes);
    Response response = no_content();
    response.headers = offset_headers(services, upload);
    return response;
}

Response complete_upload(const Context& context) {
    Services& services = context.services;
    store::Upload upload = the_upload(context.request, services, context.who);
    if (!upload.complete) {
        require_content(services, upload);
        sync_file(file_of(services, upload.id));
        if (upload.received != upload.size)
            store::advance_upload(services.store, upload.id, upload.received, upload.size);
        if (!store::complete_upload(services.store, upload.id))
            throw ProblemError({.status = 409,
                                .code = "upload_incomplete",
                                .detail = "the upload changed meanwhile; try again"});
        upload = the_upload(context.request, services, context.who);
    }
    return upload_response(services, std::move(upload));
}

Response delete_upload(const Context& context) {
    const store::Upload upload = the_upload(context.request, context.services, context.who);
    if (!store::delete_upload(context.services.store, upload.id))
        throw_not_found("upload", upload.id);
    context.services.upload_hashes->forget(upload.id);
    context.services.transfers->recheck();    // what is still being sent into it ends
    return no_content();
}

}    // namespace slipway::routes
