#include "api/client/request_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "api/client/service.h"
#include "api/client/toml_json.h"

namespace slipway::client {
namespace {

Json::json_pointer place_of(const std::string& change) {
    const std::size_t equals = change.find('=');
    if (equals == std::string::npos || equals == 0)
        throw Stop(
            ExitCode::usage,
            fmt::format("--set must be field=value, such as train.epochs=20, got {}", change));
    std::string place = "/" + change.substr(0, equals);
    std::ranges::replace(place, '.', '/');
    return Json::json_pointer(place);
}

// What was set to null is not there.
void remove_null(Json& document, const Json::json_pointer& place) {
    Json& around = document.at(place.parent_pointer());
    if (around.is_object() && document.at(place).is_null()) around.erase(place.back());
}

Json parsed(const std::string& text, const std::string& name) {
    try {
        Json document = Json::parse(text);
        if (document.is_object()) return document;
    } catch (const Json::parse_error& error) {
        throw Stop(ExitCode::usage, fmt::format("{} is not valid JSON: {}", name, error.what()));
    }
    throw Stop(ExitCode::usage, fmt::format("{} is not a JSON object", name));
}

}    // namespace

std::string read_text(const std::string& path) {
    if (path == "-")
        return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
    // A folder can be opened, and throws when it is read.
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        throw Stop(ExitCode::usage, fmt::format("{} cannot be read: it is a folder", path));
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw Stop(ExitCode::usage,
                   fmt::format("{} cannot be read: {}", path,
                               std::error_code(errno, std::generic_category()).message()));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void set_field(Json& document, const std::string& change) {
    const std::string text = change.substr(std::min(change.find('=') + 1, change.size()));
    const Json value = Json::parse(text, nullptr, false);
    try {
        document[place_of(change)] = value.is_discarded() ? Json(text) : value;
    } catch (const Json::exception&) {
        throw Stop(ExitCode::usage,
                   fmt::format("--set {}: there is no such field in the document", change));
    }
}

std::string request_document(const std::string& path, const std::vector<std::string>& changes,
                             const std::map<std::string, std::string>& labels) {
    const std::string name = path == "-" ? "standard input" : path;
    std::string text = read_text(path);
    const bool is_toml = path.ends_with(".toml");
    if (!is_toml && changes.empty() && labels.empty()) return text;
    Json document = is_toml ? toml_to_json(text, name) : parsed(text, name);
    for (const std::string& change : changes) {
        set_field(document, change);
        remove_null(document, place_of(change));
    }
    if (labels.empty()) return document.dump();
    Json& kept = document["labels"];
    if (!kept.is_null() && !kept.is_object())
        throw Stop(ExitCode::usage, fmt::format("`labels` of {} is not an object", name));
    for (const auto& [key, value] : labels)
        kept[key] = value;
    return document.dump();
}

}    // namespace slipway::client
