#include "executor/main/sinks.h"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "api/base/check.h"
#include "executor/main/event_files.h"
#include "executor/main/metrics_csv.h"
#include "executor/main/progress_bar.h"

namespace slipway {

namespace {

// Shared: a std::function must be copyable.

Sink open_csv(const SinkPlace& place) {
    const auto csv = std::make_shared<MetricsCsv>(place.folder / "metrics.csv");
    csv->forget_after(place.done);
    return {.name = "csv", .metric = [csv](const MetricPoint& point) { csv->add(point); }};
}

Sink open_tensorboard(const SinkPlace& place) {
    const std::filesystem::path folder = place.folder / "tensorboard";
    cut_event_files(folder, place.done);
    const auto events = std::make_shared<EventFile>(folder, place.done, place.clock);
    return {.name = "tensorboard",
            .metric = [events](const MetricPoint& point) { events->add(point); }};
}

struct SinkRow {
    SinkName name;
    Sink (*open)(const SinkPlace&);
};

constexpr auto sink_rows = std::to_array<SinkRow>({
    {SinkName::csv, open_csv},
    {SinkName::tensorboard, open_tensorboard},
});

}    // namespace

Sink open_sink(SinkName name, const SinkPlace& place) {
    for (const SinkRow& row : sink_rows)
        if (row.name == name) return row.open(place);
    check(false, "every sink has a row");
    return {};
}

Sink console_sink(std::FILE* output) {
    const auto bar = std::make_shared<ProgressBar>(output);
    return {.name = "console",
            .metric = [bar](const MetricPoint& point) { bar->show(point); },
            .progress = [bar](const Progress& progress) { bar->show(progress); },
            .epoch = [bar](const EpochSummary& summary) { bar->show(summary); },
            .say = [bar](const std::string& line) { bar->say(line); }};
}

SinkReporter::SinkReporter(Reporter& inner, std::vector<SinkName> names,
                           std::filesystem::path folder, const Clock& clock, std::vector<Sink> open)
    : inner_(inner),
      names_(std::move(names)),
      folder_(std::move(folder)),
      clock_(clock),
      sinks_(std::move(open)) {}

void SinkReporter::begin(std::int64_t step) {
    inner_.begin(step);
    if (folder_.empty()) return;
    std::error_code shown_by_the_sink;
    std::filesystem::create_directories(folder_, shown_by_the_sink);
    for (const SinkName name : names_) {
        try {
            sinks_.push_back(open_sink(name, {.folder = folder_, .done = step, .clock = clock_}));
        } catch (const Error& error) {
            complain(std::string(to_string(name)), error);
        }
    }
}

void SinkReporter::progress(const Progress& progress) {
    inner_.progress(progress);
    give(&Sink::progress, progress);
}

void SinkReporter::metric(const MetricPoint& point) {
    inner_.metric(point);
    give(&Sink::metric, point);
}

void SinkReporter::epoch(const EpochSummary& summary) {
    inner_.epoch(summary);
    give(&Sink::epoch, summary);
}

void SinkReporter::log(const std::string& level, const std::string& message) {
    inner_.log(level, message);
    give(&Sink::say, message);
}

void SinkReporter::warning(const std::string& code, const std::string& message) {
    inner_.warning(code, message);
    give(&Sink::say, "warning: " + message);
}

template <class Value>
void SinkReporter::give(std::function<void(const Value&)> Sink::*part, const Value& value) {
    for (std::size_t i = 0; i < sinks_.size();) {
        try {
            if (sinks_[i].*part) (sinks_[i].*part)(value);
            ++i;
        } catch (const Error& error) {
            const std::string name = sinks_[i].name;
            sinks_.erase(sinks_.begin() + std::ptrdiff_t(i));
            complain(name, error);
        }
    }
}

void SinkReporter::complain(const std::string& name, const Error& error) {
    warning("sink_failed", fmt::format("the sink {} is off from now on: {}", name, error.what()));
}

}    // namespace slipway
