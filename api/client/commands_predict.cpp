#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "api/base/printable.h"
#include "api/client/checkpoint_source.h"
#include "api/client/commands.h"
#include "api/client/follow.h"

namespace slipway::client {
namespace {

namespace fs = std::filesystem;

Json request_of(const PredictOptions& options) {
    Json data{{"dataset", options.dataset}, {"split", options.split}};
    if (!options.part.empty()) data["part"] = options.part;
    Json request{{"project", options.project},
                 {"from", checkpoint_source(options.from, options.checkpoint)},
                 {"data", std::move(data)},
                 {"batch_size_per_core", options.batch_size_per_core},
                 {"accelerator", {{"cores", options.cores}}}};
    if (!options.precision.empty()) request["precision"] = options.precision;
    return request;
}

/// False when the disk does not take it.
bool stream_result(const HttpClient& client, const std::string& target, std::FILE* file) {
    bool written = true;
    const ClientResponse response =
        client.stream({.method = "GET", .target = target}, [&](std::string_view bytes) {
            written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
            return written;
        });
    require_success(response);
    return written && std::fflush(file) == 0;
}

}    // namespace

ExitCode predict(const HttpClient& client, const PredictOptions& options) {
    const Json job = call(client, "POST", "/v1/predictions", request_of(options));
    const std::string id = cell(job, "id");
    if (!options.follow && options.out.empty()) {
        fmt::print("{}\n", id);
        return ExitCode::ok;
    }
    fmt::print("{} ({})\n", cell(job, "name"), id);
    const ExitCode ended = follow_job(client, id);
    if (ended != ExitCode::ok || options.out.empty()) return ended;
    return print_result(client, id, options.out);
}

ExitCode print_result(const HttpClient& client, const std::string& prediction_id,
                      const std::string& out) {
    save_csv(client, fmt::format("/v1/predictions/{}/result.csv", percent_encode(prediction_id)),
             out);
    if (!out.empty()) fmt::print("{}\n", out);
    return ExitCode::ok;
}

void save_csv(const HttpClient& client, const std::string& target, const std::string& out) {
    const auto complain = [&] {
        throw Stop(ExitCode::usage, fmt::format("{} cannot be written: is the disk full?",
                                                out.empty() ? "standard output" : out));
    };
    if (out.empty()) {
        // A pipe gets the bytes as they are; a terminal would act on some of them.
        if (isatty(STDOUT_FILENO) == 1) {
            const ClientResponse response = call_raw(client, {.target = target});
            require_success(response);
            fmt::print("{}", printable_text(response.body));
            return;
        }
        if (!stream_result(client, target, stdout)) complain();
        return;
    }
    // Aside first: an older result stays until the new one is complete.
    const std::string part = out + ".part";
    std::error_code problem;
    try {
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(part.c_str(), "wb"),
                                                                   std::fclose);
        if (!file || !stream_result(client, target, file.get())) complain();
    } catch (const std::exception&) {
        fs::remove(part, problem);
        throw;
    }
    fs::rename(part, out, problem);
    if (problem) {
        fs::remove(part, problem);
        complain();
    }
}

}    // namespace slipway::client
