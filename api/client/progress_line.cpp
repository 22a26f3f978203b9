#include "api/client/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace slipway::client {
namespace {

constexpr std::size_t bar_characters = 20;

constexpr std::array score_rows{
    Score{"val_accuracy", "val acc", "validation accuracy"},
    Score{"val_perplexity", "val ppl", "validation perplexity"},
    Score{"val_auc", "val auc", "validation AUC"},
    Score{"val_r2", "val r2", "validation R²"},
    Score{"val_mae", "val mae", "validation mean absolute error"},
};

bool continues_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

std::string bar(double share) {
    const auto filled =
        static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(bar_characters));
    std::string text;
    for (std::size_t i = 0; i < bar_characters; ++i)
        text += i < filled ? "━" : "─";
    return text;
}

}    // namespace

std::span<const Score> scores() {
    return score_rows;
}

std::string progress_line(const JobView& view, std::size_t columns) {
    std::string line = view.connected ? view.state : "reconnecting";
    if (view.state == "queued" && !view.wait_reason.empty()) line += ": " + view.wait_reason;
    if (view.steps_total > 0) {
        const double share = static_cast<double>(view.step) / static_cast<double>(view.steps_total);
        line += fmt::format("  {} {:3.0f} %", bar(share), std::floor(share * 100));
        if (view.epochs > 0) line += fmt::format("  epoch {}/{}", view.epoch, view.epochs);
        line += fmt::format("  step {}/{}", view.step, view.steps_total);
    }
    if (view.train_loss) line += fmt::format("  loss {}", metric_text(*view.train_loss));
    if (view.val_loss) line += fmt::format("  val loss {}", metric_text(*view.val_loss));
    if (view.score != nullptr)
        line += fmt::format("  {} {}", view.score->words, metric_text(view.score_value));
    if (view.samples_per_s > 0 && view.state == "running")
        line += fmt::format("  {:.0f}/s", view.samples_per_s);
    if (view.eta_s && view.state == "running") line += "  eta " + duration_text(*view.eta_s);
    return cut_to(line, columns);
}

std::string metric_text(double value) {
    const double size = std::abs(value);
    const bool is_far = size != 0 && (size < 1e-3 || size >= 1e6);
    return is_far ? fmt::format("{:.4g}", value) : fmt::format("{:.4f}", value);
}

std::string duration_text(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "?";
    if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<long long>(std::llround(std::min(seconds, 1e12)));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string bytes_text(double bytes) {
    constexpr std::array<const char*, 5> units{"bytes", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < units.size()) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} bytes", bytes)
                     : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string cut_to(std::string_view text, std::size_t characters) {
    const auto count = static_cast<std::size_t>(
        std::ranges::count_if(text, [](char byte) { return !continues_character(byte); }));
    if (count <= characters) return std::string(text);
    if (characters == 0) return {};
    std::size_t kept = 0;
    std::size_t end = 0;
    for (; end < text.size(); ++end) {
        if (continues_character(text[end])) continue;
        if (kept == characters - 1) break;
        ++kept;
    }
    return std::string(text.substr(0, end)) + "…";
}

}    // namespace slipway::client
