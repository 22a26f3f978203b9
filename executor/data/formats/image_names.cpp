#include "executor/data/formats/image_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string_view>

#include "executor/data/names.h"

namespace slipway {

namespace {

constexpr auto read_endings =
    std::to_array<std::string_view>({".jpg", ".jpeg", ".jpe", ".jfif", ".png"});
/// Not all there are: a scan beside its .dcm, or a logo.svg, is no reason to refuse a dataset. The
/// list of files that are not read warns of those.
constexpr auto unread_endings = std::to_array<std::string_view>(
    {".gif", ".bmp", ".tif", ".tiff", ".webp", ".heic", ".avif", ".jp2", ".pgm", ".ppm"});

bool ends_in(const std::string& name, std::span<const std::string_view> endings) {
    const std::string ending = in_lower_case(std::filesystem::path(name).extension().string());
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

}    // namespace

bool is_image_name(const std::string& name) {
    return ends_in(name, read_endings);
}

std::optional<DataProblem> unread_image(const std::string& name) {
    if (!ends_in(name, unread_endings)) return std::nullopt;
    return DataProblem{.file = name,
                       .message =
                           "images of this kind are not read; convert it to JPEG or PNG, or "
                           "remove it"};
}

}    // namespace slipway
