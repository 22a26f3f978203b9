#include "executor/data/formats/image.h"

#include <gtest/gtest.h>
#include <turbojpeg.h>

#include <cmath>
#include <numeric>

#include "tests/executor/data/make_files.h"
#include "tests/support/temp_folder.h"

namespace slipway {

namespace {

/// A PNG whose header claims this size; its checksum is right, its pixels are missing.
std::string png_claiming(std::uint32_t width, std::uint32_t height) {
    std::string file = png_file(patterned_image(1, 1, 1));
    for (int i = 0; i < 4; ++i) {
        file[std::size_t(16 + i)] = char(width >> (24 - 8 * i) & 0xFF);
        file[std::size_t(20 + i)] = char(height >> (24 - 8 * i) & 0xFF);
    }
    return file;
}

/// A JPEG whose header claims this size.
std::string jpeg_claiming(std::uint32_t width, std::uint32_t height) {
    std::string file = jpeg_file(patterned_image(1, 8, 8));
    const std::size_t frame = file.find("\xFF\xC0");
    file[frame + 5] = char(height >> 8);
    file[frame + 6] = char(height & 0xFF);
    file[frame + 7] = char(width >> 8);
    file[frame + 8] = char(width & 0xFF);
    return file;
}

std::string cmyk_jpeg(std::vector<std::uint8_t> cmyk, int width, int height) {
    const tjhandle encoder = tjInitCompress();
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    tjCompress2(encoder, cmyk.data(), width, 0, height, TJPF_CMYK, &bytes, &size, TJSAMP_444, 100,
                0);
    std::string file(reinterpret_cast<char*>(bytes), size);
    tjFree(bytes);
    tjDestroy(encoder);
    return file;
}

double mean_of(const Image& image) {
    return std::accumulate(image.pixels.begin(), image.pixels.end(), 0.0) /
           double(image.pixels.size());
}

}    // namespace

TEST(Image, png_gives_back_every_pixel) {
    for (const std::int64_t channels : {1, 3}) {
        const Image image = patterned_image(channels, 13, 7);
        const Result<Image> decoded = decode_image(as_bytes(png_file(image)));
        ASSERT_TRUE(decoded);
        EXPECT_EQ(decoded->channels, channels);
        EXPECT_EQ(decoded->pixels, image.pixels);
    }
}

TEST(Image, jpeg_gives_back_about_every_pixel) {
    Image image{3, 32, 48, {}};
    for (int i = 0; i < 32 * 48; ++i) {
        image.pixels.insert(image.pixels.end(),
                            {std::uint8_t(i % 48 * 5), std::uint8_t(i / 48 * 7), 100});
    }
    const Result<Image> decoded = decode_image(as_bytes(jpeg_file(image, 98)));
    ASSERT_TRUE(decoded);
    ASSERT_EQ(decoded->pixels.size(), image.pixels.size());
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
        EXPECT_NEAR(decoded->pixels[i], image.pixels[i], 6);
    }
}

TEST(Image, channels_are_converted_on_request) {
    const Image gray = patterned_image(1, 4, 4), colour = patterned_image(3, 4, 4);
    EXPECT_EQ(decode_image(as_bytes(png_file(gray)), {.channels = 3})->pixels[3], gray.pixels[1]);
    const Result<Image> dark = decode_image(as_bytes(png_file(colour)), {.channels = 1});
    EXPECT_EQ(dark->channels, 1);
    EXPECT_EQ(dark->pixels[0], std::uint8_t(0.299 * colour.pixels[0] + 0.587 * colour.pixels[1] +
                                            0.114 * colour.pixels[2] + 0.5));
    EXPECT_EQ(decode_image(as_bytes(jpeg_file(gray)), {.channels = 3})->channels, 3);
    EXPECT_EQ(decode_image(as_bytes(jpeg_file(colour)), {.channels = 1})->channels, 1);
}

TEST(Image, printers_colours_become_rgb) {
    // Adobe's inverted CMYK: no cyan, full magenta and yellow, no black is red.
    std::vector<std::uint8_t> pixels;
    for (int i = 0; i < 64; ++i)
        pixels.insert(pixels.end(), {255, 0, 0, 255});
    const Result<Image> image = decode_image(as_bytes(cmyk_jpeg(pixels, 8, 8)));
    ASSERT_TRUE(image);
    EXPECT_EQ(image->channels, 3);
    EXPECT_GT(image->pixels[0], 250);
    EXPECT_LT(image->pixels[1], 5);
    EXPECT_LT(image->pixels[2], 5);
}

TEST(Image, a_jpeg_cut_anywhere_is_an_error) {
    const std::string file = jpeg_file(patterned_image(3, 40, 40), 90);
    for (std::size_t length = 0; length < file.size() - 2; length += 7) {
        const std::string cut = file.substr(0, length);
        const Result<Image> image = decode_image(as_bytes(cut));
        ASSERT_FALSE(image) << length;
        EXPECT_EQ(image.error().code(), ErrorCode::data_loss);
    }
}

