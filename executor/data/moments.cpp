#include "executor/data/moments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/base/check.h"
#include "executor/data/parallel.h"

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
        moments.mean.push_back(float(mean_[channel]));
        moments.deviation.push_back(deviation > 0 && std::isfinite(deviation) ? deviation : 1.0F);
    }
    return moments;
}

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
    return running.result();
}

Moments of_each_channel(Moments moments, const Dims& feature_dims) {
    const std::size_t wanted = feature_dims.empty() ? 1 : std::size_t(feature_dims[0]);
    for (const auto& [name, list] :
         {std::pair("mean", &moments.mean), std::pair("std", &moments.deviation)}) {
        if (list->size() != 1 && list->size() != wanted) {
            throw Error{
                ErrorCode::invalid_argument,
                fmt::format("{} must have one number or one per {} ({}), got {}", name,
                            feature_dims.size() == 3 ? "channel" : "column", wanted, list->size())};
        }
    }
    moments.mean.resize(wanted, moments.mean[0]);
    moments.deviation.resize(wanted, moments.deviation[0]);
    return moments;
}

void normalize(const Moments& moments, std::span<float> features) {
    const std::size_t channels = moments.mean.size();
    const std::size_t area = features.size() / channels;
    for (std::size_t channel = 0; channel < channels; ++channel) {
        const float mean = moments.mean[channel];
        const float scale = 1 / moments.deviation[channel];
        for (float& value : features.subspan(channel * area, area))
            value = (value - mean) * scale;
    }
}

}    // namespace slipway
