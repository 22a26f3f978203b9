#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "executor/data/formats/image.h"

namespace slipway {

/// Images of some samples, of any sizes, up to a number of bytes. Nothing is ever taken out: the
/// samples that are read first stay. Safe from every thread.
class ImageCache {
public:
    ImageCache(std::int64_t samples, std::int64_t bytes_max);

    /// Null when it is not there; good as long as the cache.
    const Image* find(std::int64_t sample) const;
    /// Of several threads that keep the same sample one does.
    void keep(std::int64_t sample, const Image& image);

private:
    enum State : std::uint8_t { absent, claimed, ready };
    std::unique_ptr<std::atomic<std::uint8_t>[]> states_;    // none: nothing is kept
    std::atomic<std::int64_t> bytes_left_;
    std::vector<Image> images_;    // each written by the thread that claims it, read when ready
};

}    // namespace slipway
