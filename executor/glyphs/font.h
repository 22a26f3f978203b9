#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/data/formats/image.h"

namespace slipway {

/// The classes of the glyph dataset: ten digits and 26 capitals.
inline constexpr std::string_view glyph_characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// One face of one font file.
struct FontFace {
    std::filesystem::path path;
    std::string family;    ///< "Lato": without weight, width and slant
    std::string style;     ///< "Black Italic"
};

/// All faces of the .ttf and .otf files below `folders` that hold the 36 characters with outlines,
/// once per family and style, sorted by family, style and path. Files that FreeType cannot read are
/// passed over; variable fonts give their default.
std::vector<FontFace> find_faces(const std::vector<std::filesystem::path>& folders);

/// How a glyph is drawn: in light ink on a dark square.
struct GlyphPose {
    int side = 32;                      ///< pixels of the square
    double capital_height = 0.6;        ///< of H, as a part of the side
    double shift_x = 0, shift_y = 0;    ///< of the glyph from the middle, in pixels
};

/// A face opened for drawing. Used by one thread.
class Glyphs {
public:
    /// errors  throws data_loss when FreeType cannot read the file
    explicit Glyphs(const FontFace& face);
    ~Glyphs();
    Glyphs(Glyphs&&) noexcept;
    Glyphs& operator=(Glyphs&&) noexcept;

    /// Gray image; made smaller where it would not fit the square with a pixel to spare.
    Image draw(char character, const GlyphPose& pose);
    /// Height of the glyph's ink above the baseline as a part of H's; none without ink.
    std::optional<double> relative_height(char character);

private:
    struct State;    // FreeType's library and face
    std::unique_ptr<State> state_;
};

}    // namespace slipway
