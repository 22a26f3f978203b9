#include "executor/data/packed/pack.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "api/base/sha256.h"
#include "executor/data/formats/crc32c.h"
#include "executor/data/packed/pack_layout.h"

namespace slipway {

namespace {

[[noreturn]] void refuse_pack(const std::string& message) {
    throw Error{ErrorCode::data_loss, fmt::format("the pack is damaged: {}", message)};
}

/// Whether an image has its pixels before `end`; none are there of one without sides.
bool has_its_pixels(const PackedEntry& entry, std::uint64_t end) {
    if (entry.offset > end) return false;
    std::uint64_t room = end - entry.offset;    // the product of the sides may be beyond 64 bits
    for (const std::uint64_t side : {entry.channels, entry.height, entry.width}) {
        if (side == 0) return entry.state == PackedState::damaged;
        room /= side;
    }
    return room > 0;
}

}    // namespace

void Pack::Unmap::operator()(const std::byte* memory) const {
    munmap(const_cast<std::byte*>(memory), size);
}

Result<std::optional<Pack>> Pack::open(const std::filesystem::path& path, std::int64_t samples) {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && errno == ENOENT) return std::optional<Pack>();
    struct stat facts {};
    if (!file || fstat(file.get(), &facts) != 0)
        return Error{ErrorCode::unavailable, fmt::format("{}: {}", path.string(), strerror(errno))};
    const auto size = std::size_t(facts.st_size);
    try {
        if (size < pack_header_bytes) refuse_pack("it is shorter than its header");
        void* const memory = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
        if (memory == MAP_FAILED)
            return Error{ErrorCode::unavailable,
                         fmt::format("{} cannot be mapped: {}", path.string(), strerror(errno))};
        const auto* const bytes = static_cast<const std::byte*>(memory);
        Pack pack(Mapping(bytes, {size}), {bytes, size});
        pack.read(samples);
        futimens(file.get(), nullptr);    // used just now: remove_old_packs goes by it
        return std::optional<Pack>(std::move(pack));
    } catch (const Error& error) {    // a pack can be made anew: the caller decides
        return error;
    }
}

Pack::Pack(Mapping memory, std::span<const std::byte> file)
    : memory_(std::move(memory)), file_(file) {}

void Pack::read(std::int64_t samples) {
    if (std::memcmp(file_.data(), pack_magic.data(), pack_magic.size()) != 0 ||
        pack_number_at(file_, 8) != pack_version)
        refuse_pack("it is of another version");
    const std::uint64_t text_bytes = pack_number_at(file_, 24);
    if (pack_number_at(file_, 16) != std::uint64_t(samples)) refuse_pack("it has other samples");
    const std::size_t pixels_begin = pack_pixels_at(std::size_t(samples));
    if (pixels_begin > file_.size() || text_bytes > file_.size() - pixels_begin)
        refuse_pack("it is cut off");
    const std::size_t pixels_end = file_.size() - std::size_t(text_bytes);
    const std::string_view text(reinterpret_cast<const char*>(file_.data()) + pixels_end,
                                std::size_t(text_bytes));
    std::vector<std::byte> head(file_.begin(), file_.begin() + std::ptrdiff_t(pixels_begin));
    const std::string kept(reinterpret_cast<const char*>(&head[pack_sum_at]), pack_sum_bytes);
    if (kept != pack_sum(head, text)) refuse_pack("it does not match its checksum");
    entries_.resize(std::size_t(samples));
    static_assert(sizeof(PackedEntry) == pack_entry_bytes);
    if (samples > 0)
        std::memcpy(entries_.data(), &head[pack_header_bytes], head.size() - pack_header_bytes);
    for (const PackedEntry& entry : entries_) {
        if (entry.state > PackedState::accepted) refuse_pack("an image is in no known state");
        if (!has_its_pixels(entry, pixels_end)) refuse_pack("its pixels are cut off");
    }
    problems_ = packed_problems(text);
}

std::span<const std::uint8_t> Pack::pixels(std::int64_t sample) const {
    const PackedEntry& found = entry(sample);
    return {reinterpret_cast<const std::uint8_t*>(file_.data()) + found.offset,
            std::size_t(found.bytes())};
}

bool Pack::is_whole(std::int64_t sample) const {
    return crc32c(std::as_bytes(pixels(sample))) == entry(sample).sum;
}

}    // namespace slipway
