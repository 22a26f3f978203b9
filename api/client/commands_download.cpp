#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "api/base/posix.h"
#include "api/base/sha256.h"
#include "api/client/commands.h"
#include "api/client/transfer_line.h"

namespace slipway::client {
namespace {

namespace fs = std::filesystem;

constexpr int tries_max = 5;

struct Expected {
    std::uintmax_t bytes = 0;
    std::string sha256;
};

Expected find_file(const HttpClient& client, const std::string& checkpoint,
                   const std::string& file) {
    const Json found = get(client, "/v1/checkpoints/" + percent_encode(checkpoint));
    std::string names;
    for (const Json& one : found.at("files")) {
        if (cell(one, "name") == file)
            return {one.at("bytes").get<std::uintmax_t>(), cell(one, "sha256")};
        names += (names.empty() ? "" : ", ") + cell(one, "name");
    }
    throw Stop(ExitCode::refused,
               fmt::format("checkpoint {} has no file `{}`; it has {}", checkpoint, file, names));
}

std::uintmax_t size_of(const fs::path& path) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(path, error);
    return error ? 0 : bytes;
}

// A file in part. What its owner has not said to keep goes with the scope.
struct PartFile {
    fs::path path;
    bool keep = false;
    ~PartFile() {
        std::error_code ignored;    // the command tells why it failed
        if (!keep) fs::remove(path, ignored);
    }
};

// Appends what is missing. False when the connection broke and another try may help.
bool fetch_rest(const HttpClient& client, const std::string& target, const fs::path& part,
                std::uintmax_t have, const std::function<void(std::uintmax_t)>& show) {
    ClientRequest request{.target = target};
    if (have > 0) request.headers.push_back({"Range", fmt::format("bytes={}-", have)});
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        std::fopen(part.c_str(), have > 0 ? "ab" : "wb"), std::fclose);
    if (!file) throw Stop(ExitCode::usage, fmt::format("{} cannot be written", part.string()));
    bool written = true;
    try {
        const ClientResponse response = client.stream(request, [&](std::string_view bytes) {
            written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
            have += bytes.size();
            show(have);
            return written;
        });
        if (response.status == 503) return false;
        require_success(response);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::unavailable) throw;
        return false;
    }
    if (!written || std::fflush(file.get()) != 0)
        throw Stop(ExitCode::usage,
                   fmt::format("{} cannot be written: is the disk full?", part.string()));
    return true;
}

void move_into_place(PartFile& part, const fs::path& target) {
    std::error_code error;
    fs::rename(part.path, target, error);
    if (error)
        throw Stop(ExitCode::usage,
                   fmt::format("{} cannot be written: {}", target.string(), error.message()));
}

}    // namespace

ExitCode download(const HttpClient& client, const std::string& checkpoint_id,
                  const std::string& file, const std::string& out) {
    const Expected expected = find_file(client, checkpoint_id, file);
    const fs::path target = out.empty() ? fs::path(file).filename() : fs::path(out);
    // What has come is gone on with by the next command.
    PartFile part{.path = target.string() + ".part", .keep = true};
    const std::string address = fmt::format("/v1/checkpoints/{}/files/{}",
                                            percent_encode(checkpoint_id), percent_encode(file));
    {    // the line ends before the command prints its result
        TransferLine line(file, expected.bytes);
        for (int attempt = 1; size_of(part.path) != expected.bytes || expected.bytes == 0;
             ++attempt) {
            std::uintmax_t have = size_of(part.path);
            if (have > expected.bytes) have = 0;
            if (fetch_rest(client, address, part.path, have,
                           [&](std::uintmax_t done) { line.show(done); }))
                break;
            if (attempt == tries_max)
                throw Stop(
                    ExitCode::unreachable,
                    fmt::format("the download was interrupted {} times; run the command again "
                                "to continue from {} of {} bytes",
                                attempt, size_of(part.path), expected.bytes));
            pause_for(std::chrono::seconds{1});
        }
    }
    if (sha256_file(part.path) != expected.sha256) {
        part.keep = false;
        throw Stop(
            ExitCode::refused,
            fmt::format("the downloaded file is not {} of {} (checksums differ); it was removed, "
                        "run the command again",
                        file, checkpoint_id));
    }
    move_into_place(part, target);
    fmt::print("{}\n", target.string());
    return ExitCode::ok;
}

ExitCode fetch_tensorboard(const HttpClient& client, const std::string& job_id,
                           const std::string& out) {
    const ClientResponse response = call_raw(client, {.target = job_path(job_id) + "/tensorboard"});
    require_success(response);
    const fs::path folder = out.empty() ? fs::path(job_id) : fs::path(out);
    fs::create_directories(folder);
    // The same name each time: TensorBoard shows every event file of a folder.
    const fs::path target = folder / "events.out.tfevents.0.slipway";
    write_file_aside(target, response.body);
    fmt::print("{}\n", target.string());
    return ExitCode::ok;
}

ExitCode export_weights(const HttpClient& client, const std::string& checkpoint_id,
                        const ExportWeightsOptions& options) {
    const fs::path target =
        options.out.empty() ? fs::path(checkpoint_id + ".safetensors") : fs::path(options.out);
    // Written anew by each try: a part of it is of no use to the next command.
    PartFile part{.path = target.string() + ".part"};
    const std::string address =
        fmt::format("/v1/checkpoints/{}/weights.safetensors?dtype={}&weights={}",
                    percent_encode(checkpoint_id), options.dtype, options.weights);
    for (int attempt = 1; !fetch_rest(client, address, part.path, 0, [](std::uintmax_t) {});
         ++attempt) {
        if (attempt == tries_max)
            throw Stop(ExitCode::unreachable,
                       fmt::format("the weights were not complete after {} tries", attempt));
        pause_for(std::chrono::seconds{1});
    }
    move_into_place(part, target);
    fmt::print("{}\n", target.string());
    return ExitCode::ok;
}

}    // namespace slipway::client
