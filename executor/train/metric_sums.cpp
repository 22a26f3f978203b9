#include "executor/train/metric_sums.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway {

double value_of(const MetricValues& values, std::string_view name) {
    const auto found = std::ranges::find(values, name, &MetricValues::value_type::first);
    if (found != values.end()) return found->second;
    throw Error(ErrorCode::internal, fmt::format("there is no metric named {}", name));
}

std::optional<double> value_in(const MetricValues& values, std::string_view name) {
    for (const auto& [known, value] : values)
        if (known == name) return value;
    return std::nullopt;
}

MetricValues with_prefix(std::string_view prefix, const MetricValues& values) {
    MetricValues named;
    for (const auto& [name, value] : values)
        named.emplace_back(fmt::format("{}{}", prefix, name), value);
    return named;
}

void MetricSums::add(std::span<const std::string> names, std::span<const Value> outputs) {
    check(names.size() == outputs.size(), "every sum has a name");
    for (std::size_t i = 0; i < names.size(); ++i) {
        check(outputs[i].arrays.size() == 1, "sums are replicated");
        const std::span<const float> batch = outputs[i].arrays[0].as<float>();
        std::vector<double>& sum = sums_[names[i]];
        if (sum.empty()) sum.resize(batch.size());
        check(sum.size() == batch.size(), "a sum keeps its shape");
        for (std::size_t j = 0; j < batch.size(); ++j)
            sum[j] += double(batch[j]);
    }
}

std::span<const double> MetricSums::of(std::string_view name) const {
    const auto found = sums_.find(name);
    if (found != sums_.end()) return found->second;
    throw Error(ErrorCode::internal, fmt::format("there is no sum named {}", name));
}

void MetricSums::append(std::span<const std::string> names, std::span<const Value> outputs) {
    check(names.size() == outputs.size(), "all rows have a name");
    for (std::size_t i = 0; i < names.size(); ++i) {
        for (const Array& core : outputs[i].arrays) {
            const std::span<const float> batch = core.as<float>();
            std::vector<float>& rows = rows_[names[i]];
            rows.insert(rows.end(), batch.begin(), batch.end());
        }
    }
}

std::span<const float> MetricSums::rows(std::string_view name) const {
    const auto found = rows_.find(name);
    if (found == rows_.end()) return {};
    return found->second;
}

double MetricSums::mean(std::string_view name) const {
    const double labels = scalar("labels");
    return labels > 0 ? scalar(name) / labels : 0;
}

double MetricSums::scalar(std::string_view name) const {
    const std::span<const double> sum = of(name);
    check(sum.size() == 1, "a scalar sum is one number");
    return sum[0];
}

}    // namespace slipway
