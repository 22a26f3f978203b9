#include "executor/data/formats/npy_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "executor/data/formats/format.h"
#include "executor/data/problem.h"

namespace slipway {

namespace {

constexpr std::size_t magic_bytes = 8;                // \x93NUMPY and two bytes of version
constexpr std::size_t literal_bytes_max = 1 << 16;    // NumPy itself reads 10,000
constexpr std::size_t piece_bytes = 1 << 20;

std::size_t little_endian(std::span<const std::byte> bytes) {
    std::size_t value = 0;
    for (std::size_t i = bytes.size(); i > 0; --i)
        value = value << 8 | std::to_integer<std::size_t>(bytes[i - 1]);
    return value;
}

}    // namespace

NpyReader::NpyReader(ZipReader zip, const std::string& array)
    : zip_(std::move(zip)), array_(array) {
    std::string member;
    do {
        if (!zip_.next(member)) refuse("the array is no longer in the file");
    } while (member != array + ".npy");
    std::array<std::byte, magic_bytes> magic{};
    constexpr std::string_view signature = "\x93NUMPY";
    const bool whole = zip_.read(magic) == magic.size();
    if (!whole || std::memcmp(magic.data(), signature.data(), signature.size()) != 0)
        refuse("it does not begin like a NumPy array (.npy)");
    const int version = std::to_integer<int>(magic[6]);
    if (version < 1 || version > 3)
        refuse(fmt::format("it is of version {} of the .npy format; 1 to 3 are read", version));
    std::array<std::byte, 4> length{};
    const auto counted = std::span(length).first(version == 1 ? 2 : 4);
    if (zip_.read(counted) < counted.size()) refuse("it ends inside its header");
    const std::size_t bytes = little_endian(counted);
    if (bytes > literal_bytes_max) {
        refuse(fmt::format("its header has {} bytes, more than the {} that are read", bytes,
                           literal_bytes_max));
    }
    std::string literal(bytes, '\0');
    if (zip_.read(std::as_writable_bytes(std::span(literal))) < bytes)
        refuse("it ends inside its header");
    Result<NpyHeader> header = parse_npy_header(literal);
    if (!header) refuse(header.error().what());
    header_ = *header;
    bytes_left_ = header_.items * std::int64_t(header_.type.bytes);
    if (bytes_left_ > table_bytes_max) {
        refuse(fmt::format("its header declares {} bytes ({}), and at most {} are read",
                           bytes_left_, fmt::join(header_.shape, " x "), table_bytes_max));
    }
}

std::string NpyReader::shape() const {
    return fmt::format("{}", fmt::join(header_.shape, " x "));
}

std::span<const std::byte> NpyReader::next() {
    const std::size_t whole_items = piece_bytes / header_.type.bytes * header_.type.bytes;
    buffer_.resize(std::size_t(std::min(std::int64_t(whole_items), bytes_left_)));
    if (buffer_.empty()) {
        std::byte more{};
        if (zip_.read({&more, 1}) != 0) {
            refuse(fmt::format("it goes on after the {} items ({}) that its header declares",
                               header_.items, shape()));
        }
        return {};
    }
    const std::size_t count = zip_.read(buffer_);
    if (count < buffer_.size()) {
        const std::int64_t promised = header_.items * std::int64_t(header_.type.bytes);
        refuse(fmt::format("its header declares {} bytes ({}) and there are {}", promised, shape(),
                           promised - bytes_left_ + std::int64_t(count)));
    }
    bytes_left_ -= std::int64_t(count);
    return buffer_;
}

void NpyReader::refuse(const std::string& message) const {
    throw DataError({.file = file(), .field = array_, .message = message});
}

}    // namespace slipway
