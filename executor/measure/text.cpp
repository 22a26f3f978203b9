#include "executor/measure/text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace slipway {

namespace {

struct Part {
    const char* suffix;
    double seconds;
    int width;
};

constexpr std::array<Part, 5> whole_parts{
    {{"d", 86400, 2}, {"h", 3600, 2}, {"m", 60, 2}, {"s", 1, 2}, {"ms", 1e-3, 3}}};

std::string repr(double value, Unit unit) {
    return unit == Unit::seconds ? format_parts(value) : fmt::format("{:.2f}", value);
}

std::string metric_text(const MetricRow& row, const MeasurementSummary& summary) {
    std::string text = fmt::format("Metric: {}\n  TotalSamples: {}\n  Accumulator: {}\n", row.name,
                                   summary.count, repr(summary.total, row.unit));
    if (summary.rate > 0) {
        text += fmt::format("  ValueRate: {} / second\n  Rate: {:g} / second\n",
                            repr(summary.value_rate, row.unit), summary.rate);
    }
    text += "  Percentiles: ";
    for (std::size_t i = 0; i < percentiles.size(); ++i)
        text += fmt::format("{}{}%={}", i == 0 ? "" : "; ", percentiles[i],
                            repr(summary.at[i], row.unit));
    return text + "\n";
}

}    // namespace

std::string format_parts(double seconds) {
    // In nanoseconds, so that no part is lost to rounding between the larger ones.
    auto rest = std::int64_t(std::llround(std::max(0.0, seconds) * 1e9));
    std::string text;
    for (const Part& part : whole_parts) {
        const auto size = std::int64_t(std::llround(part.seconds * 1e9));
        if (rest < size && text.empty()) continue;
        text += fmt::format("{:0{}}{}", rest / size, part.width, part.suffix);
        rest %= size;
    }
    return text + fmt::format("{:07.3f}us", double(rest) / 1e3);
}

std::string metrics_text(const Metrics& metrics) {
    std::string text;
    for (const MetricRow& row : metric_rows())
        if (metrics.at(row.metric).count() > 0)
            text += metric_text(row, metrics.at(row.metric).summary());
    for (const CounterRow& row : counter_rows())
        if (metrics.at(row.counter) != 0)
            text += fmt::format("Counter: {}\n  Value: {}\n", row.name, metrics.at(row.counter));
    return text;
}

}    // namespace slipway
