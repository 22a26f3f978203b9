#include "executor/glyphs/choose.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "executor/tensor/parallel.h"

// Faces are judged by their 36 characters drawn at 16 pixels. A face is left out when two
// characters look the same, when figures are old-style, or when most characters are not nearest to
// the mean of their own over the other families: ornaments, other scripts, blanks. Families whose
// ink differs by less than same_design_max are joined, also through a third one, so that no design
// is on both sides of a split by family.
namespace slipway {

namespace {

constexpr std::size_t character_count = glyph_characters.size();
constexpr int side = 16;
constexpr std::size_t area = std::size_t{side} * side;
constexpr std::size_t shape_size = character_count * area;

/// Figures lower than this part of a capital are old-style.
constexpr double figure_height_min = 0.87;
/// Characters of a face that must be nearest to their own mean.
constexpr int recognised_min = int(character_count) / 2;
/// Ink that differs, as a part of both faces' ink: clones are below 0.05, and the closest pairs of
/// designs that people tell apart begin at 0.06.
constexpr float same_design_max = 0.055F;

constexpr auto decorated_styles =
    std::to_array<std::string_view>({"Outline", "Inverted", "Initials", "Shadow", "Stencil"});

/// A face's 36 characters at 16 pixels: what decisions are made of.
struct Shapes {
    std::vector<float> ink;    ///< character by character, 0 to 1; empty when unusable
    float total = 0;
    std::string refusal;
};

const float* glyph(const std::vector<float>& ink, std::size_t character) {
    return &ink[character * area];
}

std::string shape_problem(Glyphs& glyphs, const Shapes& shapes) {
    std::set<std::vector<float>> distinct;
    for (std::size_t c = 0; c < character_count; ++c) {
        const float* pixels = glyph(shapes.ink, c);
        if (std::accumulate(pixels, pixels + area, 0.0F) == 0) return "a character has no ink";
        distinct.insert({pixels, pixels + area});
    }
    if (distinct.size() < character_count) return "two characters look the same";
    for (const char digit : glyph_characters.substr(0, 10)) {
        if (glyphs.relative_height(digit).value_or(0) < figure_height_min) {
            return "its figures are old-style";
        }
    }
    return {};
}

Shapes draw_shapes(const FontFace& face) {
    Shapes shapes;
    for (const std::string_view word : decorated_styles) {
        if ((face.family + " " + face.style).find(word) != std::string::npos) {
            shapes.refusal = fmt::format("it is decorated ({})", word);
            return shapes;
        }
    }
    Glyphs glyphs(face);
    for (const char character : glyph_characters) {
        const Image image = glyphs.draw(
            character, {.side = side, .capital_height = 0.72, .shift_x = 0, .shift_y = 0});
        for (const std::uint8_t pixel : image.pixels)
            shapes.ink.push_back(float(pixel) / 255.0F);
    }
    shapes.total = std::accumulate(shapes.ink.begin(), shapes.ink.end(), 0.0F);
    shapes.refusal = shape_problem(glyphs, shapes);
    return shapes;
}

using Families = std::map<std::string, std::vector<std::size_t>>;

/// The mean shape of each character over families, each family counting once.
class MeanShapes {
public:
    MeanShapes(const Families& families, const std::vector<Shapes>& shapes)
        : sum_(shape_size, 0.0F) {
        for (const auto& [name, members] : families) {
            std::vector<float>& mean = means_[name];
            mean.resize(shape_size, 0.0F);
            for (const std::size_t face : members) {
                for (std::size_t i = 0; i < shape_size; ++i) {
                    mean[i] += shapes[face].ink[i] / float(members.size());
                }
            }
            for (std::size_t i = 0; i < shape_size; ++i)
                sum_[i] += mean[i];
        }
    }

