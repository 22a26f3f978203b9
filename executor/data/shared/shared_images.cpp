#include "executor/data/shared/shared_images.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include "api/base/check.h"
#include "api/base/sha256.h"
#include "executor/data/augment/image_cache.h"
#include "executor/data/augment/steps.h"
#include "executor/data/shared/copy_key.h"
#include "executor/data/shared/pixel_file.h"

// Trials of a sweep read the same images in the same order at the same time. Without claims all of
// them would decode each image at once; with them one decodes it, and the others wait no longer
// than they would have decoded. Everything that fails here costs a job its share, never the job:
// the image is decoded from its file.
namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr const char* pixels_ending = ".pixels";

/// Says that an image is not decoded here, where it was not kept.
class Claim {
public:
    Claim(const PixelFile& pixels, std::int64_t sample) : pixels_(pixels), sample_(sample) {
        has_waited_ = pixels.claim(sample);
    }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim() {
        if (!is_kept_) pixels_.release(sample_);
    }
    bool has_waited() const { return has_waited_; }
    bool keep(const Image& image) {
        is_kept_ = pixels_.keep(sample_, image);
        return is_kept_;
    }

private:
    const PixelFile& pixels_;
    const std::int64_t sample_;
    bool has_waited_ = false, is_kept_ = false;
};

class SharedImageDataset final : public Dataset {
public:
    SharedImageDataset(const Dataset& images, SharedImagesOptions options,
                       std::unique_ptr<PixelFile> pixels)
        : images_(images), options_(std::move(options)), pixels_(std::move(pixels)) {
        index_ = images.index();
    }

    void read(std::int64_t sample, std::span<float> features) const override {
        check(options_.steps.empty(), "features are read where no step comes between");
        const Image read = image(sample, 0);
        const std::array sides{read.channels, read.height, read.width};
        const Dims& dims = index_.feature_dims;
        if (!std::equal(sides.begin(), sides.end(), dims.begin(), dims.end()))
            return images_.read(sample, features);    // it says what is wrong
        to_planes(read.pixels, std::size_t(read.channels), features);
    }

    Image image(std::int64_t sample, std::int64_t) const override {
        if (const Image* own = find_own(sample)) return *own;
        if (auto shared = pixels_->find(sample)) return std::move(*shared);
        if (pixels_->is_closed()) return keep_own(sample, prepared(sample));
        Claim claim(*pixels_, sample);
        if (claim.has_waited()) {
            if (auto shared = pixels_->find(sample)) return std::move(*shared);
        }
        Image image = prepared(sample);
        // Each job says of a damaged image that it took it as it is.
        const bool is_shared = !images_.is_accepted(sample) && claim.keep(image);
        return is_shared ? std::move(image) : keep_own(sample, std::move(image));
    }

    std::vector<std::byte> content(std::int64_t sample) const override {
        return images_.content(sample);
    }
    bool decodes_images() const override { return true; }
    std::int64_t decoded_count() const override { return images_.decoded_count(); }
    std::optional<DataProblem> damage(std::int64_t sample) const override {
        if (options_.opened_with.truncated_images == TruncatedImages::accept)
            return images_.damage(sample);
        try {
            image(sample, 0);
            return std::nullopt;
        } catch (const Error&) {    // perhaps of the file, or of a step
            return images_.damage(sample);
        }
    }
    std::vector<DataProblem> take_accepted() const override { return images_.take_accepted(); }
    bool is_accepted(std::int64_t sample) const override { return images_.is_accepted(sample); }
    DataProblem place(std::int64_t sample) const override { return images_.place(sample); }
    std::vector<std::string> files() const override { return images_.files(); }

    const PixelFile& pixels() const { return *pixels_; }

private:
    Image prepared(std::int64_t sample) const {
        return unaugmented(images_.image(sample, options_.side_hint), options_.steps);
    }

