#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/spec/augment_spec.h"
#include "executor/data/dataset.h"
#include "executor/data/formats/image.h"

namespace slipway {

/// An image with a different number in every pixel, as far as bytes go.
Image patterned_image(std::int64_t channels, std::int64_t height, std::int64_t width, int seed = 0);
std::string jpeg_file(const Image& image, int quality = 95);
std::string png_file(const Image& image);
std::span<const std::byte> as_bytes(const std::string& text);

/// An idx file of unsigned bytes.
std::string idx_file(const std::vector<std::uint32_t>& dims, const std::string& bytes);
std::string gzipped(const std::string& text);

/// `text` with the byte at `position` changed.
std::string with_flipped_byte(std::string text, std::size_t position);

/// The problem of the DataError that `action` throws; fails the test when it throws none.
DataProblem data_problem_of(const std::function<void()>& action);
/// The code of the Error that `action` throws; fails the test when it throws none.
ErrorCode error_code_of(const std::function<void()>& action);

/// Whether the problem's message has these words.
bool says(const DataProblem& problem, const std::string& words);

/// data.augment with one step, which makes images this large.
std::vector<AugmentSpec> resize_to(std::int64_t side);

std::vector<float> features_of(const Dataset& dataset, std::int64_t sample);

/// A dataset in memory: sample i's features are i, i + 1, …; a chosen sample cannot be read.
class CountingDataset final : public Dataset {
public:
    CountingDataset(std::int64_t samples, std::int64_t features, std::int64_t broken_sample = -1);
    void read(std::int64_t sample, std::span<float> features) const override;
    DataProblem place(std::int64_t sample) const override;
    std::vector<std::string> files() const override { return {}; }

private:
    std::int64_t broken_sample_;
};

}    // namespace slipway