    /// Over all families but one.
    std::vector<float> without(const std::string& family) const {
        const std::vector<float>& own = means_.at(family);
        std::vector<float> others(shape_size);
        for (std::size_t i = 0; i < shape_size; ++i)
            others[i] = sum_[i] - own[i];
        return others;
    }

private:
    std::map<std::string, std::vector<float>> means_;
    std::vector<float> sum_;
};

float likeness(const float* a, const float* b) {
    const float product = std::inner_product(a, a + area, b, 0.0F);
    const float squares = std::inner_product(b, b + area, b, 0.0F);
    return squares > 0 ? product / std::sqrt(squares) : 0;
}

int recognised(const Shapes& face, const std::vector<float>& means) {
    int count = 0;
    for (std::size_t c = 0; c < character_count; ++c) {
        std::array<float, character_count> likenesses{};
        for (std::size_t other = 0; other < character_count; ++other) {
            likenesses[other] = likeness(glyph(face.ink, c), glyph(means, other));
        }
        const auto best = std::max_element(likenesses.begin(), likenesses.end());
        count += std::size_t(best - likenesses.begin()) == c;
    }
    return count;
}

bool same_design(const Shapes& a, const Shapes& b) {
    const float limit = same_design_max * (a.total + b.total);
    float difference = 0;
    for (std::size_t c = 0; c < character_count && difference < limit; ++c) {
        for (std::size_t i = c * area; i < (c + 1) * area; ++i) {
            difference += std::abs(a.ink[i] - b.ink[i]);
        }
    }
    return difference < limit;
}

bool any_same_design(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b,
                     const std::vector<Shapes>& shapes) {
    return std::any_of(a.begin(), a.end(), [&](std::size_t i) {
        return std::any_of(b.begin(), b.end(),
                           [&](std::size_t j) { return same_design(shapes[i], shapes[j]); });
    });
}

/// Joins families of one design, also through a third.
Families join_designs(Families families, const std::vector<Shapes>& shapes) {
    for (auto a = families.begin(); a != families.end();) {
        auto b = std::next(a);
        while (b != families.end() && !any_same_design(a->second, b->second, shapes))
            ++b;
        if (b == families.end()) {
            ++a;
            continue;
        }
        auto& kept = b->second.size() > a->second.size() ? b : a;
        auto& gone = b->second.size() > a->second.size() ? a : b;
        kept->second.insert(kept->second.end(), gone->second.begin(), gone->second.end());
        std::sort(kept->second.begin(), kept->second.end());
        families.erase(gone);
        a = families.begin();    // the joined family may now be near to one that was passed
    }
    return families;
}

}    // namespace

FontChoice choose_families(const std::vector<FontFace>& faces) {
    FontChoice choice;
    std::vector<Shapes> shapes(faces.size());
    parallel_for(std::int64_t(faces.size()), 0, [&](std::int64_t i) {
        shapes[std::size_t(i)] = draw_shapes(faces[std::size_t(i)]);
    });
    const auto skip = [&](const FontFace& face, const std::string& reason) {
        choice.skipped.push_back({face.family + " " + face.style, reason});
    };

    Families families;
    for (std::size_t i = 0; i < faces.size(); ++i) {
        if (shapes[i].refusal.empty()) {
            families[faces[i].family].push_back(i);
        } else {
            skip(faces[i], shapes[i].refusal);
        }
    }
    const MeanShapes means(families, shapes);
    for (auto& [name, members] : families) {
        const std::vector<float> others = means.without(name);
        std::erase_if(members, [&](std::size_t i) {
            const int count = recognised(shapes[i], others);
            if (count >= recognised_min || families.size() == 1) return false;
            skip(faces[i], fmt::format("only {} of its {} characters look like other families'",
                                       count, character_count));
            return true;
        });
    }
    std::erase_if(families, [](const auto& family) { return family.second.empty(); });

    for (const auto& [name, members] : join_designs(std::move(families), shapes)) {
        FontFamily& family = choice.families.emplace_back(FontFamily{name, {}});
        for (const std::size_t i : members)
            family.faces.push_back(faces[i]);
    }
    return choice;
}

}    // namespace slipway
