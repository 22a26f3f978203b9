#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "api/base/printable.h"
#include "api/base/sha256.h"
#include "api/client/commands.h"
#include "api/client/transfer_line.h"

namespace slipway::client {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece_bytes = std::size_t{8} << 20;

std::string dataset_path(const std::string& name) {
    return "/v1/datasets/" + percent_encode(name);
}

Json request_of(const DatasetOptions& options) {
    if (options.name.ends_with(".json")) {
        std::ifstream file(options.name, std::ios::binary);
        if (!file) throw Stop(ExitCode::usage, fmt::format("{} cannot be read", options.name));
        Json request = Json::parse(file, nullptr, false);
        if (!request.is_object())
            throw Stop(ExitCode::usage, fmt::format("{} is not a JSON object", options.name));
        return request;
    }
    if (options.format.empty())
        throw Stop(ExitCode::usage, "name the dataset's format with --format");
    Json request{{"name", options.name}, {"format", options.format}};
    if (!options.path.empty()) request["source"] = {{"path", options.path}};
    if (!options.options.empty()) {
        Json& into = request["options"] = Json::object();
        for (const auto& [name, value] : options.options) {
            const Json parsed = Json::parse(value, nullptr, false);
            const bool is_value = parsed.is_number() || parsed.is_boolean() || parsed.is_array();
            into[name] = is_value ? parsed : Json(value);
        }
    }
    return request;
}

// One piece after the other; after a break the service says where to go on.
void send_file(const HttpClient& client, const std::string& target, const fs::path& path,
               std::uintmax_t size) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> piece(piece_bytes);
    TransferLine line(path.filename().string(), size);
    for (std::uintmax_t offset = 0; offset < size;) {
        line.show(offset);
        file.clear();
        file.seekg(static_cast<std::streamoff>(offset));
        const auto wanted =
            static_cast<std::streamsize>(std::min<std::uintmax_t>(piece.size(), size - offset));
        if (!file.read(piece.data(), wanted))
            throw Stop(ExitCode::usage, fmt::format("{} changed while it was sent", path.string()));
        ClientRequest request{.method = "PATCH",
                              .target = target,
                              .body = std::string(piece.data(), static_cast<std::size_t>(wanted)),
                              .media_type = "application/octet-stream"};
        request.headers.push_back({"Upload-Offset", std::to_string(offset)});
        const ClientResponse response = call_raw(client, std::move(request));
        if (response.status == 409) {    // a part of an earlier try has arrived
            const ClientResponse head = call_raw(client, {.method = "HEAD", .target = target});
            require_success(head);
            offset = std::stoull(std::string(head.header("Upload-Offset")));
            continue;
        }
        require_success(response);
        offset += static_cast<std::uintmax_t>(wanted);
    }
}

std::string upload(const HttpClient& client, const fs::path& path) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) throw Stop(ExitCode::usage, fmt::format("{} cannot be read", path.string()));
    const Json made = call(
        client, "POST", "/v1/uploads",
        {{"filename", path.filename().string()}, {"size", size}, {"sha256", sha256_file(path)}});
    const std::string target = "/v1/uploads/" + cell(made, "id");
    send_file(client, target, path, size);
    call(client, "POST", target + "/complete", Json::object());
    return cell(made, "id");
}

Json wait_until_checked(const HttpClient& client, const std::string& id) {
    for (;;) {
        ClientRequest request{.target = dataset_path(id)};
        request.headers.push_back({"Prefer", "wait=30"});
        const ClientResponse response = call_raw(client, std::move(request));
        require_success(response);
        Json dataset = Json::parse(response.body, nullptr, false);
        if (cell(dataset, "state") != "checking") return dataset;
    }
}

ExitCode print_verdict(const Json& dataset) {
    fmt::print("{} ({}) {}\n", cell(dataset, "name"), cell(dataset, "id"), cell(dataset, "state"));
    const auto problems = dataset.find("problems");
    if (problems != dataset.end() && problems->is_array())
        for (const Json& one : *problems) {
            std::string where = cell(one, "file");
            if (one.contains("row") && one["row"].is_number()) where += ":" + cell(one, "row");
            fmt::print("  {}: {}\n", where, cell(one, "message"));
        }
    return cell(dataset, "state") == "failed" ? ExitCode::job_failed : ExitCode::ok;
}

}    // namespace

Listing list_datasets(const HttpClient& client) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, "/v1/datasets");
    for (const Json& one : items)
        rows.push_back({cell(one, "id"), cell(one, "name"), cell(one, "format"), cell(one, "state"),
                        cell(one, "created_at").substr(0, 19)});
    return {.head = {"id", "name", "format", "state", "created"},
            .rows = std::move(rows),
            .items = items};
}

ExitCode show_dataset(const HttpClient& client, const std::string& name) {
    fmt::print("{}\n", printable_text(get(client, dataset_path(name)).dump(2)));
    return ExitCode::ok;
}

ExitCode delete_dataset(const HttpClient& client, const std::string& name) {
    call(client, "DELETE", dataset_path(name), nullptr);
    fmt::print("{} deleted\n", name);
    return ExitCode::ok;
}

ExitCode create_dataset(const HttpClient& client, const DatasetOptions& options) {
    Json request = request_of(options);
    if (!options.upload.empty()) request["source"] = {{"upload", upload(client, options.upload)}};
    Json dataset = call(client, "POST", "/v1/datasets", request);
    if (options.wait) dataset = wait_until_checked(client, cell(dataset, "id"));
    return print_verdict(dataset);
}

}    // namespace slipway::client
