#include <fmt/core.h>

#include <cstring>

#include "api/base/check.h"
#include "api/base/error.h"
#include "executor/data/packed/pack_layout.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

/// With the checksum that its head and its problems have; as it is where they are not all there.
std::string with_sum(std::string file, std::uint64_t samples) {
    const std::uint64_t text_bytes = pack_number_at(std::as_bytes(std::span(file)), 24);
    const std::size_t pixels_begin = pack_pixels_at(std::size_t(samples));
    if (pixels_begin > file.size() || text_bytes > file.size() - pixels_begin) return file;
    const auto bytes = std::as_writable_bytes(std::span(file));
    const std::string text = file.substr(file.size() - std::size_t(text_bytes));
    const std::string sum = pack_sum(bytes.first(pixels_begin), text);
    std::memcpy(&file[pack_sum_at], sum.data(), pack_sum_bytes);
    return file;
}

}    // namespace

std::string run_pack(std::span<const std::byte> input) {
    const std::string given = text_of(input);
    const bool has_head = given.size() >= pack_header_bytes;
    // Of a dataset with as many samples, or of one that has one when so many cannot be.
    const std::uint64_t said = has_head ? pack_number_at(input, 16) : 0;
    const std::uint64_t samples = said <= given.size() / pack_entry_bytes ? said : 1;
    const TempFolder folder;
    folder.write("pack", has_head ? with_sum(given, samples) : given);
    const auto opened = Pack::open(folder.path() / "pack", std::int64_t(samples));
    if (!opened) {
        check(opened.error().code() != ErrorCode::internal, "a file is never our fault");
        return opened.error().what();
    }
    const Pack& pack = **opened;
    std::uint64_t whole = 0;
    for (std::int64_t sample = 0; sample < std::int64_t(samples); ++sample) {
        const PackedEntry& entry = pack.entry(sample);
        check(pack.pixels(sample).size() == entry.bytes(), "an image has its pixels");
        whole += pack.is_whole(sample) ? 1 : 0;
    }
    check(packed_problems(to_text(pack.problems())).size() == pack.problems().size(),
          "problems are written as they were read");
    return fmt::format("{} of {} images, {} problems", whole, samples, pack.problems().size());
}

}    // namespace slipway
