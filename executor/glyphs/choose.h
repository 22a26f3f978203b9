#pragma once

#include <string>
#include <vector>

#include "executor/glyphs/font.h"

namespace slipway {

/// Faces of one design: the group that training and validation never share.
struct FontFamily {
    std::string name;
    std::vector<FontFace> faces;
};

struct SkippedFace {
    std::string name;    ///< family and style
    std::string reason;
};

struct FontChoice {
    std::vector<FontFamily> families;    ///< by name
    std::vector<SkippedFace> skipped;
};

/// Which faces the dataset is made of, decided from their shapes:
///   - all 36 characters have ink, and no two look the same;
///   - figures stand as high as capitals (old-style figures look like small letters);
///   - it is no decorated variant (outlined, inverted, initials);
///   - at least half of its characters are nearer to the mean shape of that character over the
///     other families than to any other's: what a reader would not know is left out;
///   - families closer than clones of one design are one family, under the name of the one with
///     the most faces.
/// The same fonts give the same choice.
FontChoice choose_families(const std::vector<FontFace>& faces);

}    // namespace slipway
