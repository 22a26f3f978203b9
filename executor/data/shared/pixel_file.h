#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>

#include "api/base/posix.h"
#include "executor/data/formats/image.h"

/// A pixel file holds decoded images that several processes read, and add to as they decode.
/// Numbers are as this machine has them.
///   0    8   "slippixl"
///   8    8   version
///   16   8   N, images of the dataset
///   24   8   CRC-32C of the 24 bytes before
///   32   32  zeros
///   64   40 N   of each image, zeros where it is not here:
///        offset of its pixels 8, channels 4, height 4, width 4, CRC-32C of the pixels 4
///        CRC-32C of the 24 bytes before and of the image's number 8
///        when somebody began to decode it, in ms of this machine's steady clock 8; 0: nobody
///        pixels, interleaved rows, in the order in which they were decoded
namespace slipway {

struct PixelFileLimits {
    std::int64_t bytes_max = 0;    ///< of the whole file
    /// How long whoever decodes an image is waited for: what one that is killed meanwhile costs.
    std::chrono::milliseconds wait_max{1000};
};

/// An open pixel file. What is read is compared with its checksum each time, so that it does not
/// matter who else writes: an image that is not as it was written is not here. Safe from every
/// thread.
class PixelFile {
public:
    /// Opens the file, or makes it; one that is not of so many images is replaced. Marks it as
    /// used. errors  throws exhausted when the disk is full, unavailable
    PixelFile(const std::filesystem::path& path, std::int64_t samples,
              const PixelFileLimits& limits);
    PixelFile(const PixelFile&) = delete;
    PixelFile& operator=(const PixelFile&) = delete;

    /// None when it is not here.
    std::optional<Image> find(std::int64_t sample) const;

    /// Waits as long as another process decodes the image, and says that the caller does now. True
    /// when it has waited: the image may be here. A claim that is not released ends by itself.
    bool claim(std::int64_t sample) const;
    void release(std::int64_t sample) const;

    /// False when there is no room for it, now or ever again: see why_closed().
    bool keep(std::int64_t sample, const Image& image) const;

    /// Why nothing more is kept; empty: what is decoded is kept.
    std::string why_closed() const;
    bool is_closed() const { return closed_; }
    std::int64_t bytes() const;
    /// How many images were not as they were written.
    std::int64_t refused_count() const { return refused_; }

private:
    /// The same file twice: read and written at places, written at its end.
    struct Opened {
        UniqueFd file, end;
    };
    static Opened open(const std::filesystem::path& path, std::int64_t samples,
                       const PixelFileLimits& limits);

    bool has_room(std::int64_t more) const;
    void close_for(const std::string& why) const;

    // constant after construction
    const Opened opened_;
    const std::int64_t samples_;
    const PixelFileLimits limits_;

    mutable std::atomic<bool> closed_ = false;
    mutable std::atomic<bool> waits_ = true;    // until somebody did not let go
    mutable std::atomic<std::int64_t> refused_ = 0;
    mutable std::mutex mutex_;
    mutable std::string why_closed_;    // guarded by mutex_, as the end of the file is
};

}    // namespace slipway
