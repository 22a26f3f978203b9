#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "executor/data/dataset.h"
#include "executor/data/files.h"
#include "executor/data/formats/image.h"

namespace slipway {

/// What image_folder and image_csv have found: an index without feature_dims, and the files.
struct ImageList {
    DatasetIndex index;
    std::vector<std::string> names;          ///< per sample, relative to the folder
    std::vector<std::string> other_files;    ///< the table, for the content hash
};

/// Samples that are image files. Decoded pixels of small sets stay in memory (one byte a number,
/// at their final size), so that later epochs decode nothing; larger sets decode each time.
class ImageDataset final : public Dataset {
public:
    /// Takes the shape of the first image that can be read where the options leave it open.
    ImageDataset(const std::filesystem::path& folder, ImageList list, const DatasetOptions& options,
                 const ProblemLog& problems);

    void read(std::int64_t sample, std::span<float> features) const override;
    DataProblem place(std::int64_t sample) const override;
    std::vector<std::string> files() const override;

    /// Decodes the whole file at its own size, with the set's channels.
    /// errors  DataError
    Image decode(std::int64_t sample) const;
    /// True when every image is brought to one size, whatever it has.
    bool resizes() const { return options_.image_size > 0; }

private:
    [[noreturn]] void refuse(std::int64_t sample, const std::string& message) const;
    Image decode(std::int64_t sample, std::int64_t side_hint) const;
    void take_shape(ProblemLog::Mode mode);
    Result<ImageHeader> header_of(std::int64_t sample) const;
    void write_pixels(std::int64_t sample, std::span<std::uint8_t> pixels) const;

    Folder folder_;
    ImageList list_;    // its index has become index_
    DatasetOptions options_;

    /// Pixels of all samples, and for each whether they are there. A reader that finds them absent
    /// decodes; the one that takes the state from absent to written stores. Pages that nobody has
    /// written cost nothing.
    enum CacheState : std::uint8_t { absent, written, ready };
    std::unique_ptr<std::uint8_t[]> cached_pixels_;
    std::unique_ptr<std::atomic<std::uint8_t>[]> cache_states_;
};

}    // namespace slipway
