#include "executor/data/dataset.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "api/base/check.h"
#include "api/spec/dataset_format.h"
#include "executor/data/formats/format.h"
#include "executor/data/moments.h"

namespace slipway {

namespace {

using OpenDataset = std::unique_ptr<Dataset> (*)(const std::filesystem::path&,
                                                 const DatasetOptions&, ProblemLog&);

/// In the order of DatasetFormat.
constexpr auto openers = std::to_array<OpenDataset>({
#define DATASET_FORMAT(name, ...) open_##name,
#include "api/spec/dataset_formats.def"
#undef DATASET_FORMAT
});

class NormalizedDataset final : public Dataset {
public:
    NormalizedDataset(const Dataset& source, Moments moments) : source_(source) {
        index_ = source.index();
        moments_ = of_each_channel(std::move(moments), index_.feature_dims);
        far_ = far_columns(moments_, index_.feature_dims);
    }
    NormalizedDataset(std::unique_ptr<Dataset> source, Moments moments)
        : NormalizedDataset(*source, std::move(moments)) {
        owned_ = std::move(source);
    }

    void read(std::int64_t sample, std::span<float> features) const override {
        source_.read(sample, features);
        normalize(moments_, features);
        if (far_.empty()) return;
        std::vector<double> exact(features.size());
        source_.read_exact(sample, exact);
        for (const std::size_t column : far_) {
            features[column] =
                float((exact[column] - moments_.mean[column]) / double(moments_.deviation[column]));
        }
    }
    Image image(std::int64_t sample, std::int64_t side_hint) const override {
        return source_.image(sample, side_hint);
    }
    std::vector<std::byte> content(std::int64_t sample) const override {
        return source_.content(sample);
    }
    bool decodes_images() const override { return source_.decodes_images(); }
    std::int64_t decoded_count() const override { return source_.decoded_count(); }
    std::optional<DataProblem> damage(std::int64_t sample) const override {
        return source_.damage(sample);
    }
    std::vector<DataProblem> take_accepted() const override { return source_.take_accepted(); }
    DataProblem place(std::int64_t sample) const override { return source_.place(sample); }
    std::vector<std::string> files() const override { return source_.files(); }

private:
    std::unique_ptr<Dataset> owned_;    // null when the caller keeps the source
    const Dataset& source_;
    Moments moments_;
    std::vector<std::size_t> far_;
};

}    // namespace

void Dataset::read_exact(std::int64_t sample, std::span<double> features) const {
    std::vector<float> rounded(features.size());
    read(sample, rounded);
    std::ranges::copy(rounded, features.begin());
}

Image Dataset::image(std::int64_t sample, std::int64_t) const {
    const Dims& dims = index_.feature_dims;
    check(dims.size() == 3, "pixels are asked of sets of images");
    std::vector<float> features(std::size_t(index_.feature_count()));
    read(sample, features);
    Image image{dims[0], dims[1], dims[2], std::vector<std::uint8_t>(features.size())};
    const auto channels = std::size_t(dims[0]);
    const std::size_t area = features.size() / channels;
    for (std::size_t i = 0; i < features.size(); ++i) {
        const float level = std::nearbyint(features[i % channels * area + i / channels] * 255);
        image.pixels[i] = std::uint8_t(std::clamp(level, 0.0F, 255.0F));
    }
    return image;
}

std::vector<std::byte> Dataset::content(std::int64_t sample) const {
    std::vector<float> features(std::size_t(index_.feature_count()));
    read(sample, features);
    const auto bytes = std::as_bytes(std::span(features));
    return {bytes.begin(), bytes.end()};
}

std::int64_t DatasetIndex::feature_count() const {
    std::int64_t count = feature_dims.empty() ? 0 : 1;
    for (const std::int64_t dim : feature_dims)
        count *= dim;
    return count;
}

std::span<const std::string_view> dataset_formats() {
    return all_words<DatasetFormat>();
}

std::unique_ptr<Dataset> open_dataset(std::string_view format, const std::filesystem::path& path,
                                      const DatasetOptions& options, ProblemLog& problems) {
    const auto known = parse_word<DatasetFormat>(format);
    if (!known) {
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("format {} is unknown; known are {}", format,
                                fmt::join(dataset_formats(), ", "))};
    }
    std::unique_ptr<Dataset> dataset = openers[std::size_t(*known)](path, options, problems);
    if (options.mean.empty() && options.deviation.empty()) return dataset;
    return normalized(std::move(dataset), {options.mean, options.deviation});
}

std::unique_ptr<Dataset> open_dataset(std::string_view format, const std::filesystem::path& path,
                                      const DatasetOptions& options) {
    ProblemLog problems(ProblemLog::Mode::throw_first);
    return open_dataset(format, path, options, problems);
}

std::unique_ptr<Dataset> normalized(const Dataset& dataset, Moments moments) {
    return std::make_unique<NormalizedDataset>(dataset, std::move(moments));
}

std::unique_ptr<Dataset> normalized(std::unique_ptr<Dataset> dataset, Moments moments) {
    if (moments.mean.empty()) moments.mean = {0};
    if (moments.deviation.empty()) moments.deviation = {1};
    return std::make_unique<NormalizedDataset>(std::move(dataset), std::move(moments));
}

}    // namespace slipway
