#include "executor/data/augment/image_cache.h"

namespace slipway {

ImageCache::ImageCache(std::int64_t samples, std::int64_t bytes_max) : bytes_left_(bytes_max) {
    if (bytes_max <= 0) return;    // it would hold nothing: not even a list of nothing
    states_ = std::make_unique<std::atomic<std::uint8_t>[]>(std::size_t(samples));
    images_.resize(std::size_t(samples));
}

const Image* ImageCache::find(std::int64_t sample) const {
    if (!states_) return nullptr;
    const bool there = states_[std::size_t(sample)].load(std::memory_order_acquire) == ready;
    return there ? &images_[std::size_t(sample)] : nullptr;
}

void ImageCache::keep(std::int64_t sample, const Image& image) {
    const auto bytes = std::int64_t(image.pixels.size());
    if (!states_) return;
    if (bytes_left_.load(std::memory_order_relaxed) < bytes) return;
    std::atomic<std::uint8_t>& state = states_[std::size_t(sample)];
    std::uint8_t expected = absent;
    if (!state.compare_exchange_strong(expected, claimed, std::memory_order_relaxed)) return;
    // Several threads may pass the test above at once: over by an image for each is no harm.
    bytes_left_.fetch_sub(bytes, std::memory_order_relaxed);
    images_[std::size_t(sample)] = image;
    state.store(ready, std::memory_order_release);
}

}    // namespace slipway
