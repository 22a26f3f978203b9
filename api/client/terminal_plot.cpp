#include "api/client/terminal_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

// A braille letter is a raster of two by four dots, one bit each of its code point: a picture has
// twice the columns and four times the rows of its letters. The points between two neighbours are
// filled in along the line between them, so that a steep curve does not fall apart.

namespace slipway::client {
namespace {

constexpr std::size_t points_max = 4096;
constexpr std::size_t label_columns = 10;
constexpr std::size_t picture_columns_min = 10;
constexpr std::array<int, 4> colours{36, 33, 35, 32};    // cyan, yellow, magenta, green

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void include(double value) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    // Where a value lies, from 0 to 1; a range of one value has it in the middle.
    double place(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

struct Cell {
    unsigned dots = 0;
    std::size_t curve = 0;    // that was drawn last
};

class Raster {
public:
    Raster(std::size_t columns, std::size_t rows)
        : columns_(columns), rows_(rows), cells_(columns * rows) {}

    // Both from 0 to 1, from the left and from below.
    void draw_line(double x0, double y0, double x1, double y1, std::size_t curve) {
        const double width = static_cast<double>(2 * columns_ - 1);
        const double height = static_cast<double>(4 * rows_ - 1);
        const double longest = std::max(std::abs(x1 - x0) * width, std::abs(y1 - y0) * height);
        const auto count = static_cast<std::size_t>(std::ceil(longest)) + 1;
        for (std::size_t i = 0; i < count; ++i) {
            const double part =
                count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
            set(static_cast<std::size_t>(std::lround((x0 + part * (x1 - x0)) * width)),
                static_cast<std::size_t>(std::lround((1 - y0 - part * (y1 - y0)) * height)), curve);
        }
    }

    std::string row(std::size_t number, bool in_colour) const {
        std::string text;
        for (std::size_t column = 0; column < columns_; ++column) {
            const Cell& cell = cells_[number * columns_ + column];
            const std::string letter = letter_of(cell.dots);
            text +=
                in_colour && cell.dots != 0
                    ? fmt::format("\x1b[{}m{}\x1b[0m", colours[cell.curve % colours.size()], letter)
                    : letter;
        }
        return text;
    }

private:
    void set(std::size_t x, std::size_t y, std::size_t curve) {
        // Bits of the dots: the first three rows by column, then the fourth row.
        constexpr std::array<std::array<unsigned, 4>, 2> bits{
            {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};
        Cell& cell = cells_[y / 4 * columns_ + x / 2];
        cell.dots |= bits.at(x % 2).at(y % 4);
        cell.curve = curve;
    }

    // U+2800 and its dots, in UTF-8.
    static std::string letter_of(unsigned dots) {
        if (dots == 0) return " ";
        const unsigned code = 0x2800U + dots;
        return {static_cast<char>(0xe0U | code >> 12U),
                static_cast<char>(0x80U | (code >> 6U & 0x3fU)),
                static_cast<char>(0x80U | (code & 0x3fU))};
    }

    std::size_t columns_;
    std::size_t rows_;
    std::vector<Cell> cells_;
};

std::string names_line(std::span<const PlotCurve> curves, bool in_colour) {
    std::string text(label_columns, ' ');
    for (std::size_t i = 0; i < curves.size(); ++i) {
        if (curves[i].points().empty()) continue;
        const std::string name =
            fmt::format("{} {:.4g}", curves[i].name(), curves[i].points().back().second);
        text += in_colour ? fmt::format("\x1b[{}m{}\x1b[0m  ", colours[i % colours.size()], name)
                          : name + "  ";
    }
    return text;
}

}    // namespace

void PlotCurve::add(double step, double value) {
    if (!std::isfinite(step) || !std::isfinite(value)) return;
    while (!points_.empty() && points_.back().first >= step)
        points_.pop_back();
    points_.emplace_back(step, value);
    if (points_.size() < points_max) return;
    std::vector<std::pair<double, double>> kept;
    for (std::size_t i = 0; i + 1 < points_.size(); i += 2)
        kept.push_back(points_[i]);
    kept.push_back(points_.back());
    points_ = std::move(kept);
}

std::vector<std::string> plot_lines(std::span<const PlotCurve> curves, std::size_t columns,
                                    std::size_t rows, bool in_colour) {
    Range steps;
    Range values;
    std::size_t count = 0;
    for (const PlotCurve& curve : curves)
        for (const auto& [step, value] : curve.points()) {
            steps.include(step);
            values.include(value);
            ++count;
        }
    if (count < 2 || rows == 0 || columns < label_columns + picture_columns_min) return {};
    Raster raster(columns - label_columns, rows);
    for (std::size_t i = 0; i < curves.size(); ++i) {
        const auto& points = curves[i].points();
        for (std::size_t point = 0; point < points.size(); ++point) {
            const auto& [x0, y0] = points[point == 0 ? 0 : point - 1];
            const auto& [x1, y1] = points[point];
            raster.draw_line(steps.place(x0), values.place(y0), steps.place(x1), values.place(y1),
                             i);
        }
    }
    std::vector<std::string> lines{names_line(curves, in_colour)};
    for (std::size_t row = 0; row < rows; ++row) {
        std::string label;
        if (row == 0) label = fmt::format("{:.4g}", values.high);
        if (row + 1 == rows) label = fmt::format("{:.4g}", values.low);
        lines.push_back(
            fmt::format("{:>{}} {}", label, label_columns - 1, raster.row(row, in_colour)));
    }
    const std::string first = fmt::format("step {:.0f}", steps.low);
    const std::string last = fmt::format("{:.0f}", steps.high);
    const std::size_t between = columns - label_columns;
    lines.push_back(std::string(label_columns, ' ') + first +
                    (first.size() + last.size() < between
                         ? std::string(between - first.size() - last.size(), ' ') + last
                         : ""));
    return lines;
}

}    // namespace slipway::client
