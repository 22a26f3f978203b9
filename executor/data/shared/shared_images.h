#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/spec/augment_spec.h"
#include "executor/data/dataset.h"
#include "executor/data/shared/use_copy.h"

namespace slipway {

/// What decoded images depend on, and who shares them.
struct SharedImagesOptions {
    SharingOptions sharing = {};
    std::string_view format = {};
    std::filesystem::path data_path = {};    ///< folder or file of the dataset
    DatasetOptions opened_with = {};
    Instant opened_since = {};    ///< the dataset was opened later
    /// That images go through before they are kept; nothing is drawn by them.
    std::vector<AugmentSpec> steps = {};
    std::int64_t side_hint = 0;    ///< of Dataset::image
    /// Of images that cannot be shared, in the memory of this process.
    std::int64_t own_bytes_max = std::int64_t{512} << 20;
};

/// What came of it.
struct SharedImages {
    std::unique_ptr<Dataset> dataset = {};    ///< null: the job goes on without
    std::string why_not = {};                 ///< then, in words; empty: nothing was to be shared
    std::int64_t bytes = 0;                   ///< of the file when it was opened
    /// Why images that are decoded from now on are not shared; empty: they are.
    std::function<std::string()> why_closed = {};
    /// How often an image was not as it was written, and was decoded again.
    std::function<std::int64_t()> refused_count = {};
};

/// Opens the file of these decoded images, which processes fill as they decode: each image is
/// decoded by the first that wants it, read by all others, and kept by none in memory of its own.
/// What the dataset gives is what `images` gives, after the steps, to the bit; it is safe from
/// every thread. `images` must outlive it, is without normalisation, and keeps no images from now
/// on.
///
/// Damaged images are not shared. Sets that would not fit into half of the machine's memory, or are
/// larger than a copy may be, are not shared; nor is what does not fit on the disk.
SharedImages share_images(Dataset& images, const SharedImagesOptions& options);

}    // namespace slipway
