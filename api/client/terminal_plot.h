#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace slipway::client {

/// A curve as it comes in: step and value. Of a long one every second point goes, so that what is
/// kept is bounded and still spans the whole.
class PlotCurve {
public:
    explicit PlotCurve(std::string name) : name_(std::move(name)) {}

    /// A value that is not finite is left out. A step before the last one, of a resumed attempt,
    /// takes the place of what came from there on.
    void add(double step, double value);

    const std::string& name() const { return name_; }
    const std::vector<std::pair<double, double>>& points() const { return points_; }

private:
    std::string name_;
    std::vector<std::pair<double, double>> points_;
};

/// The curves in one picture of braille letters, each eight dots: a line of names with the last
/// values, `rows` lines of at most `columns` letters with the greatest and the least value at the
/// left, and a line with the first and the last step. Empty while there are fewer than two points,
/// or less room than a picture needs.
/// in_colour   each curve has its own
std::vector<std::string> plot_lines(std::span<const PlotCurve> curves, std::size_t columns,
                                    std::size_t rows, bool in_colour);

}    // namespace slipway::client
