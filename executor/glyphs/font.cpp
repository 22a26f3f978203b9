#include "executor/glyphs/font.h"

#include <fmt/core.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H
#include FT_BBOX_H
#include FT_SFNT_NAMES_H
#include FT_TRUETYPE_IDS_H

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "api/base/check.h"
#include "api/base/error.h"

// Font files disagree about what a family is, and clones must not be counted twice: the name is
// taken without words of style and a foundry's mark. Characters are drawn by FreeType after one
// affine map from font units, so that each is rotated and slanted before it becomes pixels.
namespace slipway {

namespace fs = std::filesystem;

namespace {

struct FreeLibrary {
    void operator()(FT_Library library) const { FT_Done_FreeType(library); }
};
struct FreeFace {
    void operator()(FT_Face face) const { FT_Done_Face(face); }
};
using Library = std::unique_ptr<FT_LibraryRec_, FreeLibrary>;
using Face = std::unique_ptr<FT_FaceRec_, FreeFace>;

/// Words that tell members of one family apart. They end a legacy family name ("Lato Black").
const std::set<std::string, std::less<>> style_words = {
    "Thin",    "Hairline",  "ExtraLight", "UltraLight", "Ultralight",    "Extralight",
    "Light",   "SemiLight", "Semilight",  "Book",       "Regular",       "Roman",
    "Normal",  "Medium",    "SemiBold",   "Semibold",   "DemiBold",      "Demibold",
    "Demi",    "Bold",      "ExtraBold",  "Extrabold",  "UltraBold",     "Black",
    "Heavy",   "Fat",       "Condensed",  "Cond",       "SemiCondensed", "ExtraCondensed",
    "Narrow",  "Extended",  "Expanded",   "Wide",       "Italic",        "Oblique",
    "Slanted", "Retina",    "Caption",    "Display",    "Subhead",       "Text",
    "No2"};

Library open_library() {
    FT_Library library = nullptr;
    check(FT_Init_FreeType(&library) == 0, "FreeType can be started");
    return Library(library);
}

Face open_face(FT_Library library, const fs::path& path) {
    FT_Face face = nullptr;
    if (FT_New_Face(library, path.c_str(), 0, &face) != 0) return nullptr;
    Face owned(face);
    if (FT_Select_Charmap(face, FT_ENCODING_UNICODE) != 0 || !FT_IS_SCALABLE(face)) return nullptr;
    return owned;
}

/// A name of the font file in ASCII; empty when it is absent or written otherwise.
std::string name_of(FT_Face face, FT_UShort id) {
    for (FT_UInt i = 0; i < FT_Get_Sfnt_Name_Count(face); ++i) {
        FT_SfntName name{};
        if (FT_Get_Sfnt_Name(face, i, &name) != 0 || name.name_id != id) continue;
        const bool wide = name.platform_id == TT_PLATFORM_MICROSOFT;
        if (wide && name.language_id != TT_MS_LANGID_ENGLISH_UNITED_STATES) continue;
        std::string text;
        for (FT_UInt at = wide ? 1 : 0; at < name.string_len; at += wide ? 2 : 1) {
            const FT_Byte byte = name.string[at];
            if (byte >= 0x20 && byte < 0x7F) text += char(byte);
        }
        if (!text.empty()) return text;
    }
    return {};
}

/// The family's own name: "Lato Black" is Lato; "Gillius ADF No2 Bold" is Gillius, for what follows
/// that foundry's mark tells variations apart.
std::string plain_family(const std::string& name) {
    std::vector<std::string> words;
    std::istringstream stream(name);
    for (std::string word; stream >> word && word != "ADF";)
        words.push_back(word);
    while (words.size() > 1 && style_words.contains(words.back()))
        words.pop_back();
    std::string family;
    for (const std::string& word : words)
        family += (family.empty() ? "" : " ") + word;
    return family;
}

FontFace describe(FT_Face face, const fs::path& path) {
    std::string family = name_of(face, TT_NAME_ID_TYPOGRAPHIC_FAMILY);
    if (family.empty() && face->family_name != nullptr) family = face->family_name;
    std::string style = name_of(face, TT_NAME_ID_TYPOGRAPHIC_SUBFAMILY);
    if (style.empty() && face->style_name != nullptr) style = face->style_name;
    // The legacy family may be all that tells "Lato Black" from "Lato Regular".
    const std::string legacy = face->family_name != nullptr ? face->family_name : "";
    if (legacy.size() > family.size() && legacy.starts_with(family) && style == "Regular") {
        style = legacy.substr(family.size() + 1);
    }
    const std::string plain = plain_family(family);
    if (plain.size() < family.size()) style = family.substr(plain.size() + 1) + " " + style;
    return {path, plain, style};
}

bool has_all_characters(FT_Face face) {
    return std::all_of(glyph_characters.begin(), glyph_characters.end(), [&](char c) {
        const FT_UInt glyph = FT_Get_Char_Index(face, FT_ULong(c));
        return glyph != 0 && FT_Load_Glyph(face, glyph, FT_LOAD_NO_SCALE) == 0 &&
               face->glyph->format == FT_GLYPH_FORMAT_OUTLINE && face->glyph->outline.n_points > 2;
    });
}

/// In font units; false when the character has no ink.
bool ink_box(FT_Face face, char character, FT_BBox& box) {
    return FT_Load_Char(face, FT_ULong(character), FT_LOAD_NO_SCALE) == 0 &&
           FT_Outline_Get_BBox(&face->glyph->outline, &box) == 0 && box.xMax > box.xMin &&
           box.yMax > box.yMin;
}

}    // namespace

std::vector<FontFace> find_faces(const std::vector<fs::path>& folders) {
    std::set<fs::path> files;
    for (const fs::path& folder : folders) {
        std::error_code error;    // a folder that cannot be listed has no fonts for us
        for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
             entry.increment(error)) {
            const std::string ending = entry->path().extension().string();
            if (ending == ".ttf" || ending == ".otf") files.insert(entry->path());
        }
    }
    const Library library = open_library();
    std::map<std::pair<std::string, std::string>, FontFace> found;
    for (const fs::path& file : files) {
        const Face face = open_face(library.get(), file);
        if (!face || face->family_name == nullptr || !has_all_characters(face.get())) continue;
        FontFace described = describe(face.get(), file);
        const auto key = std::pair(described.family, described.style);
        if (!described.family.empty()) found.try_emplace(key, std::move(described));
    }
    std::vector<FontFace> faces;
    for (auto& [key, face] : found)
        faces.push_back(std::move(face));
    return faces;
}

