#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "executor/data/dataset.h"
#include "executor/data/formats/image.h"
#include "executor/data/formats/image_source.h"

namespace slipway {

/// Samples that are images. Decoded pixels of small sets stay in memory (one byte a number,
/// at their final size), so that later epochs decode nothing; larger sets decode each time.
class ImageDataset final : public Dataset {
public:
    /// `index` is without feature_dims: the size is that of the first image that can be read, and
    /// there are three channels when any image is in colour, where the options leave it open. Up to
    /// the first image in colour, that costs a read of each image: 4 KiB of most, 64 KiB of those
    /// with more before their header, on all CPUs. So of a gray set all beginnings are read, unless
    /// the options give the channels.
    ImageDataset(DatasetIndex index, std::unique_ptr<ImageSource> source,
                 const DatasetOptions& options, const ProblemLog& problems);

    void read(std::int64_t sample, std::span<float> features) const override;
    Image image(std::int64_t sample, std::int64_t side_hint) const override;
    std::vector<std::byte> content(std::int64_t sample) const override {
        return source_->read(sample);
    }
    bool decodes_images() const override { return true; }
    std::int64_t decoded_count() const override { return decoded_; }
    std::optional<DataProblem> damage(std::int64_t sample) const override;
    std::vector<DataProblem> take_accepted() const override;
    bool is_accepted(std::int64_t sample) const override;
    void keep_no_images() override;
    DataProblem place(std::int64_t sample) const override { return source_->place(sample); }
    std::vector<std::string> files() const override { return source_->files(); }

    /// Decodes the whole file at its own size, with the set's channels.
    /// errors  DataError
    Image decode(std::int64_t sample) const;
    /// True when every image is brought to one size, whatever it has.
    bool resizes() const { return options_.image_size > 0; }

private:
    [[noreturn]] void refuse(std::int64_t sample, const std::string& message) const;
    Image decode(std::int64_t sample, std::int64_t side_hint) const;
    void take_shape(ProblemLog::Mode mode);
    /// Of a set whose first readable image is `sample`: 3 when it or a later one is in colour.
    std::int64_t common_channels(const ImageHeader& first, std::int64_t sample) const;
    bool is_in_colour(std::int64_t sample) const;
    /// Out of the first `bytes_max` bytes, or out of the whole file.
    Result<ImageHeader> header_of(std::int64_t sample,
                                  std::optional<std::int64_t> bytes_max = std::nullopt) const;
    std::size_t feature_count() const { return std::size_t(index_.feature_count()); }
    /// The pixels at the set's size out of what was decoded.
    Image fitted(std::int64_t sample, Image image) const;
    Image accepted(std::int64_t sample, std::span<const std::byte> file, std::int64_t side_hint,
                   const std::string& message) const;
    /// Empty when absent.
    std::span<const std::uint8_t> cached(std::int64_t sample) const;
    void keep(std::int64_t sample, std::span<const std::uint8_t> pixels) const;

    std::unique_ptr<ImageSource> source_;
    DatasetOptions options_;

    /// Pixels of all samples, and for each whether they are there. A reader that finds them absent
    /// decodes; the one that takes the state from absent to written stores. Pages that nobody has
    /// written cost nothing.
    enum CacheState : std::uint8_t { absent, written, ready };
    std::unique_ptr<std::uint8_t[]> cached_pixels_;
    std::unique_ptr<std::atomic<std::uint8_t>[]> cache_states_;

    mutable std::atomic<std::int64_t> decoded_ = 0;

    mutable std::mutex mutex_;
    // guarded by mutex_
    mutable std::set<std::int64_t> accepted_;        // samples, ever
    mutable std::vector<DataProblem> told_later_;    // of them, since take_accepted()
};

}    // namespace slipway
