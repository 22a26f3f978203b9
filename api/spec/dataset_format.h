#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "api/spec/table/spelling.h"

namespace slipway {

/// How the files of a dataset are laid out: one enumerator per row of dataset_formats.def.
enum class DatasetFormat {
#define DATASET_FORMAT(name, ...) name,
#include "api/spec/dataset_formats.def"
#undef DATASET_FORMAT
};

/// An uploaded archive that is the dataset itself: it is kept whole, all others are unpacked.
enum class KeptArchive { none, tar, zip };

/// What the API, the client and the service know of a format. Its reader is in executor/data.
struct DatasetFormatTraits {
    bool has_labels = true;          ///< samples carry classes or numbers
    bool has_columns = false;        ///< labels and groups are named columns of a table or record
    bool has_numbers = false;        ///< labels may be numbers: label_columns
    bool has_tables = false;         ///< features may be numbers of any unit, normalised by default
    bool picks_features = false;     ///< the features are columns too: feature_columns
    bool has_images = false;         ///< samples are images of a chosen size and depth
    bool has_image_files = false;    ///< samples are JPEG or PNG files, damaged one by one
    KeptArchive keeps_archive = KeptArchive::none;    ///< of an upload
    /// Parts of file names by which `slipway-executor run` recognises the format; may be empty.
    std::array<std::string_view, 2> marks = {};
};

inline constexpr auto dataset_format_traits = std::to_array<DatasetFormatTraits>({
#define DATASET_FORMAT(name, ...) {__VA_ARGS__},
#include "api/spec/dataset_formats.def"
#undef DATASET_FORMAT
});

template <>
struct Spelling<DatasetFormat> {
    static constexpr auto words = std::to_array<std::string_view>({
#define DATASET_FORMAT(name, ...) #name,
#include "api/spec/dataset_formats.def"
#undef DATASET_FORMAT
    });
};

constexpr const DatasetFormatTraits& traits(DatasetFormat format) noexcept {
    return dataset_format_traits[std::size_t(format)];
}

/// The words of the formats with a trait, in the order of the table.
std::vector<std::string_view> formats_with(bool DatasetFormatTraits::*trait);

/// True for names that end as the images that are read do: .jpg, .jpeg, .jpe, .jfif, .png in any
/// case.
bool is_image_name(std::string_view name);

}    // namespace slipway