    const Image* find_own(std::int64_t sample) const {
        return has_own_.load(std::memory_order_acquire) ? own_->find(sample) : nullptr;
    }
    Image keep_own(std::int64_t sample, Image image) const {
        std::call_once(own_once_, [this] {
            own_.emplace(size(), options_.own_bytes_max);
            has_own_.store(true, std::memory_order_release);
        });
        own_->keep(sample, image);
        return image;
    }

    // constant after construction
    const Dataset& images_;
    const SharedImagesOptions options_;
    const std::unique_ptr<PixelFile> pixels_;

    // of images that are not shared; made for the first one
    mutable std::once_flag own_once_;
    mutable std::atomic<bool> has_own_ = false;
    mutable std::optional<ImageCache> own_;
};

/// How many bytes of pixels all images have, where they are as large as the first one.
std::int64_t bytes_of_all(const Dataset& images, std::span<const AugmentSpec> steps) {
    const Dims& dims = images.index().feature_dims;
    ImageSize size{dims[1], dims[2]};
    try {
        size = size_after(steps, size);
    } catch (const Error&) {
        // A step that does not fit this image is told by whoever reads.
    }
    return images.size() * dims[0] * size.height * size.width;
}

/// What does not stay in memory is read from the disk again: then decoding is no worse.
std::int64_t most_bytes(const SharingOptions& sharing) {
    struct sysinfo machine {};
    if (sysinfo(&machine) != 0) return sharing.bytes_max;
    return std::min(sharing.bytes_max,
                    std::int64_t(machine.totalram) * std::int64_t(machine.mem_unit) / 2);
}

/// What the pixels depend on, and which image has which number.
std::string words_of(const Dataset& images, const SharedImagesOptions& options) {
    DatasetOptions read = options.opened_with;
    read.mean.clear();
    read.deviation.clear();
    read.truncated_images = TruncatedImages::fail;    // only whole images are shared
    read.cache_bytes_max = 0;
    std::string words = fmt::format("{}\n{}\n{}{}\n", options.sharing.reader, options.format,
                                    describe(read), options.side_hint);
    for (const AugmentSpec& step : options.steps) {
        words += to_string(step.name);
        for (const std::int64_t side : step.size)
            words += fmt::format(" {}", side);
        words += "\n";
    }
    words += fmt::format("{}", images.size());
    for (const std::int64_t dim : images.index().feature_dims)
        words += fmt::format(" {}", dim);
    return words + "\n";
}

}    // namespace

SharedImages share_images(Dataset& images, const SharedImagesOptions& options) {
    const SharingOptions& sharing = options.sharing;
    if (sharing.folder.empty() || !images.decodes_images()) return {};
    if (images.index().feature_dims.size() != 3 || images.size() == 0) return {};
    try {
        const std::int64_t most = most_bytes(sharing);
        const std::int64_t wanted = bytes_of_all(images, options.steps);
        if (wanted > most) {
            return {.why_not = fmt::format("they would take some {} bytes, and a copy may have {}; "
                                           "a smaller data.image_size or a resize as the first "
                                           "step makes them smaller",
                                           wanted, most)};
        }
        const FileFacts files = facts_of_files(options.data_path, images.files(),
                                               sharing.settled_after, options.opened_since);
        if (files.is_fresh) return {.why_not = "its files were changed a moment ago"};
        std::error_code seen_when_it_is_opened;
        fs::create_directories(sharing.folder, seen_when_it_is_opened);
        const std::string key = sha256_hex(words_of(images, options) + files.text);
        auto pixels =
            std::make_unique<PixelFile>(sharing.folder / (key + pixels_ending), images.size(),
                                        PixelFileLimits{.bytes_max = most});
        SharedImages result{.bytes = pixels->bytes()};
        auto dataset = std::make_unique<SharedImageDataset>(images, options, std::move(pixels));
        result.why_closed = [of = dataset.get()] { return of->pixels().why_closed(); };
        result.refused_count = [of = dataset.get()] { return of->pixels().refused_count(); };
        result.dataset = std::move(dataset);
        images.keep_no_images();
        return result;
    } catch (const Error& error) {    // a job needs no copy
        return {.why_not = error.what()};
    }
}

}    // namespace slipway
