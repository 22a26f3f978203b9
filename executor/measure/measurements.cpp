#include "executor/measure/measurements.h"

#include <algorithm>

namespace slipway {

namespace {

constexpr std::size_t kept_max = 1024;

}    // namespace

void Measurements::add(double value, Tick when) {
    const auto place = std::size_t(count_) % kept_max;
    if (kept_.size() < kept_max)
        kept_.push_back({value, when});
    else
        kept_[place] = {value, when};
    ++count_;
    total_ += value;
}

MeasurementSummary Measurements::summary() const {
    MeasurementSummary summary{.count = count_, .total = total_};
    if (kept_.empty()) return summary;
    std::vector<double> values;
    double sum = 0;
    Tick first = kept_.front().when, last = first;
    for (const Sample& sample : kept_) {
        values.push_back(sample.value);
        sum += sample.value;
        first = std::min(first, sample.when);
        last = std::max(last, sample.when);
    }
    const double span_s = std::chrono::duration<double>(last - first).count();
    if (span_s > 0) {
        summary.value_rate = sum / span_s;
        summary.rate = double(values.size()) / span_s;
    }
    std::ranges::sort(values);
    for (std::size_t i = 0; i < percentiles.size(); ++i)
        summary.at[i] = values[std::size_t(percentiles[i]) * values.size() / 100];
    return summary;
}

}    // namespace slipway
