#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "api/base/plural.h"
#include "api/base/printable.h"
#include "api/client/data_commands.h"
#include "api/client/folder_archive.h"
#include "api/client/progress_line.h"
#include "api/client/upload.h"
#include "api/spec/dataset_format.h"

namespace slipway::client {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t name_characters_max = 64;

// What a dataset may be called, from what a folder is called.
std::string dataset_name(const fs::path& path) {
    std::string name = (path.has_filename() ? path : path.parent_path()).stem().string();
    std::ranges::replace_if(
        name,
        [](char c) {
            const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                 (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
            return !is_word;
        },
        '-');
    name.erase(0, name.find_first_not_of(".-_"));
    return name.substr(0, name_characters_max);
}

struct Found {
    UploadSource source;
    std::vector<std::string> names;
};

Found find_data(const fs::path& path) {
    std::error_code error;
    if (!fs::exists(path, error))
        throw Stop(ExitCode::usage, fmt::format("there is no file or folder {}", path.string()));
    if (!fs::is_directory(path, error))
        return {.source = file_source(path), .names = {path.filename().string()}};
    const auto archive = std::make_shared<const FolderArchive>(path);
    // One file is sent as it is: formats that are archives themselves are kept whole.
    if (archive->names().size() == 1) return find_data(path / archive->names().front());
    return {.source = {.filename = dataset_name(path) + ".tar",
                       .bytes = archive->bytes(),
                       .read =
                           [archive](std::uintmax_t offset,
                                     std::size_t bytes_max) {    // shared with the source
                               return archive->read(offset, bytes_max);
                           }},
            .names = archive->names()};
}

std::string format_of(const DataPushOptions& options, const Found& found) {
    if (!options.format.empty()) return options.format;
    const auto format = recognised_format(found.names);
    if (!format)
        throw Stop(
            ExitCode::usage,
            fmt::format(
                "the format of {} cannot be recognised from its files; give it with --format: {}",
                options.path, fmt::join(all_words<DatasetFormat>(), ", ")));
    return std::string(to_string(*format));
}

// A tar is one shard, and a tar of tars would be taken for one.
void require_one_shard(const std::string& format, const Found& found) {
    if (format != to_string(DatasetFormat::webdataset) || found.names.size() == 1) return;
    throw Stop(ExitCode::usage,
               "a webdataset of several shards cannot be pushed as a folder; zip the shards and "
               "push the zip with --format webdataset");
}

}    // namespace

std::optional<DatasetFormat> recognised_format(std::span<const std::string> names) {
    if (std::ranges::any_of(names, is_image_name)) {
        const bool has_table = std::ranges::find(names, "labels.csv") != names.end();
        return has_table ? DatasetFormat::image_csv : DatasetFormat::image_folder;
    }
    for (const std::string_view word : all_words<DatasetFormat>()) {
        const DatasetFormat format = *parse_word<DatasetFormat>(word);
        for (const std::string_view mark : traits(format).marks)
            if (!mark.empty() && std::ranges::any_of(names, [&](const std::string& name) {
                    return name.find(mark) != std::string::npos;
                }))
                return format;
    }
    return std::nullopt;
}

ExitCode push_data(const HttpClient& client, const DataPushOptions& options) {
    const Found found = find_data(options.path);
    const std::string format = format_of(options, found);
    require_one_shard(format, found);
    Json request{{"name", options.name.empty() ? dataset_name(options.path) : options.name},
                 {"format", format}};
    if (!options.project.empty()) request["project"] = options.project;
    if (!options.options.empty()) request["options"] = dataset_options(options.options);
    fmt::print("{}, {}, format {}\n", counted(found.names.size(), "file"),
               bytes_text(static_cast<double>(found.source.bytes)), format);
    const FinishedUpload upload = send_upload(client, found.source);
    request["source"] = {{"upload", upload.id}};
    const ExitCode ended = register_dataset(client, request, options.wait);
    forget_upload(upload);
    return ended;
}

ExitCode upload_file(const HttpClient& client, const std::string& path) {
    fmt::print("{}\n", send_upload(client, file_source(path)).id);
    return ExitCode::ok;
}

}    // namespace slipway::client
