#include "executor/data/moments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/base/check.h"
#include "executor/tensor/parallel.h"

namespace slipway {

RunningMoments::Sample RunningMoments::of(std::span<const float> features, std::size_t channels) {
    Sample sample;
    const std::size_t area = features.size() / channels;
    for (std::size_t channel = 0; channel < channels; ++channel) {
        const auto values = features.subspan(channel * area, area);
        double sum = 0;
        for (const float value : values)
            sum += value;
        const double mean = sum / double(area);
        double squares = 0;
        for (const float value : values)
            squares += (value - mean) * (value - mean);
        sample.mean.push_back(mean);
        sample.squares.push_back(squares);
    }
    return sample;
}

// Chan, Golub, LeVeque 1983: no cancellation, however far the mean is from zero.
void RunningMoments::add(const Sample& sample, double count) {
    mean_.resize(sample.mean.size());
    squares_.resize(sample.mean.size());
    const double total = count_ + count;
    for (std::size_t channel = 0; channel < mean_.size(); ++channel) {
        const double shift = sample.mean[channel] - mean_[channel];
        mean_[channel] += shift * count / total;
        squares_[channel] += sample.squares[channel] + shift * shift * count_ * count / total;
    }
    count_ = total;
}

Moments RunningMoments::result() const {
    Moments moments;
    for (std::size_t channel = 0; channel < mean_.size(); ++channel) {
        const auto deviation = float(std::sqrt(squares_[channel] / count_));
        moments.deviation.push_back(deviation > 0 && std::isfinite(deviation) ? deviation : 1.0F);
        const double mean = mean_[channel];
        moments.mean.push_back(is_far(mean, moments.deviation.back()) ? mean : double(float(mean)));
    }
    return moments;
}

bool is_far(double mean, float deviation) {
    return std::abs(mean) > 4096 * double(deviation);
}

std::vector<std::size_t> far_columns(const Moments& moments, const Dims& feature_dims) {
    std::vector<std::size_t> columns;
    if (feature_dims.size() != 1) return columns;
    for (std::size_t i = 0; i < moments.mean.size(); ++i)
        if (is_far(moments.mean[i], moments.deviation[i])) columns.push_back(i);
    return columns;
}

namespace {

/// Again in double, of the columns that need it: the others stay as they are, to the bit.
void measure_far_columns(const Dataset& dataset, std::span<const std::int64_t> samples,
                         Moments& moments) {
    const std::vector<std::size_t> columns = far_columns(moments, dataset.index().feature_dims);
    if (columns.empty()) return;
    RunningMoments running;
    std::vector<double> exact(std::size_t(dataset.index().feature_count()));
    for (const std::int64_t sample : samples) {
        dataset.read_exact(sample, exact);
        RunningMoments::Sample numbers{.mean = {}, .squares = std::vector<double>(columns.size())};
        for (const std::size_t column : columns)
            numbers.mean.push_back(exact[column]);
        running.add(numbers, 1);
    }
    const Moments found = running.result();
    for (std::size_t i = 0; i < columns.size(); ++i) {
        moments.mean[columns[i]] = found.mean[i];
        moments.deviation[columns[i]] = found.deviation[i];
    }
}

}    // namespace

Moments measure(const Dataset& dataset, std::span<const std::int64_t> samples, int threads) {
    check(!samples.empty(), "moments are taken of at least one sample");
    const DatasetIndex& index = dataset.index();
    const auto channels = std::size_t(index.feature_dims[0]);
    const auto features = std::size_t(index.feature_count());
    const std::size_t values_per_channel = features / channels;
    constexpr std::size_t block = 512;    // bounds the memory for per-sample sums
    RunningMoments running;
    for (std::size_t begin = 0; begin < samples.size(); begin += block) {
        const std::size_t count = std::min(block, samples.size() - begin);
        std::vector<RunningMoments::Sample> sums(count);
        parallel_for(std::int64_t(count), threads, [&](std::int64_t i) {
            std::vector<float> values(features);
            dataset.read(samples[begin + std::size_t(i)], values);
            sums[std::size_t(i)] = RunningMoments::of(values, channels);
        });
        for (const auto& sum : sums)
            running.add(sum, double(values_per_channel));
    }
    Moments moments = running.result();
    measure_far_columns(dataset, samples, moments);
    return moments;
}

Moments of_each_channel(Moments moments, const Dims& feature_dims) {
    const std::size_t wanted = feature_dims.empty() ? 1 : std::size_t(feature_dims[0]);
    const auto require = [wanted, &feature_dims](const char* name, std::size_t count) {
        if (count == 1 || count == wanted) return;
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("{} must have one number or one per {} ({}), got {}", name,
                                feature_dims.size() == 3 ? "channel" : "column", wanted, count)};
    };
    require("mean", moments.mean.size());
    require("std", moments.deviation.size());
    moments.mean.resize(wanted, moments.mean[0]);
    moments.deviation.resize(wanted, moments.deviation[0]);
    return moments;
}

void normalize(const Moments& moments, std::span<float> features) {
    const std::size_t channels = moments.mean.size();
    const std::size_t area = features.size() / channels;
    for (std::size_t channel = 0; channel < channels; ++channel) {
        const auto mean = float(moments.mean[channel]);
        const float scale = 1 / moments.deviation[channel];
        for (float& value : features.subspan(channel * area, area))
            value = (value - mean) * scale;
    }
}

}    // namespace slipway
