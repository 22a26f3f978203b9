#include "executor/main/progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "api/base/printable.h"

namespace slipway {

namespace {

constexpr int bar_width_max = 30;
constexpr int bar_width_min = 8;
constexpr double eta_known_max_s = 100.0 * 86400;

std::string draw_bar(const Progress& progress, int width) {
    const double part =
        progress.steps_total > 0 ? double(progress.step) / double(progress.steps_total) : 0.0;
    const auto filled = std::size_t(std::clamp(part, 0.0, 1.0) * width);
    std::string bar(std::size_t(width), ' ');
    std::fill_n(bar.begin(), filled, '=');
    if (filled < bar.size()) bar[filled] = '>';
    return "[" + bar + "]";
}

template <class Values>
std::string format_metrics(const Values& metrics) {
    std::string text;
    for (const auto& [name, value] : metrics)
        text += fmt::format("  {} {:.4g}", name, value);
    return text;
}

int width_of(std::FILE* output) {
    winsize size{};
    if (ioctl(fileno(output), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

}    // namespace

std::string format_duration(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0 || seconds > eta_known_max_s) return "-";
    const auto whole = std::int64_t(std::ceil(seconds));
    const std::int64_t hours = whole / 3600;
    if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, whole / 60 % 60, whole % 60);
    return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string format_bar(const ProgressView& view, int width) {
    const Progress& progress = view.progress;
    const std::string before = fmt::format("epoch {}/{} ", progress.epoch, progress.epochs);
    const std::string phase = progress.phase == "train" ? "" : "  " + progress.phase;
    const std::string after = fmt::format("  {}/{}{}  {:.0f} samples/s  eta {}", progress.step,
                                          progress.steps_total, phase, progress.samples_per_s,
                                          format_duration(progress.eta_s.value_or(std::nan(""))));
    std::string metrics = format_metrics(view.metrics);
    const int room = width - int(before.size() + after.size()) - 2;
    if (room - int(metrics.size()) < bar_width_min) metrics.clear();
    const int bar_width = std::clamp(room - int(metrics.size()), bar_width_min, bar_width_max);
    std::string line = before + draw_bar(progress, bar_width) + after + metrics;
    if (int(line.size()) > width) line.resize(std::size_t(std::max(width, 0)));
    return line;
}

std::string format_epoch(const EpochSummary& summary, std::int64_t steps_total) {
    return fmt::format(
        "epoch {}/{}  step {}/{}  {:.0f} samples/s  train {:.3g} s  evaluate {:.3g} s{}",
        summary.epoch, summary.epochs, summary.step, steps_total, summary.samples_per_s,
        summary.train_s, summary.evaluate_s, format_metrics(summary.values));
}

ProgressBar::ProgressBar(std::FILE* output)
    : output_(output), terminal_(isatty(fileno(output)) == 1) {}

ProgressBar::~ProgressBar() {
    if (drawn_) fmt::print(output_, "\n");
}

void ProgressBar::show(const Progress& progress) {
    view_.progress = progress;
    if (terminal_) draw();
}

void ProgressBar::show(const MetricPoint& point) {
    for (const auto& [name, value] : point.values)
        view_.metrics[name] = value;
    if (terminal_) draw();
}

void ProgressBar::show(const EpochSummary& summary) {
    say(format_epoch(summary, view_.progress.steps_total));
}

void ProgressBar::say(const std::string& line) {
    if (drawn_) erase();
    fmt::print(output_, "{}\n", printable_line(line));
    if (drawn_) draw();
    std::fflush(output_);
}

void ProgressBar::draw() {
    fmt::print(output_, "\r{}\x1b[K", format_bar(view_, width_of(output_) - 1));
    std::fflush(output_);
    drawn_ = true;
}

void ProgressBar::erase() {
    fmt::print(output_, "\r\x1b[K");
}

}    // namespace slipway
