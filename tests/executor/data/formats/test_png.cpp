// Goal: a PNG gives the samples that Pillow's convert("RGB") gives, whatever its chunks say of
// gamma and transparency; hostile chunks cost nothing.
// Method: small files with what Pillow 9.4 read from them, one channel where the file is gray.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <atomic>
#include <utility>

#include "executor/data/formats/image.h"
#include "tests/executor/data/make_files.h"

namespace {

std::atomic<std::size_t> inflated_bytes{0};

}    // namespace

/// Stands before zlib's own for the whole program, libpng among it, and counts what comes out.
extern "C" __attribute__((visibility("default"))) int inflate(z_streamp stream, int flush) {
    using Inflate = int (*)(z_streamp, int);
    static const auto real = reinterpret_cast<Inflate>(dlsym(RTLD_NEXT, "inflate"));
    const auto before = stream->total_out;
    const int result = real(stream, flush);
    inflated_bytes += stream->total_out - before;
    return result;
}

namespace slipway {

namespace {

struct PngCase {
    const char* name;
    const char* chunks;    ///< the file behind its signature, in hexadecimal digits
    std::int64_t channels;
    std::vector<std::uint8_t> pixels;
};

void PrintTo(const PngCase& one, std::ostream* out) {
    *out << one.name;
}

std::string from_digits(const std::string& digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes.push_back(char(std::stoi(digits.substr(i, 2), nullptr, 16)));
    return bytes;
}

const std::string png_signature = "\x89PNG\r\n\x1A\n";

const PngCase png_cases[] = {
    {"gamma_of_a_gray_one",
     "0000000d49484452000000030000000108000000003e8b4b680000000467414d41000186a031e8965f0000"
     "000c4944415478da63e04a39010001b2013714d6abf60000000049454e44ae426082",
     1,
     {10, 100, 200}},
    {"gamma_of_colours",
     "0000000d494844520000000100000002080200000016e321700000000467414d41000186a031e8965f0000"
     "00104944415478da63e04a39c1c0d0f01f00088d02b655375e430000000049454e44ae426082",
     3,
     {10, 100, 200, 0, 128, 255}},
    {"half_transparent_colours",
     "0000000d4948445200000002000000010806000000f4227f8a000000114944415478da63e04a39c1f0ab81"
     "c517000d8203021dbd35440000000049454e44ae426082",
     3,
     {10, 100, 200, 250, 128, 4}},
    {"half_transparent_gray",
     "0000000d49484452000000020000000108040000005e2bb7010000000d4944415478da63e06238d1000002"
     "3d0153ae95a78a0000000049454e44ae426082",
     1,
     {10, 200}},
    {"transparent_places_of_a_palette",
     "0000000d4948445200000003000000010203000000668efc2700000009504c544501020328323cfbfcfdaf"
     "a277e60000000274524e5300809b2b4e180000000a4944415478da63900000001a001980008ebb00000000"
     "49454e44ae426082",
     3,
     {1, 2, 3, 40, 50, 60, 251, 252, 253}},
    {"a_transparent_colour",
     "0000000d49484452000000020000000108020000007b40e8dd0000000674524e53000100020003c94babf5"
     "0000000f4944415478da63606462e6e46007000055001f107a78010000000049454e44ae426082",
     3,
     {1, 2, 3, 9, 8, 7}},
    {"a_transparent_gray",
     "0000000d4948445200000002000000010800000000d14920560000000274524e5300090f4f759c0000000b"
     "4944415478da6360e40400000e000b24ccbb3e0000000049454e44ae426082",
     1,
     {1, 9}},
    {"colours_of_16_bits",
     "0000000d49484452000000020000000110020000002bd0349e000000154944415478da6360f8cfd850ffbf"
     "81e13fc3ff7f002475067bc6ef73820000000049454e44ae426082",
     3,
     {0, 1, 127, 128, 255, 255}},
    {"transparent_colours_of_16_bits",
     "0000000d49484452000000010000000110060000004f8518ca000000114944415478da6310fa6fd210f69f"
     "9101000fa1031c823655c70000000049454e44ae426082",
     3,
     {18, 52, 86}},
    {"transparent_gray_of_16_bits",
     "0000000d49484452000000020000000110040000000ebb6b42000000114944415478da6310fa6fd210f69f"
     "9101000fa1031c823655c70000000049454e44ae426082",
     1,
     {18, 86}},
    {"gray_of_1_bit",
     "0000000d4948445200000004000000010100000000d14732600000000a4944415478da6308000000520051"
     "5aa9a33a0000000049454e44ae426082",
     1,
     {0, 255, 0, 255}},
    {"gray_of_2_bits",
     "0000000d494844520000000400000001020000000096e748b00000000a4944415478da63900600001d001c"
     "237c8fac0000000049454e44ae426082",
     1,
     {0, 85, 170, 255}},
    {"gray_of_4_bits_interlaced",
     "0000000d49484452000000030000000204000000010ae8e451000000114944415478da631060286058c010"
     "6d0000068f01ac6b4b360d0000000049454e44ae426082",
     1,
     {17, 170, 119, 85, 187, 51}},
    {"an_own_number_of_bits",
     "0000000d4948445200000002000000010800000000d149205600000001734249540598bb27240000000b49"
     "44415478da63e010000000230019bf7bc6c30000000049454e44ae426082",
     1,
     {8, 16}},
};

class PngOfPillow : public testing::TestWithParam<PngCase> {};

}    // namespace

TEST_P(PngOfPillow, is_read_as_pillow_reads_it) {
    const std::string file = png_signature + from_digits(GetParam().chunks);
    const Result<Image> image = decode_image(as_bytes(file));
    ASSERT_TRUE(image) << image.error().what();
    EXPECT_EQ(image->channels, GetParam().channels);
    EXPECT_EQ(image->pixels, GetParam().pixels);
}

INSTANTIATE_TEST_SUITE_P(Of, PngOfPillow, testing::ValuesIn(png_cases),
                         [](const auto& one) { return std::string(one.param.name); });

// Pillow cuts 16-bit gray off at 255, which makes nearly all of it white.
TEST(Png, gray_of_16_bits_is_its_upper_byte) {
    const std::string file =
        png_signature +
        from_digits(
            "0000000d494844520000000200000001100000000081d9fc150000000d4944415478da6310faff8f"
            "01000546021006ca38b50000000049454e44ae426082");
    const Result<Image> image = decode_image(as_bytes(file));
    ASSERT_TRUE(image) << image.error().what();
    EXPECT_EQ(image->channels, 1);
    EXPECT_EQ(image->pixels, (std::vector<std::uint8_t>{0x12, 0xFE}));
}

std::string four_bytes(std::size_t number) {
    std::string bytes;
    for (const int shift : {24, 16, 8, 0})
        bytes += char(number >> shift & 0xFF);
    return bytes;
}

std::string chunk(const std::string& type, const std::string& content) {
    const std::string covered = type + content;
    const auto* bytes = reinterpret_cast<const Bytef*>(covered.data());
    return four_bytes(content.size()) + covered + four_bytes(crc32(0, bytes, uInt(covered.size())));
}

std::string deflated_zeros(std::size_t count) {
    const std::string zeros(count, '\0');
    uLongf size = compressBound(zeros.size());
    std::string bytes(size, '\0');
    compress(reinterpret_cast<Bytef*>(bytes.data()), &size,
             reinterpret_cast<const Bytef*>(zeros.data()), zeros.size());
    bytes.resize(size);
    return bytes;
}

// Once 2.9 kB of them cost 25 s.
TEST(Png, compressed_chunks_beside_the_samples_are_not_inflated) {
    using namespace std::string_literals;
    const std::string good = png_file(patterned_image(3, 4, 4));
    constexpr std::size_t header_end = 33,
                          samples = 4 * (1 + 4 * 3);    // a filter byte for each row
    const std::string zeros = deflated_zeros(50'000'000);
    for (const auto& [type, before] :
         {std::pair("zTXt"s, "Comment\0\0"s), std::pair("iTXt"s, "Comment\0\1\0\0\0"s),
          std::pair("iCCP"s, "profile\0\0"s)}) {
        const std::string file =
            good.substr(0, header_end) + chunk(type, before + zeros) + good.substr(header_end);
        inflated_bytes = 0;
        const Result<Image> image = decode_image(as_bytes(file));
        ASSERT_TRUE(image) << type << ": " << image.error().what();
        EXPECT_EQ(image->pixels, patterned_image(3, 4, 4).pixels) << type;
        EXPECT_EQ(inflated_bytes, samples) << type;
    }
}

// An unknown chunk before the header once let libpng's size and the one that was judged differ:
// 680 bytes in a zip took 2.6 GiB.
TEST(Png, a_header_that_is_not_the_first_chunk_is_refused) {
    const std::string good = png_file(patterned_image(1, 4, 4));
    // An empty private chunk with its checksum, and the header after it.
    const std::string file =
        good.substr(0, 8) + from_digits("00000000616243647806e9b3") + good.substr(8);
    EXPECT_FALSE(read_image_header(as_bytes(file)));
    const Result<Image> image = decode_image(as_bytes(file));
    ASSERT_FALSE(image);
    EXPECT_NE(std::string(image.error().what()).find("first chunk"), std::string::npos);
}

}    // namespace slipway
