// Nobody has to finish anything: an image is there when its record is, and a record is written
// after its pixels. A process that is killed leaves pixels without a record, or a claim that ends
// by itself. Neither is locked. Where two processes claim an image in the same moment both decode
// it, and the later record stays. Pixels go to the end of the file (O_APPEND), where the kernel
// gives each writer a place of its own.
//
// Read, not mapped: a file that is cut off is an image that is not here, where a mapping would be a
// SIGBUS; pixels are copied into an image in any case. Executors may have no locks of parts of
// files (system_calls.cpp), so a claim is a time.
#include "executor/data/shared/pixel_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "api/base/check.h"
#include "api/base/clock.h"
#include "executor/data/formats/crc32c.h"
#include "executor/data/unfinished_file.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view pixels_magic = "slippixl";
constexpr std::uint64_t pixels_version = 1;
constexpr std::int64_t header_bytes = 64, header_sum_at = 24;
constexpr std::int64_t record_bytes = 32, record_sum_at = 24, entry_bytes = 40;
constexpr int pause_ms = 1;    // between two looks at what another process decodes

using Header = std::array<std::byte, header_bytes>;
using Record = std::array<std::byte, record_bytes>;

struct Place {
    std::int64_t offset = 0;
    std::uint32_t channels = 0, height = 0, width = 0, sum = 0;
};

template <class Bytes, class Number>
void put(Bytes& bytes, std::size_t at, Number number) {
    std::memcpy(&bytes[at], &number, sizeof number);
}

template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t at) {
    Number number{};
    std::memcpy(&number, &bytes[at], sizeof number);
    return number;
}

std::int64_t entry_at(std::int64_t sample) {
    return header_bytes + sample * entry_bytes;
}

Header header_of(std::int64_t samples) {
    Header header{};
    std::memcpy(header.data(), pixels_magic.data(), pixels_magic.size());
    put(header, 8, pixels_version);
    put(header, 16, samples);
    put(header, header_sum_at, std::uint64_t(crc32c(std::span(header).first(header_sum_at))));
    return header;
}

/// With the number of its image: a record that lies in the place of another one does not fit.
std::uint64_t sum_of(const Record& record, std::int64_t sample) {
    std::array<std::byte, record_sum_at + sizeof sample> summed{};
    std::memcpy(summed.data(), record.data(), record_sum_at);
    put(summed, record_sum_at, sample);
    return crc32c(summed);
}

Record record_of(const Place& place, std::int64_t sample) {
    Record record{};
    put(record, 0, place.offset);
    put(record, 8, place.channels);
    put(record, 12, place.height);
    put(record, 16, place.width);
    put(record, 20, place.sum);
    put(record, record_sum_at, sum_of(record, sample));
    return record;
}

bool is_absent(const Record& record) {
    return record == Record{};
}

/// None when it is not as it was written.
std::optional<Place> place_in(const Record& record, std::int64_t sample) {
    if (number_at<std::uint64_t>(record, record_sum_at) != sum_of(record, sample)) return {};
    const Place place{.offset = number_at<std::int64_t>(record, 0),
                      .channels = number_at<std::uint32_t>(record, 8),
                      .height = number_at<std::uint32_t>(record, 12),
                      .width = number_at<std::uint32_t>(record, 16),
                      .sum = number_at<std::uint32_t>(record, 20)};
    const bool has_pixels = (place.channels == 1 || place.channels == 3) && place.height > 0 &&
                            place.width > 0 && place.height <= image_pixels_max / place.width;
    if (!has_pixels || place.offset < header_bytes) return {};
    return place;
}

/// False when it ends before.
bool read_at(const UniqueFd& file, std::span<std::byte> bytes, std::int64_t at) {
    while (!bytes.empty()) {
        const ssize_t count = pread(file.get(), bytes.data(), bytes.size(), off_t(at));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes = bytes.subspan(std::size_t(count));
        at += count;
    }
    return true;
}

/// False, with errno, when not all of it was written.
bool write_at(const UniqueFd& file, std::span<const std::byte> bytes, std::int64_t at) {
    const ssize_t count = pwrite(file.get(), bytes.data(), bytes.size(), off_t(at));
    if (count >= 0 && std::size_t(count) != bytes.size()) errno = ENOSPC;
    return count >= 0 && std::size_t(count) == bytes.size();
}

std::uint64_t now_ms() {
    const auto since = system_clock().tick().time_since_epoch();
    return std::uint64_t(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
}

bool fits(const UniqueFd& file, std::int64_t samples) {
    struct stat facts {};
    Header header{};
    return fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           facts.st_size >= entry_at(samples) && read_at(file, header, 0) &&
           header == header_of(samples);
}

/// Under another name until it is whole. False while another process makes it.
bool make(const fs::path& path, std::int64_t samples) {
    const fs::path unfinished = path.string() + ".tmp";
    const auto file = lock_unfinished(unfinished);
    if (!file) return false;
    std::error_code absent;
    if (fs::exists(path, absent)) {    // made between our look and our lock
        unlink(unfinished.c_str());
        return true;
    }
    // Room for the records, so that they can be written when the disk is full.
    errno = posix_fallocate(file->get(), 0, off_t(entry_at(samples)));
    if (errno == 0 && write_at(*file, header_of(samples), 0) &&
        rename(unfinished.c_str(), path.c_str()) == 0)
        return true;
    const int why = errno;
    unlink(unfinished.c_str());
    errno = why;
    fail_writing(path);
}

UniqueFd open_at(const fs::path& path, int flags) {
    return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
}

std::string words_of(int error) {
    const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
    return full ? "the disk is full" : std::strerror(error);
}

}    // namespace

