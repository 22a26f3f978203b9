#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/base/posix.h"
#include "executor/data/formats/image.h"
#include "executor/data/problem.h"

/// A pack is one file with the pixels of all images of a dataset, as jobs need them before
/// anything is drawn. Numbers are little-endian.
///   0    8   "slippack"
///   8    8   version
///   16   8   N, images
///   24   8   bytes of the problems
///   32   64  SHA-256 of all but the pixels, these bytes as zeros, hexadecimal
///   96   40 N   of each image: offset of its pixels 8, channels 8, height 8, width 8, CRC-32C of
///   the
///               pixels 4, what was found 4 (PackedState)
///        pixels, interleaved rows, image after image
///        problems: JSON [{"sample", "file", "row", "field", "message"}…], to the end
namespace slipway {

enum class PackedState : std::uint32_t { whole = 0, damaged = 1, accepted = 2 };

/// What a pack holds of one image.
struct PackedEntry {
    std::uint64_t offset = 0;    ///< of its pixels in the file
    std::uint64_t channels = 0;
    std::uint64_t height = 0;
    std::uint64_t width = 0;
    std::uint32_t sum = 0;
    PackedState state = PackedState::whole;

    std::uint64_t bytes() const { return channels * height * width; }
};

/// A problem that a pack remembers: of an image without pixels, or of one accepted as it is.
struct PackedProblem {
    std::int64_t sample = 0;
    DataProblem problem;
};

/// A pack opened for reading: its file is mapped, and stays readable when it is removed. Constant
/// after construction: safe from every thread.
class Pack {
public:
    /// None when there is no file of that name.
    /// errors  data_loss when it is none of so many images, or damaged before its pixels;
    ///         unavailable when it cannot be read
    static Result<std::optional<Pack>> open(const std::filesystem::path& path,
                                            std::int64_t samples);
    Pack(Pack&&) noexcept = default;

    const PackedEntry& entry(std::int64_t sample) const { return entries_[std::size_t(sample)]; }
    std::span<const std::uint8_t> pixels(std::int64_t sample) const;
    /// Whether its pixels are those that were written.
    bool is_whole(std::int64_t sample) const;
    const std::vector<PackedProblem>& problems() const { return problems_; }

private:
    struct Unmap {
        std::size_t size = 0;
        void operator()(const std::byte* memory) const;
    };
    using Mapping = std::unique_ptr<const std::byte, Unmap>;

    Pack(Mapping memory, std::span<const std::byte> file);
    void read(std::int64_t samples);

    Mapping memory_;
    std::span<const std::byte> file_;
    std::vector<PackedEntry> entries_;
    std::vector<PackedProblem> problems_;
};

/// An image to be packed, or what is wrong with it.
struct PackedImage {
    std::optional<Image> image;    ///< none: damaged
    std::optional<DataProblem> problem = {};
};

enum class PackOutcome { made, made_elsewhere, too_large };

/// Writes the images of a dataset, which `make` gives (from any of `threads` threads), as the pack
/// `path`: beside it, synced, then renamed. A process that ends at any moment leaves no half pack;
/// what it leaves is taken over by the next. Of two that make the same pack one goes on, and the
/// other has made_elsewhere at once.
/// errors  throws exhausted when the disk is full, unavailable; nothing is left then
PackOutcome write_pack(const std::filesystem::path& path, std::int64_t samples,
                       std::int64_t bytes_max, int threads,
                       const std::function<PackedImage(std::int64_t sample)>& make);

/// Removes the packs of `folder` that were used least recently, until all have at most `bytes_max`,
/// and what others that have ended left half done. `keep` stays. Jobs that read one go on.
void remove_old_packs(const std::filesystem::path& folder, const std::filesystem::path& keep,
                      std::int64_t bytes_max);

}    // namespace slipway
