#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "executor/glyphs/glyph_set.h"

namespace {

using namespace slipway;

/// One line that grows in place on a terminal; nothing in a file.
void show_progress(std::int64_t written, std::int64_t total) {
    if (isatty(STDERR_FILENO) == 0) return;
    fmt::print(stderr, "\rglyphs: {} of {} images", written, total);
    if (written == total) fmt::print(stderr, "\n");
}

int make(const std::string& folder, const std::vector<std::string>& font_folders,
         const GlyphSetOptions& options) {
    const FontChoice fonts =
        choose_families(find_faces({font_folders.begin(), font_folders.end()}));
    const GlyphSetReport report = write_glyph_set(folder, fonts, options, show_progress);
    fmt::print("{} images of {} families ({} faces, {} left out: see fonts.csv) in {}\n",
               report.samples, report.families, report.faces, report.skipped, folder);
    return 0;
}

}    // namespace

int main(int argc, char** argv) {
    CLI::App app{"Makes the glyph dataset: digits and capitals of this machine's fonts."};
    std::string folder;
    std::vector<std::string> font_folders = {"/usr/share/fonts", "/usr/local/share/fonts"};
    GlyphSetOptions options;
    app.add_option("--out", folder, "folder to write; an older glyph dataset there is replaced")
        ->required();
    app.add_option("--seed", options.seed, "of shift, size and noise")->capture_default_str();
    app.add_option("--size", options.size, "side of an image in pixels")
        ->check(CLI::Range(16, 256))
        ->capture_default_str();
    app.add_option("--samples", options.samples, "about how many images")
        ->check(CLI::Range(1, 10'000'000))
        ->capture_default_str();
    app.add_option("--families-min", options.families_min, "fewer font families are an error")
        ->check(CLI::Range(1, 100'000))
        ->capture_default_str();
    app.add_option("--fonts", font_folders, "folders to look for fonts in")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    try {
        return make(folder, font_folders, options);
    } catch (const std::exception& error) {
        fmt::print(stderr, "slipway-glyphs: {}\n", error.what());
        return 1;
    }
}
