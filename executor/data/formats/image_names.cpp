#include "executor/data/formats/image_names.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "api/base/letter_case.h"

namespace slipway {

namespace {

/// Not all there are: a scan beside its .dcm, or a logo.svg, is no reason to refuse a dataset. The
/// list of files that are not read warns of those.
constexpr auto unread_endings = std::to_array<std::string_view>(
    {".gif", ".bmp", ".tif", ".tiff", ".webp", ".heic", ".avif", ".jp2", ".pgm", ".ppm"});

}    // namespace

std::optional<DataProblem> unread_image(const std::string& name) {
    const std::string ending = lower_case(std::filesystem::path(name).extension().string());
    if (std::ranges::find(unread_endings, ending) == unread_endings.end()) return std::nullopt;
    return DataProblem{.file = name,
                       .message =
                           "images of this kind are not read; convert it to JPEG or PNG, or "
                           "remove it"};
}

}    // namespace slipway
