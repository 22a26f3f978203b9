#include "executor/tensor/array.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace slipway {

namespace {

constexpr std::size_t alignment = 64;

std::shared_ptr<std::byte[]> allocate(std::size_t byte_count) {
    const std::size_t rounded = (byte_count + alignment - 1) / alignment * alignment;
    void* memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    if (memory == nullptr) throw std::bad_alloc();
    return {static_cast<std::byte*>(memory), [](std::byte* bytes) { std::free(bytes); }};
}

}    // namespace

Array::Array(Shape shape)
    : shape_(std::move(shape)), bytes_(allocate(std::size_t(shape_.byte_count()))) {
    std::memset(bytes_.get(), 0, std::size_t(byte_count()));
}

Array Array::clone() const {
    if (empty()) return {};
    Array copy;
    copy.shape_ = shape_;
    copy.bytes_ = allocate(std::size_t(byte_count()));
    std::memcpy(copy.bytes(), bytes(), std::size_t(byte_count()));
    return copy;
}

Array Array::reshaped(Dims dims) const {
    Array view = *this;
    view.shape_.dims = std::move(dims);
    check(view.shape_.element_count() == element_count(), "a reshape keeps the element count");
    return view;
}

}    // namespace slipway
