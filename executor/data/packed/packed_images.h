#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/spec/augment_spec.h"
#include "executor/data/dataset.h"

namespace slipway {

/// The most that the packs of a folder have together.
inline constexpr std::int64_t packs_bytes_max = std::int64_t{64} << 30;

struct PackOptions {
    std::filesystem::path folder;       ///< of the packs, shared by jobs; made when absent
    std::filesystem::path data_path;    ///< folder or file that the dataset was opened from
    /// That images go through before they are packed; nothing is drawn by them.
    std::vector<AugmentSpec> steps = {};
    std::int64_t side_hint = 0;                                  ///< of Dataset::image
    TruncatedImages truncated_images = TruncatedImages::fail;    ///< as the dataset was opened
    std::int64_t bytes_max = packs_bytes_max;
    int threads = 0;    ///< that make the pack; 0: one for each CPU
};

/// What came of it.
struct PackedImages {
    std::unique_ptr<Dataset> dataset = {};    ///< null: the job goes on without
    std::string why_not = {};                 ///< then, in words
    std::int64_t bytes = 0;                   ///< of pixels
    bool made = false;                        ///< now, and not by an earlier job
    /// How many images were decoded again: their pixels were not those that were written.
    std::function<std::int64_t()> refused_count = {};
};

/// Opens the pack of these images, or makes it: each is decoded once, by the first job that needs
/// them so. What the dataset gives is what `images` gives, after the steps, to the bit; it is safe
/// from every thread. `images` must outlive it, and is without normalisation.
///
/// A pack is found by the SHA-256 of what it is made of: path, names, sizes, inodes and times of
/// change of the files, the shape, the steps. A full disk, a pack that another job is making and
/// one that is too large are no errors: why_not says them. So does it what is wrong with a pack
/// that cannot be read; such a pack is removed, to be made anew by the next job.
PackedImages pack_images(const Dataset& images, const PackOptions& options);

}    // namespace slipway
