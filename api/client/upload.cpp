// One piece after the other. Whatever breaks off, the service says how much has arrived, and the
// next piece begins there: a piece that arrived although its answer was lost is not sent twice.
#include "api/client/upload.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "api/base/clock.h"
#include "api/base/id.h"
#include "api/base/posix.h"
#include "api/base/sha256.h"
#include "api/client/service.h"
#include "api/client/transfer_line.h"

namespace slipway::client {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece_bytes = std::size_t{8} << 20;
constexpr std::chrono::minutes patience{5};
constexpr std::chrono::seconds again_after{1};

std::string upload_path(const std::string& id) {
    return "/v1/uploads/" + percent_encode(id);
}

fs::path record_path(const HttpClient& client, const std::string& sha256) {
    const char* base = std::getenv("XDG_CACHE_HOME");
    const char* home = std::getenv("HOME");
    const fs::path folder = base != nullptr && *base != '\0'
                                ? fs::path(base)
                                : fs::path(home == nullptr ? "/" : home) / ".cache";
    const std::string key = to_string(client.options().url) + " " + sha256;
    return folder / "slipway" / "uploads" / sha256_hex(key);
}

std::string sha256_of(const UploadSource& source) {
    Sha256 hash;
    for (std::uintmax_t offset = 0; offset < source.bytes;) {
        const std::string piece = source.read(offset, piece_bytes);
        hash.update(piece);
        offset += piece.size();
    }
    return hash.finish();
}

// How much has arrived; nothing when the service has no such upload for us.
std::optional<std::uintmax_t> arrived_bytes(const HttpClient& client, const std::string& id) {
    const ClientResponse head = call_raw(client, {.method = "HEAD", .target = upload_path(id)});
    if (head.status == 404 || head.status == 403) return std::nullopt;
    require_success(head);
    const std::string_view text = head.header("Upload-Offset");
    std::uintmax_t bytes = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (error != std::errc{} || end != text.data() + text.size())
        throw Stop(ExitCode::unreachable,
                   "the service did not say how much of the upload has arrived");
    return bytes;
}

struct Begun {
    std::string id;
    std::uintmax_t offset = 0;
};

// That of an earlier command if the service still has it.
std::optional<Begun> begun_before(const HttpClient& client, const fs::path& record) {
    std::ifstream file(record);
    std::string id;
    if (!std::getline(file, id) || !is_id("upl", id)) return std::nullopt;
    const auto offset = arrived_bytes(client, id);
    if (!offset) return std::nullopt;
    return Begun{.id = id, .offset = *offset};
}

Begun begin(const HttpClient& client, const UploadSource& source, const std::string& sha256,
            const fs::path& record) {
    if (const auto begun = begun_before(client, record)) return *begun;
    const Json made =
        call(client, "POST", "/v1/uploads",
             {{"filename", source.filename}, {"size", source.bytes}, {"sha256", sha256}});
    Begun begun{.id = text_of(made, "id")};
    std::error_code error;
    fs::create_directories(record.parent_path(), error);
    // Where nothing can be kept the upload goes on all the same, from its start the next time.
    if (!error) {
        std::ofstream file(record);
        file << begun.id << '\n';
    }
    return begun;
}

std::uintmax_t send_piece(const HttpClient& client, const UploadSource& source,
                          const Begun& begun) {
    std::string piece = source.read(begun.offset, piece_bytes);
    const std::size_t bytes = piece.size();
    ClientRequest request{.method = "PATCH",
                          .target = upload_path(begun.id),
                          .body = std::move(piece),
                          .media_type = "application/octet-stream"};
    request.headers.push_back({"Upload-Offset", std::to_string(begun.offset)});
    const ClientResponse response = call_raw(client, std::move(request));
    if (response.status == 409)    // a part of an earlier try has arrived
        return arrived_bytes(client, begun.id).value_or(0);
    require_success(response);
    return begun.offset + bytes;
}

void send_rest(const HttpClient& client, const UploadSource& source, Begun& begun) {
    TransferLine line(source.filename, source.bytes);
    Tick heard_at = system_clock().tick();
    while (begun.offset < source.bytes) {
        line.show(begun.offset);
        try {
            begun.offset = send_piece(client, source, begun);
            heard_at = system_clock().tick();
        } catch (const Stop& stop) {
            // Only a connection comes back by itself.
            if (stop.code() != ExitCode::unreachable) throw;
            if (system_clock().tick() - heard_at > patience)
                throw Stop(ExitCode::unreachable,
                           fmt::format("{}; run the command again to continue from {} of {} bytes",
                                       stop.what(), begun.offset, source.bytes));
            pause_for(again_after);
        }
    }
}

}    // namespace

UploadSource file_source(const fs::path& path) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(path, error);
    if (error) throw Stop(ExitCode::usage, fmt::format("{} cannot be read", path.string()));
    return {.filename = path.filename().string(),
            .bytes = bytes,
            .read = [path, bytes](std::uintmax_t offset, std::size_t bytes_max) {
                std::ifstream file(path, std::ios::binary);
                file.seekg(static_cast<std::streamoff>(offset));
                std::string piece(
                    static_cast<std::size_t>(std::min<std::uintmax_t>(bytes - offset, bytes_max)),
                    '\0');
                if (!file.read(piece.data(), static_cast<std::streamsize>(piece.size())))
                    throw Stop(ExitCode::usage,
                               fmt::format("{} changed during the upload", path.string()));
                return piece;
            }};
}

FinishedUpload send_upload(const HttpClient& client, const UploadSource& source) {
    const std::string sha256 = sha256_of(source);
    const fs::path record = record_path(client, sha256);
    Begun begun = begin(client, source, sha256, record);
    const std::string target = upload_path(begun.id);
    if (!get(client, target).value("complete", false)) {
        send_rest(client, source, begun);
        try {
            call(client, "POST", target + "/complete", Json::object());
        } catch (const Stop& stop) {
            // Bytes that are not what was announced will never be: the next command begins again.
            if (stop.code() == ExitCode::refused) forget_upload({.id = begun.id, .record = record});
            throw;
        }
    }
    return {.id = begun.id, .record = record};
}

void forget_upload(const FinishedUpload& upload) {
    std::error_code ignored;    // without a record there is nothing to forget
    fs::remove(upload.record, ignored);
}

}    // namespace slipway::client
