#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace slipway {

/// Memory of a descriptor, as this process sees it: what one process writes, all see that have
/// mapped the same.
class SharedMapping {
public:
    SharedMapping() = default;
    /// Empty where `descriptor` is none, is no memory of this machine (a file on a disk), or cannot
    /// be mapped. It stays open.
    explicit SharedMapping(int descriptor);

    std::span<std::byte> bytes() const { return {begin_.get(), begin_.get_deleter().size}; }
    bool empty() const { return begin_ == nullptr; }

private:
    struct Unmap {
        std::size_t size;
        void operator()(std::byte* begin) const;
    };
    std::unique_ptr<std::byte, Unmap> begin_{nullptr, Unmap{0}};
};

}    // namespace slipway