PixelFile::Opened PixelFile::open(const fs::path& path, std::int64_t samples,
                                  const PixelFileLimits& limits) {
    const Tick until = system_clock().tick() + limits.wait_max;
    do {
        UniqueFd file = open_at(path, O_RDWR);
        if (!file && errno != ENOENT) fail_writing(path);
        if (file && fits(file, samples)) {
            UniqueFd end = open_at(path, O_WRONLY | O_APPEND);
            if (!end || !is_named(file, path)) continue;    // another process has replaced it
            futimens(file.get(), nullptr);    // used just now: whoever makes room goes by it
            return {std::move(file), std::move(end)};
        }
        std::error_code gone;
        if (file && is_named(file, path)) fs::remove(path, gone);
        if (!make(path, samples)) poll(nullptr, 0, pause_ms);
    } while (system_clock().tick() < until);
    throw Error{ErrorCode::unavailable, fmt::format("another process has been making {} for {} ms",
                                                    path.string(), limits.wait_max.count())};
}

PixelFile::PixelFile(const fs::path& path, std::int64_t samples, const PixelFileLimits& limits)
    : opened_(open(path, samples, limits)), samples_(samples), limits_(limits) {}

std::optional<Image> PixelFile::find(std::int64_t sample) const {
    check(sample >= 0 && sample < samples_, "a sample is one of the dataset");
    Record record{};
    if (!read_at(opened_.file, record, entry_at(sample)) || is_absent(record)) return std::nullopt;
    if (const auto place = place_in(record, sample)) {
        Image image{place->channels, place->height, place->width, {}};
        image.pixels.resize(std::size_t(image.channels * image.height * image.width));
        const auto bytes = std::as_writable_bytes(std::span(image.pixels));
        if (read_at(opened_.file, bytes, place->offset) && crc32c(bytes) == place->sum)
            return image;
    }
    ++refused_;
    return std::nullopt;
}

bool PixelFile::claim(std::int64_t sample) const {
    const std::int64_t at = entry_at(sample) + record_bytes;
    const auto patience = std::uint64_t(limits_.wait_max.count());
    const std::uint64_t begin = now_ms();
    std::uint64_t now = begin;
    bool waited = false;
    for (; waits_ && now - begin < patience; now = now_ms()) {
        std::array<std::byte, sizeof now> since_bytes{};
        if (!read_at(opened_.file, since_bytes, at)) break;
        const auto since = number_at<std::uint64_t>(since_bytes, 0);
        // A time to come is one of before a reboot, or of another machine.
        if (since == 0 || since > now || now - since >= patience) break;
        waited = true;
        poll(nullptr, 0, pause_ms);
    }
    if (now - begin >= patience) waits_ = false;
    // Of no use but to others: what fails here is seen when the image is kept.
    write_at(opened_.file, std::as_bytes(std::span(&now, 1)), at);
    return waited;
}

void PixelFile::release(std::int64_t sample) const {
    constexpr std::uint64_t nobody = 0;
    write_at(opened_.file, std::as_bytes(std::span(&nobody, 1)), entry_at(sample) + record_bytes);
}

bool PixelFile::keep(std::int64_t sample, const Image& image) const {
    check(sample >= 0 && sample < samples_, "a sample is one of the dataset");
    const auto pixels = std::as_bytes(std::span(image.pixels));
    Place place{.channels = std::uint32_t(image.channels),
                .height = std::uint32_t(image.height),
                .width = std::uint32_t(image.width),
                .sum = crc32c(pixels)};
    {
        const std::lock_guard lock(mutex_);
        if (closed_ || !has_room(std::int64_t(pixels.size()))) return false;
        const ssize_t count = write(opened_.end.get(), pixels.data(), pixels.size());
        if (count < 0 && errno == EINTR) return false;
        if (count < 0 || std::size_t(count) != pixels.size()) {
            close_for(words_of(count < 0 ? errno : ENOSPC));
            return false;
        }
        place.offset = std::int64_t(lseek(opened_.end.get(), 0, SEEK_CUR)) - count;
    }
    if (write_at(opened_.file, record_of(place, sample), entry_at(sample))) return true;
    const int why = errno;
    const std::lock_guard lock(mutex_);
    close_for(words_of(why));
    return false;
}

/// Copies must not be what fills the disk: what they take is at most what they leave free.
bool PixelFile::has_room(std::int64_t more) const {
    const std::int64_t all = bytes() + more;
    if (all - more < entry_at(samples_)) {
        close_for("it was cut off");
        return false;
    }
    struct statvfs disk {};
    const bool known = fstatvfs(opened_.file.get(), &disk) == 0;
    const auto left = std::int64_t(disk.f_bavail) * std::int64_t(disk.f_frsize);
    if (all <= limits_.bytes_max && (!known || all <= left)) return true;
    close_for(all > limits_.bytes_max
                  ? fmt::format("it has {} bytes, the most that it may have", limits_.bytes_max)
                  : fmt::format("{} bytes are free on its disk, and it has no fewer", left));
    return false;
}

void PixelFile::close_for(const std::string& why) const {
    if (closed_) return;
    why_closed_ = why;
    closed_ = true;
}

std::string PixelFile::why_closed() const {
    const std::lock_guard lock(mutex_);
    return why_closed_;
}

std::int64_t PixelFile::bytes() const {
    struct stat facts {};
    return fstat(opened_.file.get(), &facts) == 0 ? std::int64_t(facts.st_size) : 0;
}

}    // namespace slipway
