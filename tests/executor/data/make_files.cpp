#include "tests/executor/data/make_files.h"

#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>

#include "executor/data/formats/jpeg_writer.h"

namespace slipway {

Image patterned_image(std::int64_t channels, std::int64_t height, std::int64_t width, int seed) {
    Image image{channels, height, width, {}};
    for (std::int64_t i = 0; i < channels * height * width; ++i) {
        image.pixels.push_back(std::uint8_t((i * 7 + seed * 31) % 251));
    }
    return image;
}

std::string jpeg_file(const Image& image, int quality) {
    const std::vector<std::byte> bytes = encode_jpeg(image, quality);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string png_file(const Image& image) {
    png_image png{};
    png.version = PNG_IMAGE_VERSION;
    png.width = png_uint_32(image.width);
    png.height = png_uint_32(image.height);
    png.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
    png_alloc_size_t size = 0;
    png_image_write_to_memory(&png, nullptr, &size, 0, image.pixels.data(), 0, nullptr);
    std::string file(size, '\0');
    png_image_write_to_memory(&png, file.data(), &size, 0, image.pixels.data(), 0, nullptr);
    file.resize(size);
    return file;
}

std::span<const std::byte> as_bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
}

std::string idx_file(const std::vector<std::uint32_t>& dims, const std::string& bytes) {
    std::string file = {0, 0, 8, char(dims.size())};
    for (const std::uint32_t dim : dims) {
        for (int shift = 24; shift >= 0; shift -= 8)
            file += char(dim >> shift & 0xFF);
    }
    return file + bytes;
}

std::string gzipped(const std::string& text) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, uLong(text.size())) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = uInt(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = uInt(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string with_flipped_byte(std::string text, std::size_t position) {
    text[position] = char(text[position] ^ 0x55);
    return text;
}

DataProblem data_problem_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const DataError& error) {    // the test looks at what was thrown
        return error.problem();
    }
    ADD_FAILURE() << "no DataError was thrown";
    return {};
}

ErrorCode error_code_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {    // the test looks at what was thrown
        return error.code();
    }
    ADD_FAILURE() << "no Error was thrown";
    return ErrorCode::internal;
}

CountingDataset::CountingDataset(std::int64_t samples, std::int64_t features,
                                 std::int64_t broken_sample)
    : broken_sample_(broken_sample) {
    index_.feature_dims = {features};
    index_.class_names = {"even", "odd"};
    for (std::int64_t i = 0; i < samples; ++i)
        index_.labels.push_back(std::int32_t(i % 2));
}

bool says(const DataProblem& problem, const std::string& words) {
    return problem.message.find(words) != std::string::npos;
}

std::vector<AugmentSpec> resize_to(std::int64_t side) {
    AugmentSpec step;
    step.name = AugmentName::resize;
    step.size = {side};
    return {step};
}

std::vector<float> features_of(const Dataset& dataset, std::int64_t sample) {
    std::vector<float> features(std::size_t(dataset.index().feature_count()));
    dataset.read(sample, features);
    return features;
}

void CountingDataset::read(std::int64_t sample, std::span<float> features) const {
    if (sample == broken_sample_) throw DataError(place(sample));
    for (std::size_t i = 0; i < features.size(); ++i)
        features[i] = float(sample) + float(i);
}

DataProblem CountingDataset::place(std::int64_t sample) const {
    return {.file = "memory", .row = sample + 1, .message = "cannot be read"};
}

}    // namespace slipway
