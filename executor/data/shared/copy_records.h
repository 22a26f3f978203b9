#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "executor/data/dataset.h"
#include "executor/data/numbers.h"

namespace slipway {

// The content of a shared copy (copy_file.h): records one after the other, which are read in the
// order in which they were written. A record is its number of bytes, 8, then these bytes, filled up
// with zeros to a multiple of 8. Numbers are as this machine has them.

class CopyWriter {
public:
    using Sink = std::function<void(std::span<const std::byte>)>;
    explicit CopyWriter(Sink sink) : sink_(std::move(sink)) {}

    void bytes(std::span<const std::byte> bytes);
    void number(std::int64_t number);
    void text(std::string_view text);
    void texts(const std::vector<std::string>& texts);
    template <class T>
    void numbers(std::span<const T> numbers) {
        static_assert(std::has_unique_object_representations_v<T> || std::is_same_v<T, float>);
        bytes(std::as_bytes(numbers));
    }
    template <class T>
    void numbers(const std::vector<T>& list) {
        numbers(std::span<const T>(list));
    }

private:
    const Sink sink_;
};

/// errors  every function throws data_loss where the content does not go on as it is asked for
class CopyReader {
public:
    /// `keeper` keeps `content` where it is; it is aligned to 8 bytes.
    CopyReader(std::shared_ptr<const void> keeper, std::span<const std::byte> content)
        : keeper_(std::move(keeper)), left_(content) {}

    std::span<const std::byte> bytes();
    std::int64_t number();
    std::string text();
    std::vector<std::string> texts();
    /// They stay where they are.
    template <class T>
    Numbers<T> numbers() {
        return {keeper_, view<T>()};
    }
    template <class T>
    std::vector<T> vector() {
        const auto found = view<T>();
        return {found.begin(), found.end()};
    }

private:
    template <class T>
    std::span<const T> view() {
        static_assert(alignof(T) <= 8);
        const auto found = bytes();
        if (found.size() % sizeof(T) != 0) refuse();
        return {reinterpret_cast<const T*>(found.data()), found.size() / sizeof(T)};
    }
    [[noreturn]] static void refuse();

    const std::shared_ptr<const void> keeper_;
    std::span<const std::byte> left_;
};

/// errors  throws data_loss when what a copy says does not hold
void require_in_copy(bool holds);

void write_index(CopyWriter& to, const DatasetIndex& index);
/// errors  throws data_loss, also when its lists do not fit together
DatasetIndex read_index(CopyReader& from);

}    // namespace slipway
