#include "executor/data/formats/tfrecord_reader.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "executor/data/formats/crc32c.h"
#include "executor/data/problem.h"

namespace slipway {

namespace {

constexpr std::size_t length_bytes = 8, sum_bytes = 4, header_bytes = length_bytes + sum_bytes;
using Header = std::array<std::byte, header_bytes>;

std::uint64_t little_endian(std::span<const std::byte> bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
    return value;
}

bool sum_holds(std::span<const std::byte> bytes, std::span<const std::byte> sum) {
    return masked_crc32c(bytes) == little_endian(sum);
}

bool header_holds(std::span<const std::byte> header) {
    return sum_holds(header.first(length_bytes), header.subspan(length_bytes));
}

/// As TFRecordOptions("ZLIB") writes it: a deflate method, and a check of the first two bytes.
bool is_zlib(std::span<const std::byte> begin) {
    const auto first = std::to_integer<unsigned>(begin[0]);
    return (first & 0x0FU) == 8 && (first << 8 | std::to_integer<unsigned>(begin[1])) % 31 == 0;
}

/// A record of 35615 bytes begins with gzip's two bytes: its sum tells that it is none.
bool is_gzipped(int file) {
    Header begin{};
    const ssize_t count = pread(file, begin.data(), begin.size(), 0);
    return count >= 2 && begin[0] == std::byte{0x1F} && begin[1] == std::byte{0x8B} &&
           !(count == ssize_t(begin.size()) && header_holds(begin));
}

}    // namespace

TfrecordReader::TfrecordReader(UniqueFd file, std::string name)
    : name_(std::move(name)), file_(std::move(file)) {
    if (is_gzipped(file_.get())) {
        stream_.emplace(std::move(file_), name_);
    } else {
        buffer_.resize(1 << 18);
    }
}

std::optional<std::span<const std::byte>> TfrecordReader::next() {
    can_go_on_ = false;
    begin_ = position_;
    ++row_;
    Header header{};
    const std::size_t count = fill(header);
    if (count == 0) return std::nullopt;
    if (count < header.size()) {
        refuse(
            fmt::format("the file is truncated: it ends {} bytes into the record that begins at "
                        "byte {}",
                        count, begin_));
    }
    if (!header_holds(header)) {
        if (begin_ == 0 && is_zlib(header))
            refuse("the file is compressed with zlib; write it without compression or with GZIP");
        refuse(
            fmt::format("the length at byte {} does not match its checksum; the file is damaged or "
                        "is not a TFRecord file",
                        begin_));
    }
    const std::uint64_t length = little_endian(std::span(header).first(length_bytes));
    if (length > std::uint64_t(record_bytes_max)) {
        refuse(
            fmt::format("the record that begins at byte {} has {} bytes, more than the {} that "
                        "are read",
                        begin_, length, record_bytes_max));
    }
    const std::size_t wanted = std::size_t(length) + sum_bytes;
    constexpr std::size_t piece = 16 << 20;    // the file decides how much memory is taken
    record_.clear();
    while (record_.size() < wanted) {
        const std::size_t before = record_.size();
        record_.resize(std::min(wanted, before + piece));
        const std::size_t got = fill(std::span(record_).subspan(before));
        if (before + got == record_.size()) continue;
        refuse(
            fmt::format("the file is truncated: the record that begins at byte {} has {} of {} "
                        "bytes",
                        begin_, std::min<std::size_t>(before + got, length), length));
    }
    can_go_on_ = true;
    const auto data = std::span<const std::byte>(record_).first(std::size_t(length));
    if (!sum_holds(data, std::span(record_).subspan(std::size_t(length)))) {
        refuse(
            fmt::format("the {} bytes at byte {} do not match their checksum; the file is "
                        "damaged",
                        length, data_begin()));
    }
    return data;
}

std::size_t TfrecordReader::fill(std::span<std::byte> bytes) {
    std::size_t count = 0;
    if (stream_) {
        count = stream_->read(bytes);
    } else {
        while (count < bytes.size()) {
            if (taken_ == filled_) {
                const ssize_t got = ::read(file_.get(), buffer_.data(), buffer_.size());
                if (got < 0 && errno == EINTR) continue;
                if (got < 0) {
                    throw Error{ErrorCode::unavailable,
                                fmt::format("{} cannot be read: {}", name_, strerror(errno))};
                }
                if (got == 0) break;
                taken_ = 0;
                filled_ = std::size_t(got);
            }
            const std::size_t part = std::min(bytes.size() - count, filled_ - taken_);
            std::copy_n(&buffer_[taken_], part, &bytes[count]);
            taken_ += part;
            count += part;
        }
    }
    position_ += std::int64_t(count);
    return count;
}

void TfrecordReader::refuse(const std::string& message) const {
    throw DataError({.file = name_, .row = row_, .message = message});
}

}    // namespace slipway
