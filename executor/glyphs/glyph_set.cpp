#include "executor/glyphs/glyph_set.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>

#include "api/base/posix.h"
#include "executor/data/formats/jpeg_writer.h"
#include "executor/tensor/parallel.h"
#include "executor/tensor/random.h"

// Each sample has a random stream of its own, named by the seed and its number, so the same set
// comes out of any number of threads. The set is written beside its place and renamed, so it is
// there as a whole or not at all.
namespace slipway {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail_writing(const fs::path& path) {
    const bool full = errno == ENOSPC || errno == EDQUOT;
    throw Error{full ? ErrorCode::exhausted : ErrorCode::unavailable,
                fmt::format("{} cannot be written: {}", path.string(),
                            full ? "the disk is full" : strerror(errno))};
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
    const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!file) fail_writing(path);
    while (!bytes.empty()) {
        const ssize_t count = write(file.get(), bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_writing(path);
        bytes = bytes.subspan(std::size_t(count));
    }
}

void make_folders(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (!error) return;
    errno = error.value();
    fail_writing(path);
}

/// A family's name as a folder's: letters and digits.
std::string folder_name(const std::string& family) {
    std::string name;
    for (const char c : family) {
        const bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        name += plain ? c : '_';
    }
    return name;
}

std::string quoted(const std::string& text) {
    std::string field = "\"";
    for (const char c : text)
        field += c == '"' ? std::string("\"\"") : std::string(1, c);
    return field + "\"";
}

/// Pose, ink and noise of one sample, drawn from its own stream: no sample depends on another.
Image draw_sample(Glyphs& glyphs, char character, int size, RandomStream random) {
    const double unit = size / 32.0;
    const auto between = [&](double low, double high) {
        return low + (high - low) * double(random.next_uniform());
    };
    const GlyphPose pose{.side = size,
                         .capital_height = between(0.56, 0.70),
                         .shift_x = between(-2, 2) * unit,
                         .shift_y = between(-2, 2) * unit};
    Image image = glyphs.draw(character, pose);
    const double ink = between(190, 255), ground = between(0, 30), noise = between(0, 12);
    for (std::uint8_t& pixel : image.pixels) {
        const double value =
            ground + (ink - ground) * pixel / 255.0 + noise * double(random.next_normal());
        pixel = std::uint8_t(std::clamp(std::lround(value), 0L, 255L));
    }
    return image;
}

class Writer {
public:
    Writer(const fs::path& folder, const FontChoice& fonts, const GlyphSetOptions& options,
           const GlyphProgress& progress)
        : folder_(folder), fonts_(fonts), options_(options), progress_(progress) {
        const auto cells = double(fonts.families.size() * glyph_characters.size());
        repeats_ = std::max<std::int64_t>(1, std::llround(double(options.samples) / cells));
        total_ = repeats_ * std::int64_t(fonts.families.size() * glyph_characters.size());
    }

    std::int64_t write() {
        rows_.resize(fonts_.families.size());
        parallel_for(std::int64_t(fonts_.families.size()), options_.threads,
                     [&](std::int64_t family) { write_family(std::size_t(family)); });
        std::string table = "file,label,family\n";
        for (const std::string& rows : rows_)
            table += rows;
        write_file(folder_ / "labels.csv", std::as_bytes(std::span(table)));
        write_fonts();
        return total_;
    }

private:
    void write_family(std::size_t number) {
        const FontFamily& family = fonts_.families[number];
        // Numbered, because two names may differ only in what a folder's name leaves out.
        const std::string name = fmt::format("images/{:03}_{}", number, folder_name(family.name));
        make_folders(folder_ / name);
        std::vector<Glyphs> faces(family.faces.begin(), family.faces.end());
        for (std::size_t c = 0; c < glyph_characters.size(); ++c) {
            for (std::int64_t repeat = 0; repeat < repeats_; ++repeat) {
                const std::uint64_t sample =
                    (number * glyph_characters.size() + c) * std::uint64_t(repeats_) +
                    std::uint64_t(repeat);
                // Steps through the faces, so that all weights and slants are seen.
                const std::size_t face =
                    (c * std::size_t(repeats_) + std::size_t(repeat)) % faces.size();
                const Image image = draw_sample(faces[face], glyph_characters[c], options_.size,
                                                RandomStream(options_.seed, site_glyphs, sample));
                const std::string file =
                    fmt::format("{}/{}_{:03}.jpg", name, glyph_characters[c], repeat);
                write_file(folder_ / file, encode_jpeg(image, 90));
                rows_[number] +=
                    fmt::format("{},{},{}\n", file, glyph_characters[c], quoted(family.name));
            }
        }
        report(repeats_ * std::int64_t(glyph_characters.size()));
    }

