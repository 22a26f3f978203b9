#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace slipway {

/// Numbers that nobody changes: a vector's, or those of a mapped file, which stays mapped as long
/// as somebody has them. Copies share the numbers. Safe from every thread.
template <class T>
class Numbers {
public:
    Numbers() = default;
    Numbers(std::vector<T> own) {    // NOLINT: where a vector was, its numbers go on
        auto kept = std::make_shared<const std::vector<T>>(std::move(own));
        numbers_ = *kept;
        keeper_ = std::move(kept);
    }
    Numbers(std::initializer_list<T> own) : Numbers(std::vector<T>(own)) {}
    Numbers(std::shared_ptr<const void> keeper, std::span<const T> numbers)
        : keeper_(std::move(keeper)), numbers_(numbers) {}

    std::span<const T> span() const { return numbers_; }
    const T& operator[](std::size_t at) const { return numbers_[at]; }
    std::size_t size() const { return numbers_.size(); }
    bool empty() const { return numbers_.empty(); }
    auto begin() const { return numbers_.begin(); }
    auto end() const { return numbers_.end(); }
    friend bool operator==(const Numbers& a, const Numbers& b) {
        return std::ranges::equal(a.numbers_, b.numbers_);
    }

private:
    std::shared_ptr<const void> keeper_;
    std::span<const T> numbers_;
};

}    // namespace slipway