struct Glyphs::State {
    Library library = open_library();
    Face face;
    double capital_height = 0;    ///< of H, in font units
};

Glyphs::Glyphs(const FontFace& face) : state_(std::make_unique<State>()) {
    state_->face = open_face(state_->library.get(), face.path);
    FT_BBox box{};
    if (!state_->face || !ink_box(state_->face.get(), 'H', box)) {
        throw Error{ErrorCode::data_loss,
                    fmt::format("the font {} cannot be read", face.path.string())};
    }
    state_->capital_height = double(box.yMax - box.yMin);
}

Glyphs::~Glyphs() = default;
Glyphs::Glyphs(Glyphs&&) noexcept = default;
Glyphs& Glyphs::operator=(Glyphs&&) noexcept = default;

std::optional<double> Glyphs::relative_height(char character) {
    FT_BBox box{};
    if (!ink_box(state_->face.get(), character, box)) return std::nullopt;
    return double(box.yMax) / state_->capital_height;
}

Image Glyphs::draw(char character, const GlyphPose& pose) {
    Image image{1, pose.side, pose.side, {}};
    image.pixels.resize(std::size_t(pose.side) * std::size_t(pose.side));
    FT_BBox box{};
    if (!ink_box(state_->face.get(), character, box)) return image;

    const double room = pose.side - 2.0;
    const double scale =
        std::min({pose.side * pose.capital_height / state_->capital_height,
                  room / double(box.xMax - box.xMin), room / double(box.yMax - box.yMin)});
    // 16.16 pixels of 26.6 per font unit.
    const FT_Matrix matrix{FT_Fixed(std::lround(scale * 64 * 65536)), 0, 0,
                           FT_Fixed(std::lround(scale * 64 * 65536))};
    FT_Outline& outline = state_->face->glyph->outline;
    FT_Outline_Transform(&outline, &matrix);
    FT_Outline_Get_BBox(&outline, &box);

    // The middle of the ink across, of the capitals along; then pushed inside where it sticks out.
    const auto pixels = [](double count) { return FT_Pos(std::lround(count * 64)); };
    const FT_Pos edge = pixels(pose.side);
    FT_Pos x = pixels(pose.side / 2.0 + pose.shift_x) - (box.xMin + box.xMax) / 2;
    FT_Pos y = pixels(pose.side / 2.0 - pose.shift_y - scale * state_->capital_height / 2);
    x = std::clamp(x, -box.xMin, std::max(-box.xMin, edge - box.xMax));
    y = std::clamp(y, -box.yMin, std::max(-box.yMin, edge - box.yMax));
    FT_Outline_Translate(&outline, x, y);

    FT_Bitmap bitmap{};
    bitmap.rows = bitmap.width = unsigned(pose.side);
    bitmap.pitch = pose.side;
    bitmap.buffer = image.pixels.data();
    bitmap.num_grays = 256;
    bitmap.pixel_mode = FT_PIXEL_MODE_GRAY;
    FT_Outline_Get_Bitmap(state_->library.get(), &outline, &bitmap);
    return image;
}

}    // namespace slipway
