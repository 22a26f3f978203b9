#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "executor/glyphs/choose.h"

namespace slipway {

struct GlyphSetOptions {
    std::uint64_t seed = 0;
    int size = 32;    ///< pixels of a side
    std::int64_t samples =
        20'000;    ///< about this many: each family has as many of each character
    int families_min = 40;
    int threads = 0;        ///< 0: one per CPU
    bool durable = true;    ///< on the disk before the folder appears; false: for scratch
};

struct GlyphSetReport {
    std::int64_t samples = 0;
    std::size_t families = 0;
    std::size_t faces = 0;
    std::size_t skipped = 0;
};

/// Called with images written and images in all, from one thread at a time.
using GlyphProgress = std::function<void(std::int64_t, std::int64_t)>;

/// Writes the glyph dataset to `folder`: labels.csv (file, label, family), images/FAMILY/*.jpg and
/// fonts.csv (which faces were used, which not and why). The same fonts, options and FreeType give
/// the same bytes. A folder that exists is replaced; it appears complete or not at all.
/// errors  throws not_found with fewer families than asked for, exhausted for a full disk,
///         conflict when `folder` exists and is no glyph dataset
GlyphSetReport write_glyph_set(const std::filesystem::path& folder, const FontChoice& fonts,
                               const GlyphSetOptions& options, const GlyphProgress& progress);

}    // namespace slipway