    void report(std::int64_t written) {
        const std::lock_guard lock(mutex_);
        written_ += written;
        if (progress_) progress_(written_, total_);
    }

    void write_fonts() const {
        std::string table = "family,face,file,skipped\n";
        for (const FontFamily& family : fonts_.families) {
            for (const FontFace& face : family.faces) {
                table +=
                    fmt::format("{},{},{},\n", quoted(family.name),
                                quoted(face.family + " " + face.style), quoted(face.path.string()));
            }
        }
        for (const SkippedFace& face : fonts_.skipped) {
            table += fmt::format(",{},,{}\n", quoted(face.name), quoted(face.reason));
        }
        write_file(folder_ / "fonts.csv", std::as_bytes(std::span(table)));
    }

    const fs::path& folder_;
    const FontChoice& fonts_;
    const GlyphSetOptions& options_;
    const GlyphProgress& progress_;
    std::int64_t repeats_ = 0;
    std::int64_t total_ = 0;
    std::vector<std::string> rows_;    // per family: each written by one thread
    std::mutex mutex_;
    std::int64_t written_ = 0;    // guarded by mutex_
};

/// Removes what is half done, whatever happened.
struct Aside {
    fs::path path;
    ~Aside() {
        std::error_code ignored;    // a leftover is named .tmp and replaced by the next run
        fs::remove_all(path, ignored);
    }
};

void check_request(const fs::path& folder, const FontChoice& fonts,
                   const GlyphSetOptions& options) {
    if (fonts.families.size() < std::size_t(std::max(1, options.families_min))) {
        throw Error{ErrorCode::not_found,
                    fmt::format("{} font families can be used and {} are needed; install the "
                                "packages of deploy/font-packages.txt",
                                fonts.families.size(), options.families_min)};
    }
    const bool replaceable = !fs::exists(folder) || fs::exists(folder / "fonts.csv") ||
                             (fs::is_directory(folder) && fs::is_empty(folder));
    if (!replaceable) {
        throw Error{ErrorCode::conflict,
                    fmt::format("{} exists and is not a glyph dataset; choose another folder",
                                folder.string())};
    }
}

}    // namespace

GlyphSetReport write_glyph_set(const fs::path& folder, const FontChoice& fonts,
                               const GlyphSetOptions& options, const GlyphProgress& progress) {
    check_request(folder, fonts, options);
    const Aside aside{folder.string() + ".tmp"};
    std::error_code error;
    fs::remove_all(aside.path, error);
    make_folders(aside.path);
    GlyphSetReport report{.samples = Writer(aside.path, fonts, options, progress).write(),
                          .families = fonts.families.size(),
                          .faces = 0,
                          .skipped = fonts.skipped.size()};
    for (const FontFamily& family : fonts.families)
        report.faces += family.faces.size();

    if (options.durable) {
        const UniqueFd opened(open(aside.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (!opened || syncfs(opened.get()) != 0) fail_writing(folder);
    }
    fs::remove_all(folder, error);
    fs::rename(aside.path, folder, error);
    if (!error) return report;
    errno = error.value();
    fail_writing(folder);
}

}    // namespace slipway
