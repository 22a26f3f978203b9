#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "api/base/error.h"
#include "executor/data/dataset.h"
#include "executor/data/split.h"
#include "executor/glyphs/glyph_set.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

const fs::path fonts = "/usr/share/fonts/truetype";

/// A few of the packages in deploy/font-packages.txt.
std::vector<FontFace> some_faces() {
    return find_faces({fonts / "dejavu", fonts / "liberation2", fonts / "lato"});
}

std::set<std::string> families_of(const std::vector<FontFace>& faces) {
    std::set<std::string> names;
    for (const FontFace& face : faces)
        names.insert(face.family);
    return names;
}

bool have_fonts() {
    return families_of(some_faces()).contains("Lato") &&
           families_of(some_faces()).contains("Liberation Sans");
}

const GlyphSetOptions small{
    .seed = 5, .size = 24, .samples = 36 * 12, .families_min = 3, .durable = false};

std::map<std::string, std::string> files_in(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        files[entry.path().lexically_relative(folder).string()] = read_file(entry.path());
    }
    return files;
}

ErrorCode refusal(const fs::path& folder, const FontChoice& choice) {
    try {
        write_glyph_set(folder, choice, small, {});
    } catch (const Error& error) {    // the test looks at what was thrown
        return error.code();
    }
    return ErrorCode::internal;
}

}    // namespace

TEST(Font, weights_widths_and_slants_are_one_family) {
    if (!have_fonts()) GTEST_SKIP() << "needs the fonts of deploy/font-packages.txt";
    const std::vector<FontFace> faces = some_faces();
    const std::set<std::string> families = families_of(faces);
    EXPECT_TRUE(families.contains("DejaVu Sans"));
    EXPECT_TRUE(families.contains("DejaVu Sans Mono"));    // another design
    EXPECT_FALSE(families.contains("Lato Black"));
    EXPECT_FALSE(families.contains("DejaVu Sans Condensed"));
    std::set<std::pair<std::string, std::string>> distinct;
    for (const FontFace& face : faces)
        EXPECT_TRUE(distinct.emplace(face.family, face.style).second);
}

TEST(Font, glyphs_stay_inside_the_square_wherever_they_are_put) {
    if (!have_fonts()) GTEST_SKIP() << "needs the fonts of deploy/font-packages.txt";
    Glyphs glyphs(some_faces()[0]);
    for (const char character : glyph_characters) {
        for (const double shift : {-40.0, 0.0, 40.0}) {
            const Image image = glyphs.draw(
                character,
                {.side = 24, .capital_height = 0.7, .shift_x = shift, .shift_y = -shift});
            const Image middle = glyphs.draw(character, {.side = 24, .capital_height = 0.7});
            int ink = 0, middle_ink = 0;
            for (const std::uint8_t pixel : image.pixels)
                ink += pixel;
            for (const std::uint8_t pixel : middle.pixels)
                middle_ink += pixel;
            EXPECT_GT(ink, 0);
            EXPECT_NEAR(ink, middle_ink, middle_ink * 0.02 + 100) << character << shift;
        }
    }
}

TEST(Font, a_file_that_is_no_font_is_passed_over) {
    const TempFolder folder;
    folder.write("broken.ttf", "not a font");
    folder.write("empty.otf", "");
    EXPECT_TRUE(find_faces({folder.path(), folder.path() / "none"}).empty());
}

TEST(GlyphSet, the_same_fonts_and_seed_give_the_same_bytes) {
    if (!have_fonts()) GTEST_SKIP() << "needs the fonts of deploy/font-packages.txt";
    const TempFolder folder;
    const FontChoice choice = choose_families(some_faces());
    GlyphSetOptions one_thread = small;
    one_thread.threads = 1;
    write_glyph_set(folder.path() / "a", choice, small, {});
    write_glyph_set(folder.path() / "b", choose_families(some_faces()), one_thread, {});
    const auto files = files_in(folder.path() / "a");
    EXPECT_EQ(files, files_in(folder.path() / "b"));
    GlyphSetOptions other = small;
    other.seed = 6;
    write_glyph_set(folder.path() / "b", choice, other, {});    // replaces
    EXPECT_NE(files, files_in(folder.path() / "b"));
}

TEST(GlyphSet, is_an_image_csv_data_set_balanced_over_families_and_classes) {
    if (!have_fonts()) GTEST_SKIP() << "needs the fonts of deploy/font-packages.txt";
    const TempFolder folder;
    const FontChoice choice = choose_families(some_faces());
    std::int64_t last = 0;
    const GlyphSetReport report = write_glyph_set(folder.path() / "set", choice, small,
                                                  [&](std::int64_t written, std::int64_t total) {
                                                      EXPECT_LE(written, total);
                                                      last = written;
                                                  });
    EXPECT_EQ(last, report.samples);
    const auto dataset =
        open_dataset("image_csv", folder.path() / "set", {.group_column = "family"});
    const DatasetIndex& index = dataset->index();
    EXPECT_EQ(index.sample_count(), report.samples);
    EXPECT_EQ(index.group_names.size(), report.families);
    EXPECT_EQ(index.class_count(), 36);
    EXPECT_EQ(index.feature_dims, (Dims{1, 24, 24}));
    std::vector<float> features(24 * 24);
    for (std::int64_t i = 0; i < dataset->size(); i += 17)
        dataset->read(i, features);
    const SplitCounts counts =
        count_split(index, split_samples(index, {.val_fraction = 0.3, .by_group = true}));
    EXPECT_EQ(counts.shared_groups, 0);
    for (const std::int64_t count : counts.val_classes)
        EXPECT_EQ(count, counts.val / 36);
}

TEST(GlyphSet, a_clone_under_another_name_is_the_same_family) {
    if (!have_fonts()) GTEST_SKIP() << "needs the fonts of deploy/font-packages.txt";
    std::vector<FontFace> faces = some_faces();
    const std::size_t families = choose_families(faces).families.size();
    for (std::size_t i = 0, count = faces.size(); i < count; ++i) {
        if (faces[i].family != "Liberation Sans") continue;
        faces.push_back({faces[i].path, "Arimo", faces[i].style});
    }
    const FontChoice choice = choose_families(faces);
    EXPECT_EQ(choice.families.size(), families);
}

TEST(GlyphSet, too_few_families_or_a_strange_folder_is_refused) {
    const TempFolder folder;
    EXPECT_EQ(refusal(folder.path() / "a", {}), ErrorCode::not_found);
    EXPECT_FALSE(fs::exists(folder.path() / "a"));
    if (!have_fonts()) GTEST_SKIP() << "needs the fonts of deploy/font-packages.txt";
    folder.write("mine/thesis.tex", "years of work");
    EXPECT_EQ(refusal(folder.path() / "mine", choose_families(some_faces())), ErrorCode::conflict);
    EXPECT_EQ(read_file(folder.path() / "mine/thesis.tex"), "years of work");
}

}    // namespace slipway