// What cameras and editors leave: bytes before a marker, a JFIF version of the future. Pillow and
// torchvision read such files without a message.
TEST(Image, what_libjpeg_merely_warns_of_is_no_damage) {
    const std::string good = jpeg_file(patterned_image(3, 24, 24));
    const Result<Image> expected = decode_image(as_bytes(good));
    ASSERT_TRUE(expected);
    std::string padded = good, future = good;
    padded.insert(good.size() - 2, std::string(7, '\0'));
    future[good.find("JFIF") + 5] = 9;
    for (const std::string& file : {padded, future}) {
        const Result<Image> image = decode_image(as_bytes(file));
        ASSERT_TRUE(image) << image.error().what();
        EXPECT_EQ(image->pixels, expected->pixels);
        const std::string cut = file.substr(0, file.size() / 2);
        EXPECT_FALSE(decode_image(as_bytes(cut))) << "damage behind a harmless warning";
    }
}

// Goal: the decoder that a thread keeps forgets a damaged file.
TEST(Image, a_good_jpeg_is_read_after_a_damaged_one) {
    const std::string good = jpeg_file(patterned_image(3, 16, 16));
    const Result<Image> before = decode_image(as_bytes(good));
    ASSERT_TRUE(before);
    for (std::size_t i = 0; i < good.size(); ++i) {
        const Result<Image> damaged = decode_image(as_bytes(with_flipped_byte(good, i)));
        const Result<Image> after = decode_image(as_bytes(good));
        ASSERT_TRUE(after) << i << (damaged ? "" : damaged.error().what());
        ASSERT_EQ(after->pixels, before->pixels);
    }
}

TEST(Image, a_png_cut_anywhere_is_an_error) {
    const std::string file = png_file(patterned_image(3, 20, 20));
    const std::size_t end_chunk = file.find("IEND") - 4;    // what is after it holds no pixels
    for (std::size_t length = 0; length < end_chunk; ++length) {
        ASSERT_FALSE(decode_image(as_bytes(file.substr(0, length)))) << length;
    }
}

TEST(Image, damaged_bytes_end_in_an_image_or_an_error) {
    for (const std::string& file :
         {jpeg_file(patterned_image(3, 16, 16)), png_file(patterned_image(3, 16, 16))}) {
        for (std::size_t i = 0; i < file.size(); ++i) {
            const Result<Image> image = decode_image(as_bytes(with_flipped_byte(file, i)));
            if (!image) {
                EXPECT_EQ(image.error().code(), ErrorCode::data_loss);
            }
        }
    }
}

TEST(Image, a_small_file_that_claims_a_huge_image_is_refused_from_its_header) {
    for (const std::string& file : {png_claiming(62'994, 65'284), png_claiming(0x7FFFFFFF, 1),
                                    png_claiming(0xFFFFFFFF, 0xFFFFFFFF), png_claiming(0, 5),
                                    jpeg_claiming(62'994, 65'284), jpeg_claiming(65'535, 65'535)}) {
        EXPECT_FALSE(read_image_header(as_bytes(file)));
        EXPECT_FALSE(decode_image(as_bytes(file)));
    }
    EXPECT_TRUE(read_image_header(as_bytes(png_claiming(10'000, 10'000))));
}

TEST(Image, other_kinds_are_named_as_such) {
    for (const std::string file : {"", "GIF89a", "RIFF....WEBP", "\xFF\xD8", "\x89PNG"}) {
        EXPECT_FALSE(decode_image(as_bytes(file)));
    }
}

TEST(Image, resizing_keeps_flat_areas_and_the_mean) {
    Image flat{1, 30, 50, {}};
    flat.pixels.assign(1500, 77);
    for (const auto& [height, width] : {std::pair{7, 9}, {30, 50}, {64, 1}, {100, 100}}) {
        const Image other = resized(flat, height, width);
        EXPECT_EQ(other.pixels, std::vector<std::uint8_t>(std::size_t(height * width), 77));
    }
    const Image pattern = patterned_image(3, 64, 64);
    EXPECT_NEAR(mean_of(resized(pattern, 16, 16)), mean_of(pattern), 1.0);
}

TEST(Image, shrinking_averages_the_area_and_growing_interpolates) {
    Image lines{1, 8, 8, {}};    // one black, one white line: what sampling would turn into moiré
    for (int i = 0; i < 64; ++i)
        lines.pixels.push_back(i / 8 % 2 == 0 ? 0 : 255);
    for (const std::uint8_t pixel : resized(lines, 2, 2).pixels)
        EXPECT_NEAR(pixel, 127, 16);
    const Image ramp = resized({1, 1, 2, {0, 100}}, 1, 4);
    EXPECT_EQ(ramp.pixels, (std::vector<std::uint8_t>{0, 25, 75, 100}));
}

TEST(Image, a_jpeg_for_a_small_side_is_decoded_smaller_and_looks_the_same) {
    Image image{1, 256, 256, {}};
    for (int i = 0; i < 256 * 256; ++i) {
        image.pixels.push_back(std::uint8_t(127 + 100 * std::sin(i % 256 / 20.0)));
    }
    const std::string file = jpeg_file(image);
    const Result<Image> small = decode_image(as_bytes(file), {.side_hint = 32});
    ASSERT_TRUE(small) << small.error().what();
    EXPECT_EQ(small->width, 64);
    EXPECT_EQ(decode_image(as_bytes(file), {.side_hint = 129})->width, 256);
    const Image from_small = resized(*small, 32, 32);
    const Image from_full = resized(*decode_image(as_bytes(file)), 32, 32);
    for (std::size_t i = 0; i < from_full.pixels.size(); ++i) {
        EXPECT_NEAR(from_small.pixels[i], from_full.pixels[i], 8);
    }
}

}    // namespace slipway
